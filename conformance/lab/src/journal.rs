//! What the lab changed, request by request. An entry names parts and never holds a value of a request or a body.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use futures::FutureExt as _;
use sallyport_conformance_base::contract::OperationId;
use sallyport_conformance_base::lock;
use sallyport_conformance_base::wire::debug_as;
use serde::Serialize;
use serde_json::json;

use super::context::{Backend, Context};
use super::exchange::{Framing, ProxiedRequest, Reply};
use super::upstream::{Handler, Upstream};

/// Maximum number of entries that are kept; older ones go.
const MAX_ENTRIES: usize = 1_000;

/// One request and what was changed on its way.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Number of the request, from 1.
    pub number: u64,
    /// HTTP method; `other` for one that no operation has.
    pub method: &'static str,
    /// The operation: `extract`, `groups` or `search`; none for other paths.
    pub operation: Option<&'static str>,
    /// The run of a scenario that the request selected or got by default: `NAME` or `NAME/RUN`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scenario: Option<String>,
    /// Which request id an extraction had: 1 for the first one that the lab saw, 2 for the next other one. Repeats of an
    /// extraction have the same number. None for an extraction without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<u64>,
    /// HTTP status of the response; 499 when the caller left before it. A reset or silent connection shows none to its caller.
    pub status: u16,
    /// Time until the response began, in milliseconds.
    pub elapsed_ms: u64,
    /// What was changed; empty when the request and its response passed unchanged.
    pub changes: Vec<Change>,
}

/// What one layer changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Id of the fault or variation, or `scenario NAME`.
    pub by: String,
    /// The parts, such as `status 200 -> 429` or `response body`.
    pub what: Vec<String>,
}

type EntryObserver = Box<dyn Fn(&Entry) + Send + Sync>;

/// The latest requests of a lab.
#[derive(Default)]
pub struct Journal {
    count: AtomicU64,
    entries: Mutex<VecDeque<Entry>>,
    request_ids: Mutex<RequestIds>,
    observer: Option<EntryObserver>,
}

debug_as!(Journal, |Self { count, .. }| "Journal({} requests)", count.load(Ordering::Relaxed));

impl Journal {
    /// A journal that shows each entry to `observer` as well.
    pub fn observed(observer: impl Fn(&Entry) + Send + Sync + 'static) -> Self {
        Self { observer: Some(Box::new(observer)), ..Self::default() }
    }

    /// The latest entries, at most 1,000, the oldest first.
    pub fn entries(&self) -> Vec<Entry> {
        lock(&self.entries).iter().cloned().collect()
    }

    /// Removes all entries.
    pub fn clear(&self) {
        lock(&self.entries).clear();
    }

    fn add(&self, entry: Entry) {
        if let Some(observer) = &self.observer {
            observer(&entry);
        }
        let mut entries = lock(&self.entries);
        if entries.len() >= MAX_ENTRIES {
            entries.pop_front();
        }
        entries.push_back(entry);
    }
}

/// The latest request ids, at most as many as entries: a hash of each, so that no value of a request is kept, and its number.
#[derive(Debug, Default)]
struct RequestIds {
    count: u64,
    latest: VecDeque<(u64, u64)>,
}

impl RequestIds {
    fn number_of(&mut self, id: &str) -> u64 {
        let hash = BuildHasherDefault::<DefaultHasher>::new().hash_one(id);
        if let Some((_, number)) = self.latest.iter().rev().find(|(known, _)| *known == hash) {
            return *number;
        }
        if self.latest.len() >= MAX_ENTRIES {
            self.latest.pop_front();
        }
        self.count += 1;
        self.latest.push_back((hash, self.count));
        self.count
    }
}

tokio::task_local! {
    /// The entry of the request that this task handles.
    static ENTRY: RefCell<Entry>;
    /// What the innermost layer of this moment has passed on.
    static PASSED: RefCell<ForwardedRequests>;
}

/// Requests that a layer passed on, and the last of them with its response.
#[derive(Default)]
struct ForwardedRequests {
    count: usize,
    last: Option<(ProxiedRequest, Reply)>,
}

pub(super) struct JournaledServer {
    pub(super) journal: Arc<Journal>,
    pub(super) upstream: Upstream,
    pub(super) backend: Arc<Backend>,
}

impl Handler for JournaledServer {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        let operation = Context::new(&self.backend).operation(&request);
        let method = ["GET", "POST"].into_iter().find(|name| request.method.as_str() == *name);
        let extract = operation.filter(|operation| *operation == OperationId::Extract);
        let id = extract.and_then(|_| request.request_id(&self.backend.contract.extract));
        let entry = Entry {
            method: method.unwrap_or("other"),
            operation: operation.map(|operation| operation.id()),
            request_id: id
                .filter(|id| !id.is_empty())
                .map(|id| lock(&self.journal.request_ids).number_of(&id)),
            // As nginx logs a caller that left before there was a response.
            status: 499,
            ..Entry::default()
        };
        let handled = async {
            let _pending = PendingEntry { journal: &self.journal, begun: Instant::now() };
            let reply = self.upstream.call(&request).await;
            edit(|entry| entry.status = reply.status.as_u16());
            reply
        };
        ENTRY.scope(RefCell::new(entry), handled).await
    }
}

/// An entry that is added when its request has ended, also by the caller.
struct PendingEntry<'a> {
    journal: &'a Journal,
    begun: Instant,
}

impl Drop for PendingEntry<'_> {
    fn drop(&mut self) {
        edit(|entry| {
            entry.number = self.journal.count.fetch_add(1, Ordering::Relaxed) + 1;
            entry.elapsed_ms = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.journal.add(entry.clone());
        });
    }
}

/// Changes the entry of the request that this task handles.
pub(super) fn edit(how: impl FnOnce(&mut Entry)) {
    // Without a journal there is no such task-local.
    let _ = ENTRY.try_with(|entry| how(&mut entry.borrow_mut()));
}

/// A fault, a variation or a scenario whose changes the journal shows.
#[derive(Debug)]
pub(super) struct Layer {
    name: String,
    handler: Upstream,
}

impl Layer {
    /// A layer in front of `next`. `handler` gets the upstream that it has to use.
    pub(super) fn new<H: Handler>(
        name: impl Into<String>,
        next: &Upstream,
        backend: &Arc<Backend>,
        handler: impl FnOnce(Context) -> H,
    ) -> Self {
        let context = Context::before(Upstream::new(Tap(next.clone())), backend);
        Self { name: name.into(), handler: Upstream::new(handler(context)) }
    }
}

impl Handler for Layer {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        let handled = PASSED.scope(RefCell::default(), async {
            let handled = AssertUnwindSafe(self.handler.call(&request)).catch_unwind().await;
            (handled, PASSED.with(RefCell::take))
        });
        let (handled, passed) = handled.await;
        let reply = handled.unwrap_or_else(|_| {
            let failed = "cannot change the response of the upstream; this is a bug of the lab";
            let message = format!("{} {failed}", self.name);
            Reply::json_with(502, &json!({"code": 50201, "message": message}))
        });
        let what = changes(&request, &passed, &reply);
        if !what.is_empty() {
            note(Change { by: self.name.clone(), what });
        }
        reply
    }
}

pub(super) fn note(change: Change) {
    edit(|entry| entry.changes.push(change));
}

/// Between a layer and the next one.
struct Tap(Upstream);

impl Handler for Tap {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        let reply = self.0.call(&request).await;
        let _ = PASSED.try_with(|passed| {
            let mut passed = passed.borrow_mut();
            passed.count += 1;
            passed.last = Some((request, reply.clone()));
        });
        reply
    }
}

/// What a layer changed: in the request that it passed on, and in the response that it returned. Names of parameters, headers and
/// members may be a caller's, so the parts are named and nothing in them.
fn changes(original: &ProxiedRequest, passed: &ForwardedRequests, reply: &Reply) -> Vec<String> {
    let Some((sent, answered)) = &passed.last else {
        return vec![format!("responded itself with status {}{}", reply.status.as_u16(), framing(reply))];
    };
    let status = format!("status {} -> {}", answered.status.as_u16(), reply.status.as_u16());
    let parts = [
        (passed.count > 1, format!("sent {} requests instead of one", passed.count)),
        (sent.method != original.method || sent.path != original.path, "request line".to_owned()),
        (sent.params() != original.params(), "request query".to_owned()),
        (sent.headers != original.headers, "request headers".to_owned()),
        (sent.body != original.body, "request body".to_owned()),
        (answered.status != reply.status, status),
        (answered.headers != reply.headers, "response headers".to_owned()),
        (answered.body != reply.body, "response body".to_owned()),
        (answered.framing != reply.framing, format!("connection{}", framing(reply))),
    ];
    parts.into_iter().filter(|(is_changed, _)| *is_changed).map(|(_, part)| part).collect()
}

/// How a response is sent, in words after another text.
fn framing(reply: &Reply) -> String {
    let body = reply.body.len();
    match reply.framing {
        Framing::Whole => String::new(),
        Framing::Pieces(size) => format!(": body in pieces of {size} bytes"),
        Framing::Drip(size) => format!(": body dripping in pieces of {size} bytes"),
        Framing::Slow(size, pause) => {
            format!(": body slow, {size} bytes every {} ms", pause.as_millis())
        }
        Framing::Padded(blanks) => format!(": body padded with {blanks} blanks"),
        Framing::Cut(after) | Framing::Reset(Some(after)) if !reply.is_broken() => {
            format!(": unchanged, since the body has {body} bytes and not more than {after}")
        }
        Framing::Cut(after) => format!(": body cut after {after} bytes"),
        Framing::Reset(None) => ": reset before the head".to_owned(),
        Framing::Reset(Some(after)) => format!(": reset after {after} bytes of the body"),
        Framing::Silent(time) => format!(": nothing sent for {} ms, then closed", time.as_millis()),
        Framing::WrongLength(by) => format!(": Content-Length wrong by {by} bytes"),
    }
}
