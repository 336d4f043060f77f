//! What a fault makes of a decision of the server, as its row in `faults.txt` says behind `=>`: `PLACE: EXPRESSION`.
//!
//! The server asks at each place what the fault has there. An expression of MiniJinja, over the values that the place knows, gives the
//! value that stands in for the right one, or says whether a rule is broken; nothing (`X if CONDITION`) leaves the place as it is.
//! `OBJECT/MEMBER` is a place in a response; its expression knows the object's members, and the present `value` or none. `gone` takes
//! the member out. A reply has the members `status` and `headers`.

use std::sync::LazyLock;

use minijinja::value::{Object, Serde};
use minijinja::{Environment, Expression, UndefinedBehavior, Value};
use serde_json::{Map, Value as Json};

use super::address::inet_aton;
use super::time::{east, parse};

/// What a fault has at one place.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) place: &'static str,
    expression: Expression<'static, 'static>,
}

impl Rule {
    /// The rules of a row, divided by semicolons outside of quotes.
    pub(crate) fn parse_all(row: &'static str) -> Vec<Self> {
        let mut is_quoted = false;
        let rules = row.split(move |c| {
            is_quoted ^= c == '"';
            c == ';' && !is_quoted
        });
        rules.map(|rule| Self::parse(rule.trim_start())).collect()
    }

    fn parse(text: &'static str) -> Self {
        let (place, expression) = text.split_once(": ").unwrap_or_else(|| panic!("no rule: {text}"));
        let expression =
            WORDS.compile_expression(expression).unwrap_or_else(|error| panic!("{text}: {error}"));
        Self { place, expression }
    }

    /// The path of a member of an object; none where the place is none in it.
    pub(crate) fn member_of(&self, object: &str) -> Option<&'static str> {
        self.place.strip_prefix(object).filter(|path| path.starts_with('/'))
    }

    /// Changes the member of an object that the place names. `known` has values that are no members of it.
    pub(crate) fn change(&self, object: &mut Json, known: &Json) {
        let path = &self.place[self.place.find('/').unwrap_or_default()..];
        let (parent, name) = path.rsplit_once('/').unwrap_or_default();
        let mut seen: Map<String, Json> =
            [&*object, known].into_iter().filter_map(Json::as_object).flat_map(Map::clone).collect();
        let Some(members) = object.pointer_mut(parent).and_then(Json::as_object_mut) else { return };
        seen.insert("value".to_owned(), members.get(name).cloned().unwrap_or_default());
        match self.value(Value::from(Serde(seen))) {
            None => {}
            Some(gone) if gone.downcast_object_ref::<Gone>().is_some() => drop(members.remove(name)),
            Some(new) => {
                drop(members.insert(name.to_owned(), serde_json::to_value(new).expect("a value of JSON")))
            }
        }
    }

    /// What it has; none where its condition does not hold.
    pub(crate) fn value(&self, known: Value) -> Option<Value> {
        let value = self.expression.eval(known).unwrap_or_else(|error| panic!("{}: {error}", self.place));
        (!value.is_undefined()).then_some(value)
    }
}

/// What stands for a member that is taken out.
#[derive(Debug)]
struct Gone;

impl Object for Gone {}

/// The values that a place knows, by name.
macro_rules! known {
    (@ $name:ident) => { minijinja::Value::from(minijinja::value::Serde(&$name)) };
    (@ $name:ident => $value:expr) => { minijinja::Value::from(minijinja::value::Serde(&$value)) };
    ($($name:ident $(=> $value:expr)?),* $(,)?) => {
        minijinja::Value::from(std::collections::BTreeMap::<&str, minijinja::Value>::from_iter([
            $((stringify!($name), known!(@ $name $(=> $value)?))),*
        ]))
    };
}

/// What expressions may use beside the words of MiniJinja.
static WORDS: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut words = Environment::new();
    // A misspelt name is an error.
    words.set_undefined_behavior(UndefinedBehavior::Strict);
    // What has no address of its own stands for one of the account.
    words.add_global("own", "45.10.0.4");
    words.add_global("crlf", "\r\n");
    words.add_global("gone", Value::from_object(Gone));
    // What a lax reader works with when there is nothing to read.
    words.add_global("lax", known! { ips => ["45.10.0.4"] });
    words.add_filter("number", |text: &str| text.parse::<i128>().ok());
    words.add_filter("hex", |text: &str| u32::from_str_radix(text, 16).ok());
    words.add_filter("digits", |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>());
    words.add_filter("printable", |text: &str| text.chars().filter(|c| !c.is_control()).collect::<String>());
    words.add_filter("has", |text: &str, any: &str| text.contains(|c: char| any.contains(c)));
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
    words.add_filter("zoned", |text: String| if parse(&text).is_some() { text } else { text + "Z" });
    words.add_filter("east", |text: &str| parse(text).map(east));
    words.add_filter("long", |text: &str| {
        text.parse()
            .map(|ip: std::net::Ipv6Addr| ip.segments().map(|part| format!("{part:04X}")).join(":"))
            .ok()
    });
    words.add_filter("seconds", |text: &str| parse(text).map(|nanos| nanos / 1_000_000_000));
    words.add_filter("json", |text: &str| {
        serde_json::from_str::<Json>(text).ok().map(|value| Value::from(Serde(value)))
    });
    words.add_test("hexadecimal", |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    words
});
