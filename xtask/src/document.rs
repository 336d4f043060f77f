//! The document as a JSON value with the position of each part in the file.

use std::{collections::HashMap, fmt, iter::from_fn};

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;
use sha2::{Digest as _, Sha256};

use crate::problem::{Place, Problem};

/// Maximum length of a chain of `$ref`s; a longer one counts as a cycle.
const MAX_REFERENCES: usize = 32;

/// A parsed YAML document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) root: Value,
    places: HashMap<String, Place>,
    /// Of the text, in hexadecimal digits, as `sha256sum` prints it.
    pub(crate) sha256: String,
}

impl Document {
    /// Reads a text.
    ///
    /// Fails with one problem when it is not YAML, repeats a key or has a value that JSON lacks.
    pub(crate) fn parse(text: &str) -> Result<Document, Vec<Problem>> {
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let content: Spanned<Content> =
            serde_saphyr::from_str_with_options(text, options).map_err(|error| vec![invalid_yaml(&error)])?;
        let mut places = HashMap::new();
        let root = into_value(content, String::new(), None, &mut places);
        let sha256 = Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Document { root, places, sha256 })
    }

    /// The pointers of all values inside of the document, sorted.
    #[cfg(test)]
    pub(crate) fn pointers(&self) -> Vec<String> {
        let mut pointers: Vec<_> = self.places.keys().filter(|at| !at.is_empty()).cloned().collect();
        pointers.sort_unstable();
        pointers
    }

    pub(crate) fn get(&self, pointer: &str) -> Option<&Value> {
        self.root.pointer(pointer)
    }

    /// The members of the mapping at `pointer`, with their pointers; none when the value is not a mapping.
    pub(crate) fn members(&self, pointer: &str) -> Vec<(&str, String, &Value)> {
        let members = self.get(pointer).and_then(Value::as_object).into_iter().flatten();
        members.map(|(name, value)| (name.as_str(), join(pointer, name), value)).collect()
    }

    /// The items of the list at `pointer`, with their pointers; none when the value is not a list.
    pub(crate) fn items(&self, pointer: &str) -> Vec<(String, &Value)> {
        let items = self.get(pointer).and_then(Value::as_array).into_iter().flatten().enumerate();
        items.map(|(index, item)| (join(pointer, &index.to_string()), item)).collect()
    }

    /// The text under `key` of the mapping at `pointer`.
    pub(crate) fn text(&self, pointer: &str, key: &str) -> Option<&str> {
        self.get(&join(pointer, key))?.as_str()
    }

    /// Position of the value at `pointer`: of its key in a mapping, of the item itself in a sequence. For an absent value it is
    /// that of the nearest parent.
    pub(crate) fn place(&self, pointer: &str) -> Place {
        let mut rest = pointer;
        loop {
            if let Some(place) = self.places.get(rest) {
                return *place;
            }
            match rest.rfind('/') {
                Some(end) => rest = &rest[..end],
                None => return Place { line: 1, column: 1 },
            }
        }
    }

    /// Follows local `$ref`s from `value`; returns `value` itself when it has none, or an unknown one, which the lint reports.
    pub(crate) fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        reference(value).and_then(|target| self.get(self.definition(target))).unwrap_or(value)
    }

    /// The pointer of the definition of the value at `pointer`, after following local `$ref`s.
    pub(crate) fn definition<'a>(&'a self, pointer: &'a str) -> &'a str {
        let mut pointer = pointer;
        for _ in 0..MAX_REFERENCES {
            match self.get(pointer).and_then(reference) {
                Some(target) if self.get(target).is_some() => pointer = target,
                _ => break,
            }
        }
        pointer
    }

    /// A problem at `pointer`, with its position.
    pub(crate) fn problem(
        &self,
        pointer: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Problem {
        let pointer = pointer.into();
        Problem { place: Some(self.place(&pointer)), pointer, message: message.into(), help: help.into() }
    }
}

/// The JSON pointer that a local `$ref` names.
pub(crate) fn reference(value: &Value) -> Option<&str> {
    value.get("$ref")?.as_str()?.strip_prefix('#')
}

/// Every value inside of `value`, itself first.
pub(crate) fn values(value: &Value) -> Vec<&Value> {
    let inner: Vec<&Value> = match value {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        _ => Vec::new(),
    };
    std::iter::once(value).chain(inner.into_iter().flat_map(values)).collect()
}

/// `pointer` with one more step, escaped as in RFC 6901.
pub(crate) fn join(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// A step of a pointer without its escapes.
pub(crate) fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

fn invalid_yaml(error: &serde_saphyr::Error) -> Problem {
    let place = error.location().map(|at| Place { line: at.line(), column: at.column() });
    let text = match error.without_snippet() {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        serde_saphyr::Error::NullIntoString { .. } => "expected a text as the key, found null".to_owned(),
        other => other.render_with_formatter(&serde_saphyr::UserMessageFormatter),
    };
    // The parser appends the position, which every message starts with.
    let message = text.split(" at line ").next().unwrap_or(&text).to_owned();
    let help = match message.starts_with("duplicate") {
        true => "a key may occur only once in a mapping: remove one of them",
        false => "check the indentation, brackets and quotes of this line and of the one before it",
    };
    let message = format!("invalid YAML: {message}");
    Problem { pointer: String::new(), place, message, help: help.to_owned() }
}

/// A value with the position of everything in it, as an intermediate step from YAML to `Value`.
enum Content {
    Scalar(Value),
    Sequence(Vec<Spanned<Content>>),
    Mapping(Vec<(Spanned<String>, Spanned<Content>)>),
}

/// Converts `content` into a value and records the position of everything in it. `key` is the position of its key.
fn into_value(
    content: Spanned<Content>,
    pointer: String,
    key: Option<Place>,
    places: &mut HashMap<String, Place>,
) -> Value {
    places.insert(pointer.clone(), key.unwrap_or_else(|| place(&content)));
    match content.value {
        Content::Scalar(value) => value,
        Content::Sequence(items) => items
            .into_iter()
            .enumerate()
            .map(|(index, item)| into_value(item, join(&pointer, &index.to_string()), None, places))
            .collect(),
        Content::Mapping(members) => members
            .into_iter()
            .map(|(name, member)| {
                let value = into_value(member, join(&pointer, &name.value), Some(place(&name)), places);
                (name.value, value)
            })
            .collect(),
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

macro_rules! scalars {
    ($($visit:ident: $type:ty),*) => {
        $(fn $visit<E: de::Error>(self, value: $type) -> Result<Content, E> {
            Ok(Content::Scalar(value.into()))
        })*
    };
}

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Content, E> {
        Ok(Content::Scalar(Value::Null))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Content, E> {
        serde_json::Number::from_f64(value)
            .map(|number| Content::Scalar(number.into()))
            .ok_or_else(|| E::custom("expected a finite number"))
    }

    scalars!(visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_str: &str);

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        from_fn(|| access.next_element().transpose()).collect::<Result<_, _>>().map(Content::Sequence)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Content, A::Error> {
        from_fn(|| access.next_entry().transpose()).collect::<Result<_, _>>().map(Content::Mapping)
    }
}

fn place<T>(spanned: &Spanned<T>) -> Place {
    Place { line: spanned.referenced.line(), column: spanned.referenced.column() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quoted_scalars_stay_strings_and_plain_ones_get_their_type() {
        let document = Document::parse(
            "a: \"1\"\nb: 1\nc: no\nd: true\ne: 2026-01-01\nf: \"true\"\ng: 1.5\nh:\ni: \"\"\n\"200\": x\nj: ~\n",
        )
        .unwrap();
        assert_eq!(
            document.root,
            json!({"a": "1", "b": 1, "c": "no", "d": true, "e": "2026-01-01", "f": "true", "g": 1.5, "h": null,
                    "i": "", "200": "x", "j": null})
        );
    }

    #[test]
    fn every_value_has_the_position_of_its_key_or_item() {
        let document = Document::parse("a:\n  b: { c: 1, 'd/e': 2 }\nl:\n  - x\n  - y: 1\n").unwrap();
        for (pointer, line, column) in [
            ("/a", 1, 1),
            ("/a/b", 2, 3),
            ("/a/b/c", 2, 8),
            ("/a/b/d~1e", 2, 14),
            ("/l/0", 4, 5),
            ("/l/1", 5, 5),
            ("/l/1/y", 5, 5),
            ("/a/b/absent/deeper", 2, 3),
        ] {
            assert_eq!(document.place(pointer), Place { line, column }, "{pointer}");
        }
    }

    #[test]
    fn what_is_no_yaml_is_rejected_with_its_position() {
        for (text, line, message, help) in [
            ("a: 1\nb:\n  c: 1\n  c: 2\n", 4, "invalid YAML: duplicate key `c`", "only once"),
            ("a: 1\n~: 2\n", 2, "invalid YAML: expected a text as the key, found null", "indentation"),
            ("a: 1\nb: [1, 2\nc: 3\n", 3, "invalid YAML: ", "indentation"),
        ] {
            let problem = Document::parse(text).unwrap_err().remove(0);
            assert_eq!(problem.place.unwrap().line, line, "{problem}");
            assert!(problem.message.starts_with(message) && problem.help.contains(help), "{problem}");
        }
    }

    #[test]
    fn references_are_followed_and_a_cycle_ends() {
        let document =
            Document::parse("x: { $ref: '#/y' }\ny: { $ref: '#/z' }\nz: 7\nc: { $ref: '#/c' }\n").unwrap();
        assert_eq!(document.resolve(&document.root["x"]), &json!(7));
        assert_eq!(document.definition("/x"), "/z");
        assert_eq!(document.definition("/c"), "/c");
    }
}
