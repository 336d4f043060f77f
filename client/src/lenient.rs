//! Reading what services send in place of what the contract says, as long as the meaning is certain.

use std::fmt;

use serde::{
    Deserializer,
    de::{self, Visitor},
};

/// A whole number, perhaps as decimal text.
pub(crate) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer
        .deserialize_any(Whole)
        .and_then(|number| number.ok_or_else(|| de::Error::custom("expected a number, got null")))
}

/// A whole number, perhaps as decimal text, or null.
pub(crate) fn optional_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    deserializer.deserialize_any(Whole)
}

/// Headers of an answer.
pub(crate) mod header {
    use reqwest::header::HeaderMap;

    /// The header as a whole number, if it is one.
    pub(crate) fn integer(headers: &HeaderMap, name: &str) -> Option<i64> {
        headers.get(name)?.to_str().ok()?.trim().parse().ok()
    }

    /// The header as text, if it is visible ASCII.
    pub(crate) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
        headers.get(name)?.to_str().ok().map(str::to_owned)
    }
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = Option<i64>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a whole number of 64 bits, or its decimal text")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        i64::try_from(value).map(Some).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        value.trim().parse().map(Some).map_err(|_| E::invalid_value(de::Unexpected::Str(value), &self))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Numbers {
        #[serde(deserialize_with = "integer")]
        port: i64,
        #[serde(default, deserialize_with = "optional_integer")]
        group: Option<i64>,
    }

    #[test]
    fn numbers_come_as_numbers_or_as_text() {
        for (text, port, group) in [
            (r#"{"port": 80, "group": 7}"#, 80, Some(7)),
            (r#"{"port": "80", "group": "7"}"#, 80, Some(7)),
            (r#"{"port": -1, "group": null}"#, -1, None),
            (r#"{"port": 0}"#, 0, None),
        ] {
            let numbers: Numbers = serde_json::from_str(text).unwrap();
            assert_eq!((numbers.port, numbers.group), (port, group), "{text}");
        }
        for text in [
            r#"{"port": null}"#,
            r#"{"port": "http"}"#,
            r#"{"port": 1.5}"#,
            r#"{"port": 18446744073709551615}"#,
        ] {
            assert!(serde_json::from_str::<Numbers>(text).is_err(), "{text}");
        }
    }
}
