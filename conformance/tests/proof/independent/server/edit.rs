//! What a fault makes of a part of a response, as its row in `faults.txt` says behind `=>`: `OBJECT.MEMBER CHANGE`.
//!
//! `= VALUE` sets the member, `:= VALUE` where it is not null, and `?= VALUE` where it is. A text of the value may have names of
//! members in braces; one that is nothing else stands for the member itself. `gone`, `gone when null`, `-> NAME` and the words below do what they say,
//! the words where the member is not null. Several changes stand apart by `; `. A reply has the members `status` and `headers`.

use serde_json::{Value, json};

/// A change of one member of an object.
#[derive(Debug)]
pub(crate) struct Edit {
    /// Which object of a response.
    pub(crate) object: &'static str,
    /// Names of members from the object on, divided by dots.
    path: &'static str,
    verb: &'static str,
    argument: &'static str,
}

impl Edit {
    pub(crate) fn parse(text: &'static str) -> Self {
        let (place, change) = text.split_once(' ').expect("a change");
        let (object, path) = place.split_once('.').expect("a member");
        let (verb, argument) = change.split_once(' ').unwrap_or((change, ""));
        Self { object, path, verb, argument }
    }

    /// Changes the object. `known` has values that are no members of it.
    pub(crate) fn apply(&self, object: &mut Value, known: &Value) {
        let all = object.clone();
        let (parent, name) = self.path.rsplit_once('.').unwrap_or(("", self.path));
        let Some(members) = find_mut(object, parent).and_then(Value::as_object_mut) else { return };
        let old = members.get(name).cloned().unwrap_or_default();
        let value = |text: &str| filled(serde_json::from_str(text).expect("JSON"), &[known, &all]);
        let (text, number) = (shown(&old), old.as_i64().unwrap_or_default());
        let seconds = || text.parse().map_or(0, jiff::Timestamp::as_second);
        let new = match (self.verb, self.argument) {
            ("gone", "when null") if !old.is_null() => return,
            ("gone", _) => return drop(members.remove(name)),
            ("->", other) => {
                let moved = members.remove(name).unwrap_or_default();
                return drop(members.insert(other.to_owned(), moved));
            }
            ("=", new) => value(new),
            ("?=", new) if old.is_null() => value(new),
            ("?=", _) => return,
            _ if old.is_null() => return,
            (":=", new) => value(new),
            ("as", "text") => json!(text),
            ("as", "number") => text.parse::<i64>().map_or(old, Value::from),
            ("plus", "0.5") => json!(number as f64 + 0.5),
            ("plus", "-1") => json!(number - 1),
            ("negative", _) => json!(-number),
            ("through", "a float") => json!(number as f64 as i64),
            ("up", "to 100") => json!(number.min(100)),
            ("in", "16 bits") => json!(number as i16),
            ("in", "32 bits") => json!(number as i32),
            ("in", "seconds") => json!(seconds()),
            ("in", "seconds as text") => json!(seconds().to_string()),
            ("in", "capitals") => json!(text.to_uppercase()),
            ("in", "brackets") => json!(if text.contains(':') { format!("[{text}]") } else { text }),
            ("with", "its length") => {
                json!(format!("{text}/{}", if text.contains(':') { 128 } else { 32 }))
            }
            ("with", pairs) => json!(pairs.split(", ").fold(text, |text, pair| replaced(&text, pair))),
            ("masked", _) => {
                json!(format!("{}.*", text.rsplit_once(['.', ':']).map_or("", |(head, _)| head)))
            }
            ("to", length) => json!(text[..length.parse().expect("a length")]),
            other => panic!("unknown change {other:?}"),
        };
        members.insert(name.to_owned(), new);
    }
}

fn find_mut<'a>(value: &'a mut Value, path: &str) -> Option<&'a mut Value> {
    path.split('.').filter(|name| !name.is_empty()).try_fold(value, |value, name| value.get_mut(name))
}

/// A text as it is, and any other value as JSON.
pub(super) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// `"FROM" as "TO"`
fn replaced(text: &str, pair: &str) -> String {
    let (from, to) = pair.split_once(" as ").expect("a pair");
    text.replace(from.trim_matches('"'), to.trim_matches('"'))
}

/// The value with what its braces name in the first of the objects that has it.
fn filled(value: Value, objects: &[&Value]) -> Value {
    let named = |name: &str| {
        let found =
            |object: &&Value| name.split('.').try_fold(*object, |value, name| value.get(name)).cloned();
        objects.iter().find_map(found)
    };
    match value {
        Value::String(text) => {
            let whole = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).and_then(named);
            whole.unwrap_or_else(|| {
                let mut parts = text.split('{');
                let first = parts.next().unwrap_or_default().to_owned();
                let rest = parts.filter_map(|part| part.split_once('}'));
                let rest = rest.map(|(name, rest)| shown(&named(name).unwrap_or_default()) + rest);
                json!(first + &rest.collect::<String>())
            })
        }
        Value::Array(items) => items.into_iter().map(|item| filled(item, objects)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, member)| (name, filled(member, objects))).collect()
        }
        other => other,
    }
}
