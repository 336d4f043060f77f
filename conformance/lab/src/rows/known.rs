//! What an expression knows of a call: words for its parts, for the limits of the contract, for facts, and for the response.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Instant;

use hyper::header::USER_AGENT;
use minijinja::value::{Object, Serde};
use minijinja::{Error, ErrorKind, Value};
use sallyport_conformance_base::contract::Place;
use sallyport_conformance_base::lock;
use sallyport_conformance_base::target::{Fact, Facts, Secret};
use serde::Serialize;

#[cfg(test)]
use super::filters;
use super::filters::Text;
use crate::call::Call;
use crate::context::{Backend, Memory};
use crate::exchange::{ProxiedRequest, Reply};
use crate::rows::part::{self, Part};
use crate::rows::search;

/// What stands for a part of a request or a member of a response that is taken out.
#[derive(Debug)]
pub(super) struct Dropped;

impl Object for Dropped {}

/// What an expression knows. It is cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Known {
    seen: Arc<Seen>,
    reply: Option<Arc<(Reply, Words)>>,
    /// Further values, the latest of a name last.
    more: Vec<(&'static str, Value)>,
    /// How often something came, in one act.
    counts: Arc<Mutex<HashMap<String, u64>>>,
}

/// A call, and the words for it that were asked for.
#[derive(Debug)]
struct Seen {
    call: Call,
    words: Words,
}

/// The words that were asked for. Most are asked for again, and a body takes long to parse.
#[derive(Debug, Default)]
struct Words(Mutex<HashMap<String, Value>>);

impl Words {
    fn get(&self, word: &str, find: impl FnOnce() -> Option<Value>) -> Option<Value> {
        if let Some(known) = lock(&self.0).get(word) {
            return Some(known.clone());
        }
        let found = find()?;
        lock(&self.0).insert(word.to_owned(), found.clone());
        Some(found)
    }
}

const WORDS: &str = include_str!("words.txt");

/// The words that the text defines by others.
static DEFINED: LazyLock<HashMap<&'static str, Text>> = LazyLock::new(|| {
    let lines = WORDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.filter_map(|line| line.split_once(": ")).map(|(word, text)| (word, Text::new(text))).collect()
});

pub(super) fn defined(word: &str) -> Option<&'static Text> {
    DEFINED.get(word)
}

/// A value of JSON, or one that serializes like it.
pub(super) fn value(value: impl Serialize) -> Value {
    Value::from(Serde(value))
}

pub(super) fn json(value: &Value) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

impl Known {
    pub(super) fn new(call: &Call) -> Self {
        let seen = Seen { call: call.clone(), words: Words::default() };
        Self { seen: Arc::new(seen), reply: None, more: Vec::new(), counts: Arc::default() }
    }

    pub(super) fn with_reply(&self, reply: &Reply) -> Self {
        Self {
            reply: Some(Arc::new((reply.clone(), Words::default()))),
            counts: Arc::default(),
            ..self.clone()
        }
    }

    pub(super) fn with(&self, word: &'static str, value: Value) -> Self {
        let mut known = self.clone();
        known.more.push((word, value));
        known
    }

    /// The same call, with nothing counted.
    pub(super) fn anew(&self) -> Self {
        Self { counts: Arc::default(), ..self.clone() }
    }

    fn of_reply(&self, reply: &Reply, word: &str) -> Option<Value> {
        let items = || {
            let mut body = reply.json();
            self.seen.call.list(&mut body).map(std::mem::take)
        };
        Some(match word {
            "reply" => value(reply.json()),
            "text" => Value::from(reply.text()),
            "http" => Value::from(reply.status.as_u16()),
            "items" => value(items().unwrap_or_default()),
            "total" => Value::from(search::total(&reply.json())),
            "reply_header" => {
                let headers = reply.headers.clone();
                Value::from_function(move |name: &str| {
                    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
                })
            }
            _ => return None,
        })
    }

    fn of_call(&self, word: &str) -> Option<Value> {
        let call = &self.seen.call;
        of_request(call, word).or_else(|| of_contract(call, word))
    }

    fn function(&self, word: &str) -> Option<Value> {
        let seen = Arc::clone(&self.seen);
        let memory = Arc::clone(&seen.call.context.memory);
        let of_key = |how: fn(&Memory, &str) -> u64| {
            let memory = Arc::clone(&memory);
            Value::from_function(
                move |key: &Value| if key.is_none() { 0 } else { how(&memory, &key.to_string()) },
            )
        };
        let of_part = |how: fn(&Call, Part) -> Value| {
            let seen = Arc::clone(&self.seen);
            Value::from_function(move |name: &str| {
                Part::named(name).map(|part| how(&seen.call, part)).ok_or_else(|| unknown(name))
            })
        };
        Some(match word {
            "calls" => Value::from_function(move || memory.calls()),
            "elapsed" => {
                static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);
                Value::from_function(|| BEGUN.elapsed().as_millis())
            }
            "seen" => of_key(Memory::calls_of),
            "counted" => of_key(Memory::count),
            "nth" => {
                let counts = Arc::clone(&self.counts);
                Value::from_function(move |key: &Value| {
                    let mut counts = lock(&counts);
                    let count = counts.entry(key.to_string()).or_default();
                    *count += 1;
                    *count - 1
                })
            }
            "header" => Value::from_function(move |name: &str| seen.call.header(name).map(str::to_owned)),
            "param" => Value::from_function(move |name: &str| seen.call.param(name)),
            "raw" => of_part(|call, part| raw(call, part).into()),
            "place" => of_part(|call, part| place(call, part).into()),
            _ => return None,
        })
    }
}

fn unknown(word: &str) -> Error {
    Error::new(ErrorKind::UndefinedError, format!("unknown word `{word}`"))
}

impl Object for Known {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let word = key.as_str()?;
        if let Some((_, value)) = self.more.iter().rev().find(|(name, _)| *name == word) {
            return Some(value.clone());
        }
        if let Some(text) = defined(word) {
            return Some(text.value(self).unwrap_or_else(Value::from));
        }
        let reply = self.reply.as_deref();
        reply
            .and_then(|(reply, words)| words.get(word, || self.of_reply(reply, word)))
            .or_else(|| self.seen.words.get(word, || self.of_call(word)))
            .or_else(|| self.function(word))
    }
}

/// A word for what was sent.
fn of_request(call: &Call, word: &str) -> Option<Value> {
    if let Some(part) = Part::named(word).filter(|_| word != "ips") {
        return Some(value(part::value(call, part)));
    }
    Some(match word {
        "method" => Value::from(call.method.as_str()),
        "query" => Value::from(call.query.clone().unwrap_or_default()),
        "operation" => Value::from(call.operation().map(|operation| operation.id())),
        "body" => value(call.json()),
        "same_request" => Value::from(same_request(call)),
        "body_text" => Value::from(String::from_utf8_lossy(&call.body)),
        "body_length" => Value::from(call.body.len()),
        "is_json" => Value::from(serde_json::from_slice::<serde_json::Value>(&call.body).is_ok()),
        "tokens" => Value::from(part::credentials(call)),
        "query_tokens" => Value::from(part::query_tokens(call)),
        "id" => Value::from(part::request_id(call)),
        "separator" => Value::from(part::separator(call)),
        "ips" => Value::from(search::ips(call)),
        "sent_counts" => {
            let mut counts = HashMap::<String, u64>::new();
            search::ips(call).into_iter().for_each(|item| *counts.entry(item).or_default() += 1);
            Value::from(counts)
        }
        "batch" => value(call.json().get(&call.contract.search.ips.name)),
        "filters" => {
            let names = call.contract.search.filters.iter().map(|filter| &*filter.property.name);
            Value::from_iter(names.filter(|name| part::value(call, Part::Body(name)).is_some()))
        }
        "token" => Value::from(call.context.token.expose()),
        "token_length" => Value::from(call.context.token.expose().chars().count()),
        "canary" => Value::from(call.context.facts.canaries.first().map_or("no canary", Secret::expose)),
        "secrets" => Value::from_iter(call.context.facts.secrets().map(Secret::expose)),
        "facts" | "maybe" => Value::from_object(Of(Arc::clone(&call.context.backend))),
        _ => return None,
    })
}

/// A word for what the contract says, and for what is always the same.
fn of_contract(call: &Call, word: &str) -> Option<Value> {
    let (extract, search) = (&call.contract.extract, &call.contract.search);
    Some(match word {
        "least_num" => Value::from(*extract.num_range.start()),
        "most_num" => Value::from(*extract.num_range.end()),
        "default_region" => value(&extract.regions.schema.default),
        "default_protocol" => Value::from(extract.protocol.default_text()),
        "protocols" => Value::from(extract.protocols.clone()),
        "json_form" => Value::from(&*extract.json),
        "text_form" => Value::from(&*extract.text),
        "custom" => Value::from(&*extract.custom_separator),
        "extract_names" => {
            let of_query = extract.operation.parameters.iter().filter(|one| one.place == Place::Query);
            Value::from_iter(of_query.chain([&extract.operation.api_key]).map(|parameter| &*parameter.name))
        }
        "field_names" => Value::from_iter(search.operation.body.iter().map(|known| &*known.name)),
        "separator_bytes" => Value::from(extract.separator_bytes),
        "separator_codes" => Value::from_iter(extract.separators.iter().map(|separator| &*separator.code)),
        "least_lb" => Value::from(*extract.range(&extract.lb.name).start()),
        "most_lb" => Value::from(*extract.range(&extract.lb.name).end()),
        "statuses" => Value::from(search.statuses.clone()),
        "most_items" => Value::from(*search.raw_items.end()),
        "most_distinct" => Value::from(search.distinct_items),
        "first_page" => Value::from(*search.pages.start()),
        "last_page" => Value::from(*search.pages.end()),
        "least_size" => Value::from(*search.page_sizes.start()),
        "most_size" => Value::from(*search.page_sizes.end()),
        "default_page" => Value::from(search.default_page),
        "default_size" => Value::from(search.default_page_size),
        "least_port" => Value::from(*search.ports.start()),
        "most_port" => Value::from(*search.ports.end()),
        "drop" => Value::from_object(Dropped),
        _ => return None,
    })
}

#[derive(Debug)]
struct Of(Arc<Backend>);

impl Object for Of {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        fact(&self.0.facts, key.as_str()?)
    }
}

/// What is supplied for the fact with a field of this name.
fn fact(facts: &Facts, field: &str) -> Option<Value> {
    let fact = Fact::ALL.into_iter().find(|fact| fact.field() == field)?;
    let all = || {
        let secrets = facts.secrets_of(fact).map(|secret| Value::from(secret.expose()));
        secrets.chain(facts.values(fact).into_iter().map(Value::from))
    };
    Some(match fact {
        Fact::Orders => Value::from_iter(facts.orders.iter().map(|order| &*order.number)),
        Fact::ForeignGroup => Value::from(facts.foreign_group),
        // Of these a row would get nothing, or texts for what it compares with numbers and objects.
        Fact::EgressIp
        | Fact::OwnGroups
        | Fact::KnownInstances
        | Fact::EntitledProtocols
        | Fact::Canaries => {
            return None;
        }
        _ if fact.is_list() => all().collect(),
        _ => Value::from(all().next()),
    })
}

/// What requests have in common that differ in nothing but the request id, and in the agent, which numbers the requests of a run.
fn same_request(call: &Call) -> String {
    let mut same = call.clone();
    same.drop_param(&call.contract.extract.request_id.name);
    same.headers.remove(USER_AGENT);
    let ProxiedRequest { method, path, query, headers, body } = &*same;
    format!("{method} {path} {query:?} {headers:?} {body:?}")
}

/// A parameter as it stands in the query.
fn raw(call: &Call, part: Part) -> Option<String> {
    let Part::Query(name) = part else { return None };
    let query = call.query.clone().unwrap_or_default();
    query.split('&').find_map(|pair| Some(pair.strip_prefix(name)?.strip_prefix('=')?.to_owned()))
}

/// The place of a part among those of its kind, from 0 on; -1 when it is not sent.
fn place(call: &Call, part: Part) -> i64 {
    let place = match part {
        Part::Query(name) => call.params().iter().position(|(key, _)| key == name),
        Part::Header(name) => call.headers.contains_key(name).then_some(0),
        Part::Body(name) => call.json().as_object().and_then(|body| body.keys().position(|key| key == name)),
    };
    place.and_then(|place| i64::try_from(place).ok()).unwrap_or(-1)
}

/// Whether an expression may use a word, with what is taken from it.
#[cfg(test)]
pub(super) fn is_known(word: &str) -> bool {
    const OF_PLACES: &str = "item place name value items bound sent theirs their_total their_reply reply text http \
        total reply_header";
    if let Some(name) = word.strip_prefix("facts.").or_else(|| word.strip_prefix("maybe.")) {
        return fact(&Facts::default(), name).is_some();
    }
    let word = word.split('.').next().unwrap_or(word);
    OF_PLACES.split(' ').any(|known| known == word)
        || defined(word).is_some()
        || tests::known().of_call(word).is_some()
        || tests::known().function(word).is_some()
}

/// What nobody knows of an expression, or why it cannot be read. Its row has given values to the words `given`.
#[cfg(test)]
pub(super) fn mistakes_of(text: &Text, given: &[&str]) -> Vec<String> {
    let words = match text.words() {
        Ok(words) => words,
        Err(error) => return vec![format!("`{}`: {error}", text.source)],
    };
    let words = words.into_iter().filter(|word| !is_known(word) && !given.contains(&word.as_str()));
    let unknown = words.map(|word| format!("word `{word}`")).chain(filters::unknown_names(text.source));
    unknown.map(|name| format!("unknown {name} in `{}`", text.source)).collect()
}

/// The lines of the text of words that cannot be read, and what nobody knows in them.
#[cfg(test)]
pub(super) fn mistakes() -> Vec<String> {
    let mut known = std::collections::HashSet::new();
    let mut mistakes = Vec::new();
    for (number, line) in
        WORDS.lines().enumerate().filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    {
        let of_line = match line.split_once(": ") {
            Some((word, text)) if known.insert(word) => mistakes_of(&Text::new(text), &[]),
            Some(_) => vec!["a word that is defined above".to_owned()],
            None => vec!["not `WORD: EXPRESSION`".to_owned()],
        };
        mistakes.extend(of_line.into_iter().map(|mistake| format!("words.txt:{}: {mistake}", number + 1)));
    }
    mistakes
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::LazyLock;

    use super::*;
    use crate::{Backend, Context};
    use sallyport_conformance_base::contract::Contract;
    use sallyport_conformance_base::target::Target;

    /// A backend that nothing is known of.
    pub(in crate::rows) fn context() -> Context {
        let token = Secret::new("API_KEY", "a-token-of-nobody".to_owned());
        let target = Target::new("http://127.0.0.1:1", token, Facts::default(), false).expect("a target");
        Context::new(&Backend::new(Contract::embedded().expect("a contract"), &target).expect("a backend"))
    }

    /// A request that says nothing.
    pub(in crate::rows) fn request() -> ProxiedRequest {
        ProxiedRequest::new(hyper::Method::GET, "/")
    }

    pub(super) fn known() -> &'static Known {
        static KNOWN: LazyLock<Known> = LazyLock::new(|| Known::new(&Call::new(&context(), request())));
        &KNOWN
    }
}
