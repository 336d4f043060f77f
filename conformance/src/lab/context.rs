use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::backend::Backend;
use super::exchange::{ProxiedRequest, Reply};
use super::upstream::Upstream;
use crate::contract::OperationId;

/// Maximum number of keys that a fault remembers; then all are forgotten.
const MAX_KEYS: usize = 4_096;

/// What a fault or a variation works with: the backend (whose fields it dereferences to), the next layer, and a memory of its own.
#[derive(Debug)]
pub struct Context {
    /// What the requests go on to: the backend, or another layer in front of it.
    pub upstream: Upstream,
    /// What happened before.
    pub memory: Memory,
    backend: Arc<Backend>,
}

impl Context {
    /// A context with an empty memory.
    #[must_use]
    pub fn new(backend: &Arc<Backend>) -> Self {
        Self::before(backend.upstream.clone(), backend)
    }

    /// The same in front of another layer.
    #[must_use]
    pub fn before(upstream: Upstream, backend: &Arc<Backend>) -> Self {
        Self { upstream, memory: Memory::default(), backend: Arc::clone(backend) }
    }

    /// The backend, for further contexts.
    #[must_use]
    pub fn backend(&self) -> &Arc<Backend> {
        &self.backend
    }

    /// The operation that a request is for: that of its path and method, or the first of its path.
    #[must_use]
    pub fn operation(&self, seen: &ProxiedRequest) -> Option<OperationId> {
        let mut of_path = self.contract.operations().filter(|operation| operation.serves(&seen.path));
        let first = of_path.next()?;
        if first.method == seen.method.as_str() {
            return Some(first.id);
        }
        Some(of_path.find(|operation| operation.method == seen.method.as_str()).unwrap_or(first).id)
    }

    /// Whether a response is a success: status, code and list of the operation, or status and text where text was requested.
    /// Responses of another shape are left unchanged.
    #[must_use]
    pub fn accepted(&self, seen: &ProxiedRequest, reply: &Reply) -> bool {
        let Some(id) = self.operation(seen) else { return false };
        let success = &self.contract.operation(id).success;
        let body = reply.json();
        let code = body.get("code").and_then(Value::as_i64);
        let list = match id {
            OperationId::Extract => Some("/data"),
            OperationId::Groups | OperationId::Search => Some("/data/items"),
            OperationId::Other(_) => None,
        };
        let has_list = list.is_none_or(|list| {
            let list = body.pointer(list).and_then(Value::as_array);
            list.is_some_and(|entries| entries.iter().all(Value::is_object))
        });
        let text = id == OperationId::Extract && self.wants_text(seen);
        reply.status.as_u16() == success.status
            && (!success.has_body || (code == Some(success.code) && has_list) || (text && code.is_none()))
    }

    /// Whether an extraction asks for plain text.
    #[must_use]
    pub fn wants_text(&self, seen: &ProxiedRequest) -> bool {
        let extract = &self.contract.extract;
        seen.param(&extract.return_type.name).as_ref() == Some(&extract.text)
    }

    /// Removes every credential from a request, so that the server rejects it in a conforming way.
    pub fn reject(&self, seen: &mut ProxiedRequest) {
        let extract = &self.contract.extract;
        seen.drop_param(&extract.api_key.name);
        seen.headers.remove(extract.api_key_header.as_str());
        seen.headers.remove(hyper::header::AUTHORIZATION);
    }

    /// Makes a request one of the main account, whatever credentials it has.
    pub fn as_main(&self, seen: &mut ProxiedRequest) {
        self.act_as(seen, self.token.expose());
    }

    /// Makes a request one of the account of a token.
    pub fn act_as(&self, seen: &mut ProxiedRequest, token: &str) {
        self.reject(seen);
        seen.set_param(&self.contract.extract.api_key.name, token);
    }
}

impl Deref for Context {
    type Target = Backend;

    fn deref(&self) -> &Backend {
        &self.backend
    }
}

/// What a fault remembers between requests.
#[derive(Debug, Default)]
pub struct Memory {
    calls: AtomicU64,
    counts: Mutex<HashMap<String, u64>>,
    replies: Mutex<HashMap<String, Reply>>,
}

impl Memory {
    /// How often this was called before.
    pub fn calls(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// How often this was called before with a key.
    pub fn calls_of(&self, key: &str) -> u64 {
        let mut counts = bounded(&self.counts);
        let count = counts.entry(key.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// How often [`Memory::calls_of`] was called with a key.
    #[must_use]
    pub fn count(&self, key: &str) -> u64 {
        bounded(&self.counts).get(key).copied().unwrap_or_default()
    }

    /// The response that was kept under a key.
    #[must_use]
    pub fn recall(&self, key: &str) -> Option<Reply> {
        bounded(&self.replies).get(key).cloned()
    }

    /// Keeps a response under a key, in place of an earlier one.
    pub fn keep(&self, key: &str, reply: &Reply) {
        bounded(&self.replies).insert(key.to_owned(), reply.clone());
    }
}

/// Keys come from requests, so a map that is full is emptied.
fn bounded<V>(map: &Mutex<HashMap<String, V>>) -> MutexGuard<'_, HashMap<String, V>> {
    let mut map = map.lock().unwrap_or_else(PoisonError::into_inner);
    if map.len() >= MAX_KEYS {
        map.clear();
    }
    map
}
