//! JSON values that keep the order of members and duplicates, so that duplicates can be rejected.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::request_error::Excerpt;

/// A JSON value. Strings without escapes are borrowed from the text; names are not, because there are few.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    /// null
    Null,
    /// true or false
    Bool(bool),
    /// A number; one that does not fit into 64 bits is a float.
    Number(serde_json::Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Json<'a>>),
    /// An object, duplicate members included.
    Object(Vec<(String, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Parses exactly one value. serde_json bounds the depth.
    ///
    /// # Errors
    /// Anything that is not one JSON value in UTF-8, with line and column.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, serde_json::Error> {
        // Checking the encoding of the whole text is faster than checking each string, but does not give an error's position.
        match str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(bytes),
        }
    }

    /// The value for a message: a scalar shortened, a container by its kind.
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
        // JSON numbers are always finite.
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
