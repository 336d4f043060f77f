//! A server of the API, written from the contract's prose alone. It shares no code with the suite or the reference
//! server.

#[macro_use]
pub(crate) mod rule;

mod access;
mod address;
pub(crate) mod behaviour;
mod extract;
mod extract_input;
mod extract_output;
mod groups;
mod http;
mod instance;
mod search;
mod search_data;
mod search_input;
mod search_match;
mod search_times;
mod static_response;
pub(crate) mod time;
pub(crate) mod world;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};

use behaviour::{ActiveFault, Decisions, Tags, with_tags};
pub(crate) use http::Request;
use hyper::header::HeaderName;
use sallyport_conformance::lab::Reply;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use world::{Gateway, World};

/// The state of one server; nothing is shared between servers.
#[derive(Debug)]
pub(crate) struct Server {
    fault: ActiveFault,
    decisions: Decisions,
    world: Mutex<World>,
    memory: Mutex<Memory>,
    /// One extraction at a time, so that two with one request id share their gateways.
    extracting: Mutex<()>,
}

/// What a server remembers between calls.
#[derive(Debug, Default)]
struct Memory {
    counts: HashMap<String, usize>,
    texts: HashMap<String, String>,
    values: HashMap<String, Value>,
    extractions: HashMap<String, StoredExtraction>,
    /// Request ids in the order of their arrival.
    ids: Vec<String>,
}

/// An extraction that is kept under its request id.
#[derive(Debug, Clone)]
struct StoredExtraction {
    parameters: String,
    gateways: Vec<Gateway>,
    times: usize,
}

/// Why a request is rejected.
#[derive(Debug, Clone)]
struct Reject {
    status: u16,
    code: i64,
    message: String,
}

impl Reject {
    fn new(status: u16, code: i64, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into() }
    }

    fn input(message: impl Into<String>) -> Self {
        Self::new(400, 40_000, message)
    }
}

impl Server {
    /// A server with that fault (an empty text for none), what its row says that it does, and those decisions with their rows.
    pub(crate) fn new(
        fault: &str,
        row: Option<&'static str>,
        decisions: Decisions,
        decided: Vec<&'static str>,
    ) -> Self {
        let (world, fault) = (Mutex::new(world::build(&decisions)), ActiveFault::new(fault, row, decided));
        Self { fault, decisions, world, memory: Mutex::default(), extracting: Mutex::default() }
    }

    /// Whether it decides so what the contract leaves open.
    pub(crate) fn decides(&self, decision: &str) -> bool {
        self.decisions.contains(&decision)
    }

    /// The status and the code of a rejection.
    fn rejection(&self, reject: &Reject) -> (u16, Value) {
        let (none, code) = (Tags::new(), reject.code);
        let status = self.instead("rejection.status", &none, || known! {}).unwrap_or(reject.status);
        (status, self.instead("rejection.code", &none, || known! { code }).unwrap_or_else(|| code.into()))
    }

    /// A rejection as JSON, but where the server has a media type and a body in place of it.
    fn rejected(&self, place: &str, status: u16, body: &Value, tags: &Tags) -> Reply {
        let known = || known! { status, body, message => body["message"] };
        match self.instead::<(String, Value)>(place, tags, known) {
            Some((media, Value::String(text))) => http::bytes(status, &media, text),
            Some((media, other)) => http::bytes(status, &media, other.to_string()),
            None => http::json(status, body),
        }
    }

    /// Whether the server has that fault here.
    fn on(&self, fault: &str, tags: &Tags) -> bool {
        self.fault.is(fault, tags)
    }

    /// The value that the fault has at a place in place of the right one; none where it has none, or one of another type.
    fn instead<T: DeserializeOwned>(
        &self,
        place: &str,
        tags: &Tags,
        known: impl FnOnce() -> minijinja::Value,
    ) -> Option<T> {
        // By way of JSON, since MiniJinja's wide integers fit no narrower type.
        let value = serde_json::to_value(self.fault.at(place, tags, known)?).ok()?;
        serde_json::from_value(value).ok()
    }

    /// Whether the fault breaks the rule of a place.
    fn breaks(&self, place: &str, tags: &Tags, known: impl FnOnce() -> minijinja::Value) -> bool {
        self.fault.at(place, tags, known).is_some_and(|value| value.is_true())
    }

    /// The object of a response with that name, as the fault has it. `known` has what its row may name beside members.
    fn told(&self, name: &str, mut object: Value, tags: &Tags, known: &Value) -> Value {
        self.fault.members(name, tags).for_each(|rule| rule.change(&mut object, known));
        object
    }

    /// The same for a reply.
    fn told_reply(&self, name: &str, mut reply: Reply, tags: &Tags, known: &Value) -> Reply {
        if self.fault.members(name, tags).next().is_none() {
            return reply;
        }
        let headers =
            reply.headers.iter().map(|(name, value)| (name.to_string(), value.to_str().ok().into()));
        let object = json!({ "status": reply.status.as_u16(), "headers": Map::from_iter(headers) });
        let object = self.told(name, object, tags, known);
        reply.headers.clear();
        for (name, value) in object["headers"].as_object().into_iter().flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let value = text.try_into().expect("a value of the server's own");
            reply.headers.insert(name.parse::<HeaderName>().expect("a name of the server's own"), value);
        }
        let status = object["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
        http::with_status(reply, status)
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().expect("no handler panics while it holds the data")
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().expect("no handler panics while it holds the memory")
    }

    /// Counts a call under a name; the first is 1.
    fn count(&self, name: &str) -> usize {
        let mut memory = self.memory();
        let count = memory.counts.entry(name.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// The response to a request.
    pub(super) fn response(&self, request: &Request) -> Reply {
        let mut path = request.path.as_str();
        let none = Tags::new();
        if path.starts_with("/openapi/v1") && self.on("prefix-other-version", &none) {
            path = "/";
        }
        let operation = match path {
            "/openapi/v1/proxy/extract" => "extract",
            "/openapi/v1/static/groups" => "groups",
            "/openapi/v1/static/instances/search" => "search",
            _ => return http::json(404, &json!({ "code": 40_400, "message": "unknown path" })),
        };
        if let Some(reply) = self.throttle(operation) {
            return reply;
        }
        let call = self.count(operation);
        let tags = with_tags(&none, [(call.is_multiple_of(2), "second"), (call >= 30, "thirtieth")]);
        match (operation, request.method.as_str()) {
            ("extract", "GET") => self.extract(request, tags),
            ("extract", "POST") => self.extract_post(request, tags),
            ("groups", "GET") => self.groups(request, tags),
            ("search", "POST") => self.search(request, tags),
            _ => http::json(405, &json!({ "code": 40_500, "message": "method not allowed" })),
        }
    }

    /// 429 at times, as a decision with a good Retry-After, or as a fault without.
    fn throttle(&self, operation: &'static str) -> Option<Reply> {
        let call = self.count("every call");
        let reply = http::json(429, &json!({ "code": 42_900, "message": "rate limit exceeded" }));
        if call.is_multiple_of(15) && self.decides("throttled") {
            return Some(http::with(reply, "retry-after", "0"));
        }
        let nth = self.count(&format!("throttle {operation}"));
        let at = if operation == "groups" { nth == 2 } else { nth.is_multiple_of(20) };
        let tags = vec![operation];
        let is_broken = at && self.fault.members("throttled", &tags).next().is_some();
        let reply = http::with(reply, "retry-after", "0");
        is_broken.then(|| self.told_reply("throttled", reply, &tags, &Value::Null))
    }
}
