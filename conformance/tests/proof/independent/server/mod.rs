//! A server of the API, written from the contract's prose alone. It shares no code with the suite or the reference
//! server. What it does stands in `server.txt`; this is the machine that the rows run on.

mod address;
pub(crate) mod engine;
pub(crate) mod time;
mod words;
pub(crate) mod world;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use hyper::header::{HeaderName, HeaderValue};
use minijinja::Value;
use minijinja::value::{Rest, Serde};
use sallyport_conformance::lab::{ProxiedRequest, Reply};
use serde_json::Value as Json;

use engine::{Call, Changes, Scope};
use words::Lookup;

/// The decisions on what the contract leaves open in which a server differs from the plain one, by name.
pub(crate) type Decisions = Vec<&'static str>;

/// Headers in which proxies name the caller.
const FORWARDED: [&str; 6] =
    ["x-forwarded-for", "x-real-ip", "forwarded", "true-client-ip", "cf-connecting-ip", "x-client-ip"];

/// The state of one server; nothing that changes is shared between servers.
#[derive(Debug)]
pub(crate) struct Server {
    changes: Changes,
    decisions: Decisions,
    /// The data, and what the server remembers between calls.
    root: Arc<Scope>,
    /// One call at a time, so that two with one request id share their gateways.
    alone: Mutex<()>,
}

impl Server {
    /// A server with those changes of its rows, and with the data of those decisions.
    pub(crate) fn new(changes: Changes, decisions: Decisions) -> Self {
        let root = Scope::new(None, data(&decisions).into_iter().chain(memory()));
        Self { changes, decisions, root, alone: Mutex::default() }
    }

    /// Whether it decides so what the contract leaves open.
    pub(crate) fn decides(&self, decision: &str) -> bool {
        self.decisions.contains(&decision)
    }

    pub(crate) fn response(&self, request: &ProxiedRequest) -> Reply {
        let _alone = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        let scope = Scope::new(Some(&self.root), parts(request));
        let of = |operation: &str| Call { changes: &self.changes, operation: operation.to_owned() };
        let begun = of("call").run("call", &scope);
        let operation = scope.get("operation").and_then(|name| name.to_str()).unwrap_or_default();
        let call = of(&operation);
        let response = begun.and_then(|_| call.run(&operation, &scope)).or_else(|end| {
            let code = end.get_attr("code").ok().filter(|code| !code.is_undefined());
            let Some(code) = code else { return Ok(end) };
            scope.set("code", code);
            scope.set("message", end.get_attr("message").unwrap_or_default());
            call.run(if &*operation == "extract" { "extract_error" } else { "static_error" }, &scope)
        });
        reply(&response.expect("an error has a response"))
    }
}

/// The data of all servers with the same decisions: to make it takes longer than most tests of a fault, and rows can't change it.
fn data(decisions: &Decisions) -> [(&'static str, Value); 3] {
    static MADE: Mutex<BTreeMap<Decisions, [(&'static str, Value); 3]>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().expect("nothing panics while it makes data");
    made.entry(decisions.clone()).or_insert_with(|| world::build(decisions).values()).clone()
}

/// What a server remembers between calls: `tick(NAME)` counts from 1, `recall(NAME)` and `remember(NAME, VALUE)`.
fn memory() -> [(&'static str, Value); 3] {
    let memory = Arc::new(Mutex::new(HashMap::<String, Value>::new()));
    let function = |how: fn(&mut Value, &[Value])| {
        let memory = Arc::clone(&memory);
        Value::from_function(move |name: String, given: Rest<Value>| {
            let mut memory = memory.lock().expect("nothing panics while it holds the memory");
            let value = memory.entry(name).or_default();
            how(value, &given);
            value.clone()
        })
    };
    [
        ("tick", function(|value, _| *value = (value.as_i64().unwrap_or_default() + 1).into())),
        ("recall", function(|_, _| {})),
        ("remember", function(|value, given| value.clone_from(&given[0]))),
    ]
}

fn parts(request: &ProxiedRequest) -> Vec<(&'static str, Value)> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let headers: Vec<(&str, String)> =
        request.headers.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
    let pairs = request.params();
    let mut every: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (name, value) in &pairs {
        every.entry(name.clone()).or_default().push(value);
    }
    let first = |header: &str| headers.iter().find(|(name, _)| *name == header).map(|(_, value)| &**value);
    let claimed = FORWARDED.iter().filter_map(|header| {
        let caller = first(header)?.split(',').next()?.trim();
        Some((*header, caller.strip_prefix("for=").unwrap_or(caller)))
    });
    let bearer = |value: &str| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim().to_owned())
    };
    let in_query = every.get("api_key").map(|tokens| ("query", tokens[0].to_owned()));
    let keys = headers.iter().filter(|(name, _)| *name == "x-api-key");
    let bearers = headers.iter().filter(|(name, _)| *name == "authorization");
    let tokens = in_query
        .into_iter()
        .chain(keys.map(|(_, value)| ("x-api-key", value.clone())))
        .chain(bearers.filter_map(|(_, value)| Some(("bearer", bearer(value)?))));
    let named = |(via, token)| serde_json::json!({ "via": via, "token": token });
    let in_pair = |(name, value): &(String, String)| serde_json::json!({ "name": name, "value": value });
    let given: BTreeMap<_, _> = every.iter().map(|(name, all)| (name, all[0])).collect();
    let first_headers: BTreeMap<_, _> = headers.iter().rev().map(|(name, value)| (*name, value)).collect();
    vec![
        ("method", request.method.as_str().into()),
        ("path", request.path.clone().into()),
        ("raw_query", request.query.clone().unwrap_or_default().into()),
        ("pairs", Value::from(Serde(pairs.iter().map(in_pair).collect::<Vec<_>>()))),
        ("given", Lookup::value(Value::from(Serde(given)), Value::from(()))),
        ("every", Lookup::value(Value::from(Serde(&every)), Vec::<Value>::new().into())),
        ("headers", Lookup::value(Value::from(Serde(first_headers)), Value::from(()))),
        ("tokens", Value::from(Serde(tokens.map(named).collect::<Vec<_>>()))),
        ("claimed", Value::from(Serde(claimed.collect::<BTreeMap<_, _>>()))),
        ("body_text", String::from_utf8_lossy(&request.body).into_owned().into()),
        ("length", request.body.len().into()),
    ]
}

/// A response of the rows: status, headers, and a body that is JSON unless it is a text.
fn reply(response: &Value) -> Reply {
    let response = serde_json::to_value(response).expect("a response is JSON");
    let status = response["status"].as_u64().and_then(|status| u16::try_from(status).ok()).unwrap_or(500);
    let mut reply = Reply::json_with(status, &response["body"]);
    if let Json::String(text) = &response["body"] {
        reply.body = text.clone().into();
    }
    if status == 204 {
        reply.body.clear();
    }
    for (name, value) in response["headers"].as_object().into_iter().flatten() {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let name = name.parse::<HeaderName>().expect("a name of the server's own");
        // A request id may hold what no header can carry back.
        if let Ok(value) = HeaderValue::from_str(&text) {
            reply.headers.insert(name, value);
        }
    }
    reply
}
