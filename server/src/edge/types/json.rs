//! JSON as it came: members in order, with duplicates, so that nothing is overlooked.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::{
    fault::{At, Came, Fault, Spot},
    value::{FromJson, Tristate},
};

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
        // To look at the encoding once is faster than at each string; the slower way finds the place of a fault.
        match str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(text),
            Err(_) => serde_json::from_slice(bytes),
        }
    }

    /// The value for a message: scalars as they are, cut short, and containers by their kind.
    #[must_use]
    pub fn came(&self) -> Came {
        match self {
            Self::Null => Came::words("null"),
            Self::Bool(value) => Came::words(value.to_string()),
            Self::Number(number) => Came::words(number.to_string()),
            Self::String(text) => Came::text(text),
            Self::Array(_) => Came::words("an array"),
            Self::Object(_) => Came::words("an object"),
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

/// The object that a body must be, while its fields are read one after the other.
#[derive(Debug)]
pub struct Fields<'a>(Vec<(String, Json<'a>)>);

impl<'a> Fields<'a> {
    /// Takes the fields of `json`, of which each must be one of `known` and come once.
    ///
    /// # Errors
    /// Anything but an object, and unknown and repeated fields (`open.static.unknown-fields`).
    pub fn of(json: Json<'a>, spot: Spot<'_>, known: &[&str]) -> Result<Self, Fault> {
        let Json::Object(fields) = json else {
            return Err(spot.invalid("type", "be a JSON object", json.came()));
        };
        for (index, (name, _)) in fields.iter().enumerate() {
            if !known.contains(&name.as_str()) {
                return Err(Fault::unknown("body field", name, known));
            }
            if fields.iter().take(index).any(|(earlier, _)| earlier == name) {
                return Err(Spot::new(At::Field(name), &[]).repeated());
            }
        }
        Ok(Self(fields))
    }

    /// A field that must be there.
    ///
    /// # Errors
    /// It is absent or not as its type wants it.
    pub fn required<T: FromJson>(&mut self, name: &str, spot: Spot<'_>) -> Result<T, Fault> {
        self.optional(name, spot)?.ok_or_else(|| spot.missing())
    }

    /// A field that may be absent. Null is refused like any other wrong type (`open.static.null-optional`).
    ///
    /// # Errors
    /// It is not as its type wants it.
    pub fn optional<T: FromJson>(&mut self, name: &str, spot: Spot<'_>) -> Result<Option<T>, Fault> {
        self.take(name).map(|value| T::from_json(&value, spot)).transpose()
    }

    /// A field that may be absent or null.
    ///
    /// # Errors
    /// It is not as its type wants it.
    pub fn tristate<T: FromJson>(&mut self, name: &str, spot: Spot<'_>) -> Result<Tristate<T>, Fault> {
        match self.take(name) {
            None => Ok(Tristate::Omitted),
            Some(Json::Null) => Ok(Tristate::Null),
            Some(value) => T::from_json(&value, spot).map(Tristate::Value),
        }
    }

    fn take(&mut self, name: &str) -> Option<Json<'a>> {
        let index = self.0.iter().position(|(candidate, _)| candidate == name)?;
        Some(self.0.swap_remove(index).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::catalogue::Reason;

    const BODY: Spot<'_> = Spot::new(At::Body, &[]);

    fn fields(json: &str) -> Result<Fields<'_>, Fault> {
        Fields::of(Json::parse(json.as_bytes()).unwrap(), BODY, &["ips", "page"])
    }

    #[test]
    fn duplicates_and_strangers_are_seen() {
        assert_eq!(fields(r#"{"page":1,"page":1}"#).unwrap_err().reason, Reason::Repeated);
        let stranger = fields(r#"{"pages":1}"#).unwrap_err();
        assert_eq!(stranger.reason, Reason::Unknown);
        assert!(stranger.to_string().contains("did you mean `page`?"), "{stranger}");
        assert_eq!(fields("[]").unwrap_err().reason, Reason::Invalid);
    }

    #[test]
    fn one_value_and_nothing_after_it() {
        for bad in ["", "{} {}", "{}x", "{", "\"\\ud800\"", "nul", "{\"a\":1,}", "1e999", "\u{feff}{}"] {
            assert!(Json::parse(bad.as_bytes()).is_err(), "{bad}");
        }
        assert!(Json::parse(b"\"\xff\"").is_err());
        assert!(Json::parse("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn omitted_null_and_value_stay_apart() {
        let group = |json: &str| fields(json).unwrap().tristate::<bool>("page", BODY).unwrap();
        assert_eq!(group("{}"), Tristate::Omitted);
        assert_eq!(group(r#"{"page":null}"#), Tristate::Null);
        assert_eq!(group(r#"{"page":true}"#), Tristate::Value(true));
    }
}
