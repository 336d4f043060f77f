//! What arrives at the lab and at the other host.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::json;

use super::evidence::RecordedRequest;
use super::result::hash;
use super::token_search::carries;
use crate::contract::Contract;
use crate::lab::{Backend, Context, Framing, Handler, ProxiedRequest, Reply, Upstream};
use crate::lock;
use crate::target::Secret;

/// What is kept of the requests of a case, and the size of them and their responses together, in bytes (16 MiB). A request beyond
/// these gets no response, so that a client is judged by every response that it got.
const MAX_REQUESTS: usize = 1_000;
const MAX_BYTES: usize = 16 << 20;

/// Another host, which counts the requests with the token.
#[derive(Debug, Clone)]
pub(super) struct Elsewhere {
    pub(super) token: Secret,
    pub(super) leaks: Arc<AtomicUsize>,
}

impl Handler for Elsewhere {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        if carries(&request, &self.token) {
            self.leaks.fetch_add(1, Ordering::Relaxed);
        }
        Reply::json_with(404, &json!({"code": 40400, "message": "this is another host"}))
    }
}

/// Gives each case request ids of its own, since all of them extract for one account: a client that uses one id for everything
/// would fail the cases that come later, and no case alone would show it.
pub(super) struct OwnRequestIds {
    pub(super) upstream: Upstream,
    pub(super) contract: &'static Contract,
    /// The case.
    pub(super) id: String,
    /// A token of the case, and the token that the service knows in its place.
    pub(super) known_as: Option<(Secret, Secret)>,
}

impl OwnRequestIds {
    /// Ids up to this length are replaced by ids of 32 characters. Longer ones may exceed what the service accepts.
    const MAX_LENGTH: usize = 64;

    fn own(&self, id: &str) -> Option<String> {
        let replaced = !id.is_empty() && id.len() <= Self::MAX_LENGTH;
        replaced.then(|| format!("{:016x}{:016x}", hash((&self.id, id)), hash((id, &self.id))))
    }
}

impl Handler for OwnRequestIds {
    async fn handle(&self, mut request: ProxiedRequest) -> Reply {
        let extract = &self.contract.extract;
        if request.path == extract.operation.path {
            if let Some(own) = request.param(&extract.request_id.name).and_then(|id| self.own(&id)) {
                request.set_param(&extract.request_id.name, &own);
            }
            let header = HeaderName::from_bytes(extract.request_id_header.name.as_bytes()).ok();
            let sent = header.as_ref().and_then(|header| request.headers.get(header)?.to_str().ok());
            let own = sent.and_then(|id| self.own(id)).and_then(|own| HeaderValue::from_str(&own).ok());
            if let (Some(header), Some(own)) = (header, own) {
                request.headers.insert(header, own);
            }
        }
        if let Some((given, known)) = &self.known_as {
            let (given, known) = (given.expose(), known.expose());
            if request.param(&extract.operation.api_key.name).as_deref() == Some(given) {
                request.set_param(&extract.operation.api_key.name, known);
            }
            for value in request.headers.values_mut() {
                let own = value.to_str().ok().filter(|text| text.ends_with(given));
                let own = own.and_then(|text| HeaderValue::from_str(&text.replace(given, known)).ok());
                if let Some(own) = own {
                    *value = own;
                }
            }
        }
        self.upstream.call(&request).await
    }
}

/// Records what arrives at the lab, and what it responds.
pub(super) struct Recorder {
    begun: Instant,
    /// Number of the execution that runs now, from 0.
    pub(super) execution: AtomicUsize,
    pub(super) recorded: Mutex<Vec<RecordedRequest>>,
    /// Size of what is recorded.
    bytes: AtomicUsize,
    context: Context,
}

impl Recorder {
    pub(super) fn new(backend: &Arc<Backend>, upstream: Upstream) -> Arc<Self> {
        Arc::new(Self {
            begun: Instant::now(),
            execution: AtomicUsize::new(0),
            recorded: Mutex::default(),
            bytes: AtomicUsize::new(0),
            context: Context::before(upstream, backend),
        })
    }

    pub(super) fn first_request(&self, execution: usize) -> Option<Instant> {
        let recorded = lock(&self.recorded);
        let first = recorded.iter().find(|recorded| recorded.execution == execution)?;
        Some(self.begun + first.at)
    }

    /// Whether there is room for that much more, which then counts as taken.
    fn has_room(&self, line: usize, headers: &HeaderMap, body: &[u8]) -> bool {
        let headers = headers.iter().map(|(name, value)| name.as_str().len() + value.len());
        let size = line + headers.sum::<usize>() + body.len();
        self.bytes.fetch_add(size, Ordering::Relaxed) + size <= MAX_BYTES
    }
}

impl Handler for Recorder {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        let (at, execution) = (self.begun.elapsed(), self.execution.load(Ordering::Relaxed));
        let operation = self.context.operation(&request);
        let none = Reply {
            framing: Framing::Silent(Duration::ZERO),
            ..Reply::json_with(504, &serde_json::Value::Null)
        };
        let query = request.query.as_ref().map_or(0, String::len);
        if !self.has_room(request.path.len() + query, &request.headers, &request.body) {
            return none;
        }
        // Where the caller leaves, this future ends; the request has arrived all the same.
        let index = {
            let mut recorded = lock(&self.recorded);
            if recorded.len() >= MAX_REQUESTS {
                return none;
            }
            recorded.push(RecordedRequest {
                execution,
                at,
                replied: at,
                replied_at: SystemTime::now(),
                operation,
                request: request.clone(),
                reply: none.clone(),
            });
            recorded.len() - 1
        };
        let reply = self.context.upstream.call(&request).await;
        if !self.has_room(0, &reply.headers, &reply.body) {
            return none;
        }
        let (replied, replied_at) = (self.begun.elapsed(), SystemTime::now());
        if let Some(place) = lock(&self.recorded).get_mut(index) {
            *place = RecordedRequest { replied, replied_at, reply: reply.clone(), ..place.clone() };
        }
        reply
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::Facts;

    #[tokio::test]
    async fn what_is_recorded_is_bounded_and_nothing_else_is_served() {
        let contract = Contract::embedded().expect("the embedded contract");
        let token = Secret::new("API_KEY", "a-token-that-is-long-enough");
        let upstream = Upstream::new(Elsewhere { token: token.clone(), leaks: Arc::default() });
        let backend = Backend { contract, upstream: upstream.clone(), token, facts: Facts::default() };
        for (size, most) in [(0, MAX_REQUESTS), (1 << 10, MAX_REQUESTS), (4 << 20, 4)] {
            let recorder = Recorder::new(&Arc::new(backend.clone()), upstream.clone());
            let mut request = ProxiedRequest::new(hyper::Method::POST, "/");
            request.body = vec![b' '; size].into();
            let mut served = 0;
            for _ in 0..MAX_REQUESTS + 10 {
                served += usize::from(!recorder.handle(request.clone()).await.is_broken());
            }
            let recorded = lock(&recorder.recorded);
            let bytes = recorded.iter().map(|it| it.request.body.len() + it.reply.body.len());
            let (bytes, count) = (bytes.sum::<usize>(), recorded.len());
            assert!(bytes <= MAX_BYTES && count <= most, "{size}: {count}");
            let complete = recorded.iter().filter(|it| !it.reply.is_broken()).count();
            assert!(served == complete && served > 0, "{size}: {served} served, {complete} recorded");
        }
    }
}
