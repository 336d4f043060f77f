//! JSON as it was sent: members in order, with duplicates, so that nothing is overlooked.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::request_error::Excerpt;

/// A JSON value. String values are borrowed from the text where they are written without escapes; names are few.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number; one past 64 bits is kept as a fraction.
    Number(serde_json::Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object, duplicate members included.
    Object(Vec<(String, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Reads exactly one value. Depth is bounded by serde_json.
    ///
    /// # Errors
    /// Anything that is not one JSON value in UTF-8, with line and column.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        // Checking the encoding once is faster than checking each string; the slower way finds the position of an error.
        match str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(bytes),
        }
    }

    /// The value for a message: scalars as they are, cut short, and containers by their kind.
    #[must_use]
    pub fn excerpt(&self) -> Excerpt {
        match self {
            Self::Null => Excerpt::describe("null"),
            Self::Bool(value) => Excerpt::describe(value.to_string()),
            Self::Number(number) => Excerpt::describe(number.to_string()),
            Self::String(text) => Excerpt::quote(text),
            Self::Array(_) => Excerpt::describe("an array"),
            Self::Object(_) => Excerpt::describe("an object"),
        }
    }
}

impl<'de> Deserialize<'de> for Json<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonVisitor)
    }
}

struct JsonVisitor;

impl<'de> Visitor<'de> for JsonVisitor {
    type Value = Json<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json<'de>, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json<'de>, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json<'de>, E> {
        Ok(Json::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json<'de>, E> {
        // JSON has no number that is not finite, so none arrives here.
        Ok(serde_json::Number::from_f64(value).map_or(Json::Null, Json::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json<'de>, E> {
        Ok(Json::String(value.to_owned().into()))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Json<'de>, E> {
        Ok(Json::String(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json<'de>, E> {
        Ok(Json::String(value.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json<'de>, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json<'de>, A::Error> {
        let mut object = Vec::new();
        while let Some(member) = members.next_entry()? {
            object.push(member);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_and_nothing_after_it() {
        for bad in ["", "{} {}", "{}x", "{", "\"\\ud800\"", "nul", "{\"a\":1,}", "1e999", "\u{feff}{}"] {
            assert!(Json::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Json::parse(b"\"\xff\"").is_err());
        assert!(Json::parse("[".repeat(100_000).as_bytes()).is_err());
    }
}
