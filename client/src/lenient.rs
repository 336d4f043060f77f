//! Lenient deserializers for values that some services send in another form than the contract's, where the meaning is
//! certain.

use std::{borrow::Cow, fmt};

use jiff::Timestamp;
use sallyport_contract::date_time;
use serde::{
    Deserialize, Deserializer,
    de::{self, Visitor},
};

/// An integer, or its decimal text.
pub(crate) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    deserializer
        .deserialize_any(Whole)
        .and_then(|number| number.ok_or_else(|| de::Error::custom("expected an integer, found null")))
}

/// An integer, its decimal text, or null.
pub(crate) fn optional_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    deserializer.deserialize_any(Whole)
}

/// A list of integers, each possibly as decimal text; null is an empty list.
pub(crate) fn integers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    let numbers = Option::<Vec<Number>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(numbers.into_iter().map(|Number(number)| number).collect())
}

/// A time of RFC 3339; see [`timestamp`].
pub(crate) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    read_time(&Cow::<str>::deserialize(deserializer)?)
}

/// A time of RFC 3339, or null.
pub(crate) fn optional_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    Option::<Cow<'de, str>>::deserialize(deserializer)?.map(|text| read_time(&text)).transpose()
}

/// Converts a number with a fraction of zero to an integer.
pub(crate) fn whole(number: f64) -> Option<i64> {
    /// Up to here `f64` represents every integer exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_exact = number.fract() == 0.0 && number.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the bounds of both types")]
    is_exact.then_some(number as i64)
}

/// Reads headers of a response.
pub(crate) mod header {
    use reqwest::header::HeaderMap;

    /// The header as an integer; `None` when it is absent or not one.
    pub(crate) fn integer(headers: &HeaderMap, name: &str) -> Option<i64> {
        headers.get(name)?.to_str().ok()?.trim().parse().ok()
    }

    /// The header as text; `None` when it is absent or not visible ASCII.
    pub(crate) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
        headers.get(name)?.to_str().ok().map(str::to_owned)
    }
}

struct Whole;

impl Visitor<'_> for Whole {
    type Value = Option<i64>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a 64-bit integer, or its decimal text")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Some(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Self::Value, E> {
        i64::try_from(value).map(Some).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(value), &self))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Self::Value, E> {
        whole(value).map(Some).ok_or_else(|| E::invalid_value(de::Unexpected::Float(value), &self))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Self::Value, E> {
        value.trim().parse().map(Some).map_err(|_| E::invalid_value(de::Unexpected::Str(value), &self))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

struct Number(i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        integer(deserializer).map(Self)
    }
}

fn read_time<E: de::Error>(text: &str) -> Result<Timestamp, E> {
    timestamp(text)
        .ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &"a time of RFC 3339 with its time zone"))
}

/// Parses a time. RFC 3339 allows more than [`Timestamp`] parses: the last hours of the year 9999, which stand for "never", become
/// the nearest time that it holds, and fractions finer than nanoseconds are truncated.
fn timestamp(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| date_time::parse(text))
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
            (r#"{"port": 80.0, "group": 1e3}"#, 80, Some(1000)),
        ] {
            let numbers: Numbers = serde_json::from_str(text).unwrap();
            assert_eq!((numbers.port, numbers.group), (port, group), "{text}");
        }
        for text in [
            r#"{"port": null}"#,
            r#"{"port": "http"}"#,
            r#"{"port": 1.5}"#,
            r#"{"port": 18446744073709551615}"#,
            r#"{"port": 1e300}"#,
        ] {
            assert!(serde_json::from_str::<Numbers>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lists_hold_numbers_in_any_form_and_null_is_an_empty_one() {
        #[derive(serde::Deserialize)]
        struct List(#[serde(deserialize_with = "integers")] Vec<i64>);
        for (text, expected) in [("[]", &[][..]), ("null", &[]), (r#"[30, "90", 7.0]"#, &[30, 90, 7])] {
            assert_eq!(serde_json::from_str::<List>(text).unwrap().0, expected, "{text}");
        }
        for text in ["[null]", r#"["month"]"#, "{}", "3"] {
            assert!(serde_json::from_str::<List>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_time_of_rfc_3339_is_read() {
        let held = |text: &str| text.parse::<Timestamp>().unwrap();
        for (text, expected) in [
            ("2026-01-31T08:00:00Z", held("2026-01-31T08:00:00Z")),
            ("2026-01-31T08:00:00.123456789012345+02:00", held("2026-01-31T06:00:00.123456789Z")),
            ("2016-12-31T23:59:60Z", held("2016-12-31T23:59:59Z")),
            ("9999-12-31T23:59:59Z", Timestamp::MAX),
        ] {
            assert_eq!(timestamp(text), Some(expected), "{text}");
        }
        for text in
            ["", "soon", "2026-01-31", "2026-01-31T08:00:00", "2026-13-01T00:00:00Z", "2026-01-31T08:00:00.Z"]
        {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_that_may_be_null_is_null_or_a_time() {
        #[derive(serde::Deserialize)]
        struct Times {
            #[serde(deserialize_with = "time")]
            at: Timestamp,
            #[serde(deserialize_with = "optional_time")]
            until: Option<Timestamp>,
        }
        let times: Times = serde_json::from_str(r#"{"at": "1970-01-01T00:00:00Z", "until": null}"#).unwrap();
        assert_eq!((times.at, times.until), (Timestamp::UNIX_EPOCH, None));
        assert!(serde_json::from_str::<Times>(r#"{"at": null, "until": null}"#).is_err());
        assert!(
            serde_json::from_str::<Times>(r#"{"at": "1970-01-01T00:00:00Z"}"#).is_err(),
            "it must be there"
        );
    }
}
