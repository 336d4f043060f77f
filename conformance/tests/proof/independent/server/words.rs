//! What expressions of rows may use beside the words of MiniJinja.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, LazyLock};

use minijinja::value::{Object, Serde};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};
use serde_json::{Map, Value as Json, json};

use super::address::{self, inet_aton};
use super::time::{Parts, Time, east, parse};

/// What ends a call: a rejection with `code` and `message`, or a response.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct End(pub(super) Value);

fn end(value: Value) -> Result<Value, Error> {
    Err(Error::new(ErrorKind::InvalidOperation, "the call ends").with_source(End(value)))
}

fn reject(code: i64, message: &str) -> Result<Value, Error> {
    end(Value::from(Serde(json!({ "code": code, "message": message }))))
}

/// What stands for an element or a member that is left out.
#[derive(Debug)]
pub(super) struct Gone;

impl Object for Gone {}

impl Gone {
    pub(super) fn is(value: &Value) -> bool {
        value.downcast_object_ref::<Self>().is_some()
    }
}

/// Values by name, with one for each name that is missing.
#[derive(Debug)]
pub(super) struct Lookup {
    known: Value,
    missing: Value,
}

impl Lookup {
    pub(super) fn value(known: Value, missing: Value) -> Value {
        Value::from_object(Self { known, missing })
    }
}

impl Object for Lookup {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let known = self.known.get_item(key).ok().filter(|value| !value.is_undefined());
        Some(known.unwrap_or_else(|| self.missing.clone()))
    }
}

/// The leading integer of a text, as `parseInt` reads it.
fn leading_integer(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let end = text.char_indices().find(|(at, c)| !(c.is_ascii_digit() || *at == 0 && matches!(c, '+' | '-')));
    text[..end.map_or(text.len(), |(at, _)| at)].parse().ok()
}

/// A text of digits, perhaps behind a minus.
fn integer(text: &str) -> Option<i128> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// An integer of 64 bits, also one with a fraction of zero where that is accepted.
fn whole(value: Value, fractions: bool) -> Option<i64> {
    if value.is_integer() {
        return i64::try_from(value).ok();
    }
    let float = f64::try_from(value.clone()).ok().filter(|float| value.is_number() && float.fract() == 0.0);
    float.filter(|_| fractions).map(|float| float as i64)
}

fn json_error(text: &str) -> &'static str {
    match serde_json::from_str::<Json>(text) {
        Ok(_) => "",
        Err(_) if text.is_empty() => "empty",
        Err(error) if error.is_eof() => "cut",
        Err(_) => "syntax",
    }
}

/// A part of a date-time; empty for what is none.
fn part(value: Value, name: fn(&Parts<'_>) -> String) -> String {
    value.as_str().and_then(Parts::of).as_ref().map(name).unwrap_or_default()
}

fn scattered(mut list: Vec<Value>, seed: i64) -> Vec<Value> {
    list.sort_by_key(|value| {
        let mut hasher = DefaultHasher::new();
        (value.get_attr("id").ok().and_then(|id| id.as_i64()), seed).hash(&mut hasher);
        hasher.finish()
    });
    list
}

/// Whether a text is like a pattern with `%` or `_`.
fn like(text: &str, pattern: &str) -> bool {
    pattern.contains(['%', '_'])
        && (pattern.split('%').all(|part| text.contains(part)) || pattern.len() == text.len())
}

/// Without leading zeros of the numbers in it.
fn unpadded(text: &str) -> String {
    let unpad = |part: &str| match part.trim_start_matches('0') {
        rest if rest.starts_with(|c: char| c.is_ascii_digit()) || part.is_empty() => rest.to_owned(),
        rest if part.starts_with('0') => format!("0{rest}"),
        rest => rest.to_owned(),
    };
    text.split('.')
        .map(|part| part.split(':').map(unpad).collect::<Vec<_>>().join(":"))
        .collect::<Vec<_>>()
        .join(".")
}

pub(super) static WORDS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut words = Environment::new();
    // A misspelt name is an error.
    words.set_undefined_behavior(UndefinedBehavior::Strict);
    words.add_function("reject", reject);
    words.add_function("refuse", |message: Option<&str>| reject(40_000, message.unwrap_or("not valid")));
    words.add_function("answer", end);
    // What has no address of its own stands for one of the account.
    words.add_global("own", "45.10.0.4");
    words.add_global("crlf", "\r\n");
    words.add_global("gone", Value::from_object(Gone));
    // What a lax reader works with when there is nothing to read.
    words.add_global("lax", Value::from(Serde(json!({ "ips": ["45.10.0.4"] }))));
    words.add_filter("number", |text: &str| text.parse::<i128>().ok());
    words.add_filter("integer", integer);
    words.add_filter("leading", leading_integer);
    words.add_filter("leading_digits", |text: &str| {
        text.chars().take_while(char::is_ascii_digit).collect::<String>()
    });
    words.add_filter("decimal", |text: &str| text.trim().parse().ok().filter(|float: &f64| !float.is_nan()));
    words.add_filter("whole", whole);
    words.add_filter("hex", |text: &str| u32::from_str_radix(text, 16).ok());
    words.add_filter("digits", |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>());
    words.add_filter("printable", |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>());
    words.add_filter("has", |text: &str, any: &str| text.contains(|c: char| any.contains(c)));
    words.add_filter("like", like);
    words.add_filter("utf8", |text: &str| text.len());
    words.add_filter("utf16", |text: &str| text.encode_utf16().count());
    words.add_filter("ascii", |text: &str| {
        text.chars().map(|c| if c.is_ascii() { c } else { '?' }).collect::<String>()
    });
    words.add_filter("latin", |text: &str| text.bytes().map(char::from).collect::<String>());
    words.add_filter("twice", |text: &str| {
        percent_encoding::percent_decode(text.as_bytes()).decode_utf8_lossy().into_owned()
    });
    words.add_filter("first_bytes", |text: &str, most: usize| {
        text[..text.floor_char_boundary(most)].to_owned()
    });
    words.add_filter("bytes", |text: &str| text.split('.').all(|part| part.parse::<u8>().is_ok()));
    words.add_filter("aton", |text: &str| inet_aton(text).map(|ip| ip.to_string()));
    words.add_filter("wrapped", |text: &str| {
        let parts = text.split('.').map(|part| Some(part.parse::<u32>().ok()? as u8));
        Some(parts.collect::<Option<Vec<_>>>()?.iter().map(u8::to_string).collect::<Vec<_>>().join("."))
    });
    words.add_filter("narrow", |text: &str| {
        let narrow = |c| match u32::from(c) {
            at @ 0xff10..=0xff19 => char::from(b'0' + (at - 0xff10) as u8),
            _ => c,
        };
        text.chars().map(narrow).collect::<String>()
    });
    words.add_filter("unpadded", unpadded);
    words.add_filter("endpoint", |text: Value, is_same: Option<bool>| {
        address::value(text.as_str().and_then(|text| address::endpoint(text, is_same.unwrap_or_default())))
    });
    words.add_filter("deduplicated", address::deduplicated);
    words.add_filter("matching", address::matching);
    words.add_filter("within", address::within);
    words.add_filter("long", |text: &str| {
        let ip = text.parse::<std::net::Ipv6Addr>().ok()?;
        Some(ip.segments().map(|part| format!("{part:04X}")).join(":"))
    });
    words.add_filter("zoned", |text: String| if parse(&text).is_some() { text } else { text + "Z" });
    words.add_filter("east", |text: &str| parse(text).map(east));
    words.add_filter("seconds", |text: &str| parse(text).map(|nanos| nanos / 1_000_000_000));
    words.add_filter("time", |value: Value| value.as_str().and_then(parse));
    words.add_filter("instant", |nanos: i128| Value::from(Serde(Time::from_nanos(nanos))));
    words.add_filter("moment", |value: Value| part(value, |parts| parts.moment.to_owned()));
    words.add_filter("zone", |value: Value| part(value, |parts| parts.zone.to_owned()));
    words.add_filter("fraction", |value: Value| part(value, |parts| parts.fraction.to_owned()));
    words.add_filter("json", |text: &str| {
        serde_json::from_str::<Json>(text).ok().map(|value| Value::from(Serde(value)))
    });
    words.add_filter("json_error", json_error);
    words.add_filter("first_object", |text: &str| {
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Json>>();
        values.next().and_then(Result::ok).map(|value| Value::from(Serde(value)))
    });
    words.add_filter("fields", |body: Value| Lookup::value(body, Value::from(())));
    words.add_filter("nulls", |body: Value| {
        let is_null = |name: &Value| body.get_item(name).is_ok_and(|value| value.is_none());
        body.try_iter().map(|names| names.filter(is_null).collect::<Vec<_>>())
    });
    words.add_filter("repeats", |list: Vec<Value>| {
        let mut seen = HashSet::new();
        list.into_iter().filter(|value| !seen.insert(value.clone())).collect::<Vec<_>>()
    });
    words.add_filter("scattered", scattered);
    words.add_test("beginning", |text: &str, whole: &str| text != whole && whole.starts_with(text));
    words.add_test("hexadecimal", |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    words
});
