//! What arrives at the lab and at the other host.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use futures::future::BoxFuture;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::json;

use super::evidence::RecordedRequest;
use super::mistake;
use crate::contract::Contract;
use crate::lab::{Backend, Context, Framing, Handler, ProxiedRequest, Reply, Upstream};

/// What is kept of the requests of a case.
const MAX_REQUESTS: usize = 1_000;

/// Another host, which records what arrives.
#[derive(Debug, Clone, Default)]
pub(super) struct Elsewhere(Arc<Mutex<Vec<ProxiedRequest>>>);

impl Elsewhere {
    pub(super) fn seen(&self) -> Vec<ProxiedRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Handler for Elsewhere {
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < MAX_REQUESTS {
            seen.push(request);
        }
        let reply = Reply::json_with(404, &json!({"code": 40400, "message": "this is another host"}));
        Box::pin(std::future::ready(reply))
    }
}

/// Gives each case request ids of its own, since all of them extract for one account: a client that uses one id for everything
/// would fail the cases that come later, and no case alone would show it.
pub(super) struct OwnRequestIds {
    pub(super) upstream: Upstream,
    pub(super) contract: &'static Contract,
    /// The case.
    pub(super) id: String,
}

impl OwnRequestIds {
    /// Ids up to this length are replaced by ids of 32 characters. Longer ones may exceed what the service accepts.
    const MAX_LENGTH: usize = 64;

    fn own(&self, id: &str) -> Option<String> {
        let replaced = !id.is_empty() && id.len() <= Self::MAX_LENGTH;
        replaced
            .then(|| format!("{:016x}{:016x}", mistake::hash((&self.id, id)), mistake::hash((id, &self.id))))
    }
}

impl Handler for OwnRequestIds {
    fn handle<'a>(&'a self, mut request: ProxiedRequest) -> BoxFuture<'a, Reply> {
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
        Box::pin(async move { self.upstream.call(&request).await })
    }
}

/// Records what arrives at the lab, and what it responds.
pub(super) struct Recorder {
    begun: Instant,
    /// Number of the execution that runs now, from 0.
    pub(super) execution: AtomicUsize,
    recorded: Mutex<Vec<RecordedRequest>>,
    context: Context,
}

impl Recorder {
    pub(super) fn new(backend: &Arc<Backend>, upstream: Upstream) -> Arc<Self> {
        let context = Context::before(upstream, backend);
        Arc::new(Self {
            begun: Instant::now(),
            execution: AtomicUsize::new(0),
            recorded: Mutex::default(),
            context,
        })
    }

    /// When the first request of an execution arrived.
    pub(super) fn first_request(&self, execution: usize) -> Option<Instant> {
        let recorded = self.recorded();
        let first = recorded.iter().find(|recorded| recorded.execution == execution)?;
        Some(self.begun + first.at)
    }

    pub(super) fn recorded(&self) -> std::sync::MutexGuard<'_, Vec<RecordedRequest>> {
        self.recorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Handler for Arc<Recorder> {
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        let recorder = Self::clone(self);
        Box::pin(async move {
            let (at, execution) = (recorder.begun.elapsed(), recorder.execution.load(Ordering::Relaxed));
            let operation = recorder.context.operation(&request);
            // Where the caller leaves, this future ends; the request has arrived all the same.
            let index = {
                let mut recorded = recorder.recorded();
                let index = recorded.len();
                if index < MAX_REQUESTS {
                    recorded.push(RecordedRequest {
                        execution,
                        at,
                        replied: at,
                        replied_at: SystemTime::now(),
                        operation,
                        request: request.clone(),
                        reply: Reply {
                            framing: Framing::Silent(Duration::ZERO),
                            ..Reply::json_with(504, &serde_json::Value::Null)
                        },
                    });
                }
                index
            };
            let reply = recorder.context.upstream.call(&request).await;
            let (replied, replied_at) = (recorder.begun.elapsed(), SystemTime::now());
            if let Some(place) = recorder.recorded().get_mut(index) {
                *place = RecordedRequest { replied, replied_at, reply: reply.clone(), ..place.clone() };
            }
            reply
        })
    }
}
