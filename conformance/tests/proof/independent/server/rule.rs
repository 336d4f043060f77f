//! What a fault makes of a decision of the server, as its row in `faults.txt` says behind `=>`: `PLACE: EXPRESSION`.
//!
//! The server asks at each place what the fault has there. An expression of MiniJinja, over the values that the place knows, gives the
//! value that stands in for the right one, or says whether a rule is broken; nothing (`X if CONDITION`) leaves the place as it is.

use std::sync::LazyLock;

use minijinja::{Environment, Expression, UndefinedBehavior, Value};

use super::address::inet_aton;
use super::time::parse;

/// What a fault has at one place.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) place: &'static str,
    expression: Expression<'static, 'static>,
}

impl Rule {
    /// The rule of a row; none where it is an edit.
    pub(crate) fn parse(text: &'static str) -> Option<Self> {
        let (place, expression) = text.split_once(": ").filter(|(place, _)| !place.contains(' '))?;
        let expression =
            WORDS.compile_expression(expression).unwrap_or_else(|error| panic!("{text}: {error}"));
        Some(Self { place, expression })
    }

    /// What it has; none where its condition does not hold.
    pub(crate) fn value(&self, known: Value) -> Option<Value> {
        let value = self.expression.eval(known).unwrap_or_else(|error| panic!("{}: {error}", self.place));
        (!value.is_undefined()).then_some(value)
    }
}

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
    words.add_filter("json", |text: &str| {
        serde_json::from_str::<serde_json::Value>(text)
            .ok()
            .map(|value| Value::from(minijinja::value::Serde(value)))
    });
    words.add_test("hexadecimal", |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    words
});
