//! Bodies.

use proptest::prelude::*;
use sallyport_server::edge::reading::json::Json;
use serde_json::{Map, Number, Value, map::Entry};

use super::texts;

const PARTS: &str = "{¦}¦[¦]¦,¦:¦\"a\"¦\"\\u00e9\"¦\"\\ud83d\\ude00\"¦\"\\ud800\"¦\"\\x\"¦\"¦\\¦null¦true¦false¦nul¦0¦-0¦\
    01¦1.5¦1e3¦1e999¦18446744073709551616¦-9223372036854775808¦-¦.¦ ¦\n¦\u{1}¦\u{feff}¦\
    {\"a\":1,\"a\":2}¦[[1],{}]";

/// Levels of containers in a value that is read.
const DEEPEST: usize = 127;

/// A value by RFC 8259 with the first repeated name, or nothing.
fn slow(bytes: &[u8]) -> Option<Json> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut letters = Letters(text, None);
    let value = letters.value(0)?;
    letters.blank();
    letters.0.is_empty().then_some(Json { value, repeated: letters.1 })
}

struct Letters<'a>(&'a str, Option<String>);

impl Letters<'_> {
    fn blank(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.blank();
        self.0 = self.0.strip_prefix(word)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        self.blank();
        match self.0.chars().next()? {
            'n' => self.word("null").map(|()| Value::Null),
            't' => self.word("true").map(|()| Value::Bool(true)),
            'f' => self.word("false").map(|()| Value::Bool(false)),
            '"' => self.string().map(Value::String),
            '[' if depth < DEEPEST => {
                self.word("[")?;
                let mut items = Vec::new();
                if self.word("]").is_some() {
                    return Some(Value::Array(items));
                }
                loop {
                    items.push(self.value(depth + 1)?);
                    if self.word("]").is_some() {
                        return Some(Value::Array(items));
                    }
                    self.word(",")?;
                }
            }
            '{' if depth < DEEPEST => {
                self.word("{")?;
                let mut members = Map::new();
                if self.word("}").is_some() {
                    return Some(Value::Object(members));
                }
                loop {
                    self.blank();
                    let name = self.string()?;
                    self.word(":")?;
                    let value = self.value(depth + 1)?;
                    match members.entry(name) {
                        Entry::Vacant(entry) => drop(entry.insert(value)),
                        Entry::Occupied(entry) => drop(self.1.get_or_insert_with(|| entry.key().clone())),
                    }
                    if self.word("}").is_some() {
                        return Some(Value::Object(members));
                    }
                    self.word(",")?;
                }
            }
            _ => self.number(),
        }
    }

    fn string(&mut self) -> Option<String> {
        self.0 = self.0.strip_prefix('"')?;
        let mut units = Vec::new();
        loop {
            let letter = self.0.chars().next()?;
            self.0 = &self.0[letter.len_utf8()..];
            match letter {
                '"' => return String::from_utf16(&units).ok(),
                '\\' => {
                    let escaped = self.0.chars().next()?;
                    self.0 = &self.0[escaped.len_utf8()..];
                    units.push(match escaped {
                        '"' | '\\' | '/' => escaped as u16,
                        'b' => 8,
                        'f' => 12,
                        'n' => 10,
                        'r' => 13,
                        't' => 9,
                        'u' => {
                            let digits =
                                self.0.get(..4).filter(|it| it.chars().all(|it| it.is_ascii_hexdigit()))?;
                            self.0 = &self.0[4..];
                            u16::from_str_radix(digits, 16).ok()?
                        }
                        _ => return None,
                    });
                }
                letter if letter < ' ' => return None,
                letter => units.extend_from_slice(letter.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn number(&mut self) -> Option<Value> {
        let text = self.0;
        let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
        let mut end = usize::from(text.starts_with('-'));
        let whole = digits(end);
        if whole == 0 || (whole > 1 && text[end..].starts_with('0')) {
            return None;
        }
        end += whole;
        let integer_ends = end;
        if text[end..].starts_with('.') {
            let fraction = digits(end + 1);
            end += 1 + fraction;
            if fraction == 0 {
                return None;
            }
        }
        if text[end..].starts_with(['e', 'E']) {
            end += 1;
            end += usize::from(text[end..].starts_with(['+', '-']));
            let exponent = digits(end);
            end += exponent;
            if exponent == 0 {
                return None;
            }
        }
        let (number, rest) = text.split_at(end);
        self.0 = rest;
        let integer = (integer_ends == end && number != "-0").then(|| {
            number.parse::<i64>().map(Into::into).or_else(|_| number.parse::<u64>().map(Into::into)).ok()
        });
        match integer.flatten() {
            Some(integer) => Some(Value::Number(integer)),
            None => Number::from_f64(number.parse().ok()?).map(Value::Number),
        }
    }
}

/// Whether both are the same but for the last digits of a fraction.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) if one.is_f64() && other.is_f64() => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= one.abs() * 1e-12
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let mut members = one.iter().zip(other);
            one.len() == other.len() && members.all(|(one, other)| one.0 == other.0 && alike(one.1, other.1))
        }
        (one, other) => one == other,
    }
}

fn agree(bytes: &[u8]) -> bool {
    match (Json::parse(bytes).ok(), slow(bytes)) {
        (Some(read), Some(slow)) => read.repeated == slow.repeated && alike(&read.value, &slow.value),
        (read, slow) => read.is_none() && slow.is_none(),
    }
}

#[test]
fn depth_is_bounded_in_one_place() {
    for depth in [DEEPEST - 1, DEEPEST, DEEPEST + 1, 50_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = format!("{}0{}", open.repeat(depth), close.repeat(depth));
            assert_eq!(Json::parse(nested.as_bytes()).is_ok(), depth <= DEEPEST, "{depth} of {open}");
        }
    }
}

proptest! {
    #[test]
    fn bodies_are_what_a_slow_reader_finds(text in texts(PARTS)) {
        prop_assert!(agree(text.as_bytes()), "{:?} is not {:?}", Json::parse(text.as_bytes()), slow(text.as_bytes()));
    }

    #[test]
    fn any_bytes_are_read_or_rejected(bytes: Vec<u8>) {
        prop_assert!(agree(&bytes));
    }
}
