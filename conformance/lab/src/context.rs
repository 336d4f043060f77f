use std::collections::HashMap;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use sallyport_conformance_base::contract::{Contract, OperationId};
use sallyport_conformance_base::lock;
use sallyport_conformance_base::target::{Facts, Secret, Target};
use sallyport_conformance_base::wire::{WireError, WireOptions};

use super::exchange::{ProxiedRequest, Reply};
use super::upstream::Upstream;

/// Maximum number of keys that a fault or a variation remembers; then all are forgotten.
const MAX_KEYS: usize = 4_096;

/// The service behind the lab, and what is known of it.
#[derive(Debug, Clone)]
pub struct Backend {
    /// The contract.
    pub contract: &'static Contract,
    /// The service.
    pub upstream: Upstream,
    /// Token of the main account.
    pub token: Secret,
    /// What is known of its data. Faults that need a fact that is missing change nothing.
    pub facts: Facts,
}

impl Backend {
    /// The service of a target. Fails where TLS cannot be initialised, or a variable of the environment names no proxy that can be used.
    pub fn new(contract: &'static Contract, target: &Target) -> Result<Arc<Self>, WireError> {
        Self::connected(contract, target, &WireOptions::default())
    }

    /// The service of a target, with the options of the connection to it. Fails as [`Upstream::http`] does.
    pub fn connected(
        contract: &'static Contract,
        target: &Target,
        options: &WireOptions,
    ) -> Result<Arc<Self>, WireError> {
        let upstream = Upstream::http(target.base(), options)?;
        Ok(Arc::new(Self { contract, upstream, token: target.token.clone(), facts: target.facts.clone() }))
    }
}

/// What a fault or a variation works with: the backend (whose fields it dereferences to), the next layer, and a memory of its own.
#[derive(Debug, Clone)]
pub struct Context {
    /// What the requests go on to: the backend, or another layer in front of it.
    pub upstream: Upstream,
    pub(super) memory: Arc<Memory>,
    /// The backend, for further contexts.
    pub backend: Arc<Backend>,
}

impl Context {
    /// A context with an empty memory.
    pub fn new(backend: &Arc<Backend>) -> Self {
        Self::before(backend.upstream.clone(), backend)
    }

    /// The same in front of another layer.
    pub fn before(upstream: Upstream, backend: &Arc<Backend>) -> Self {
        Self { upstream, memory: Arc::default(), backend: Arc::clone(backend) }
    }

    /// The operation that a request is for: that of its path and method, or the first of its path.
    pub fn operation(&self, seen: &ProxiedRequest) -> Option<OperationId> {
        let of_path = || self.contract.operations().filter(|operation| operation.path == seen.path);
        let exact = of_path().find(|operation| operation.method == seen.method.as_str());
        exact.or_else(|| of_path().next()).map(|operation| operation.id)
    }
}

impl Deref for Context {
    type Target = Backend;

    fn deref(&self) -> &Backend {
        &self.backend
    }
}

/// What a fault or a variation remembers between requests.
#[derive(Debug, Default)]
pub(super) struct Memory {
    calls: AtomicU64,
    counts: Mutex<HashMap<String, u64>>,
    replies: Mutex<HashMap<String, Reply>>,
    /// How many gateways were lent, and when.
    pub(super) lent: Mutex<Vec<(Instant, i64)>>,
    /// Held while a request is handled, where only one is at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
}

impl Memory {
    /// How often this was called before.
    pub(super) fn calls(&self) -> u64 {
        self.calls.fetch_add(1, Ordering::Relaxed)
    }

    /// How often this was called before with a key.
    pub(super) fn calls_of(&self, key: &str) -> u64 {
        let mut counts = bounded(&self.counts);
        let count = counts.entry(key.to_owned()).or_default();
        *count += 1;
        *count - 1
    }

    /// How often [`Memory::calls_of`] was called with a key.
    pub(super) fn count(&self, key: &str) -> u64 {
        bounded(&self.counts).get(key).copied().unwrap_or_default()
    }

    /// The response that was kept under a key.
    pub(super) fn recall(&self, key: &str) -> Option<Reply> {
        bounded(&self.replies).get(key).cloned()
    }

    /// Keeps a response under a key, in place of an earlier one.
    pub(super) fn keep(&self, key: &str, reply: &Reply) {
        bounded(&self.replies).insert(key.to_owned(), reply.clone());
    }
}

/// Keys come from requests, so a map that is full is emptied.
fn bounded<V>(map: &Mutex<HashMap<String, V>>) -> MutexGuard<'_, HashMap<String, V>> {
    let mut map = lock(map);
    if map.len() >= MAX_KEYS {
        map.clear();
    }
    map
}
