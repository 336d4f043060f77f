//! Lenient deserializers for values that some services send in another form than the contract's, where the meaning is
//! certain.

use std::borrow::Cow;

use jiff::Timestamp;
use sallyport_contract::date_time;
use serde::{Deserialize, Deserializer, de};
use serde_json::Value;

/// An integer, or its decimal text.
pub(crate) fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let number = match &value {
        Value::Number(number) => whole(number),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| {
        de::Error::custom(format!("expected a 64-bit integer, or its decimal text, found {value}"))
    })
}

/// An integer, its decimal text, or null.
pub(crate) fn optional_integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Ok(Option::<Number>::deserialize(deserializer)?.map(|Number(number)| number))
}

/// A list of integers, each possibly as decimal text; null is an empty list.
pub(crate) fn integers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    let numbers = Option::<Vec<Number>>::deserialize(deserializer)?.unwrap_or_default();
    Ok(numbers.into_iter().map(|Number(number)| number).collect())
}

struct Number(i64);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        integer(deserializer).map(Self)
    }
}

/// A number as an integer, also where it is written with a fraction of zero.
pub(crate) fn whole(number: &serde_json::Number) -> Option<i64> {
    /// Up to here `f64` represents every integer exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let is_exact = |float: &f64| float.fract() == 0.0 && float.abs() <= EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "whole and within the bounds of both types")]
    number.as_i64().or_else(|| number.as_f64().filter(is_exact).map(|float| float as i64))
}

/// A time of RFC 3339; see [`read_time`].
pub(crate) fn time<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
    read_time(&Cow::<str>::deserialize(deserializer)?)
}

/// A time of RFC 3339, or null.
pub(crate) fn optional_time<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Timestamp>, D::Error> {
    Option::<Cow<'de, str>>::deserialize(deserializer)?.map(|text| read_time(&text)).transpose()
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

/// RFC 3339 allows more than [`Timestamp`] parses: the last hours of the year 9999, which stand for "never", become the nearest time
/// that it holds, and fractions finer than nanoseconds are truncated.
fn read_time<E: de::Error>(text: &str) -> Result<Timestamp, E> {
    let time = text.parse().ok().or_else(|| date_time::parse(text));
    time.ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &"a time of RFC 3339 with its time zone"))
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
        #[serde(default, deserialize_with = "integers")]
        days: Vec<i64>,
    }

    #[test]
    fn numbers_come_as_numbers_or_as_text() {
        for (text, port, group, days) in [
            (r#"{"port": 80, "group": 7, "days": []}"#, 80, Some(7), &[][..]),
            (r#"{"port": "80", "group": "7", "days": [30, "90", 7.0]}"#, 80, Some(7), &[30, 90, 7]),
            (r#"{"port": -1, "group": null, "days": null}"#, -1, None, &[]),
            (r#"{"port": 80.0, "group": 1e3}"#, 80, Some(1000), &[]),
        ] {
            let numbers: Numbers = serde_json::from_str(text).unwrap();
            assert_eq!((numbers.port, numbers.group, numbers.days.as_slice()), (port, group, days), "{text}");
        }
        for port in ["null", r#""http""#, "1.5", "18446744073709551615", "1e300"] {
            assert!(serde_json::from_str::<Numbers>(&format!(r#"{{"port": {port}}}"#)).is_err(), "{port}");
        }
        for days in ["[null]", r#"["month"]"#, "{}", "3"] {
            assert!(
                serde_json::from_str::<Numbers>(&format!(r#"{{"port": 1, "days": {days}}}"#)).is_err(),
                "{days}"
            );
        }
    }

    #[test]
    fn every_time_of_rfc_3339_is_read() {
        let held = |text: &str| text.parse::<Timestamp>().unwrap();
        let timestamp = |text| read_time::<de::value::Error>(text).ok();
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
