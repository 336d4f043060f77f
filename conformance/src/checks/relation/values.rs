//! Compares values of fields by their meaning and not by their spelling.

use std::ops::Range;

use super::*;

/// Whether two values have the same meaning: times, addresses and numbers in any spelling, and lists in any order.
pub(crate) fn same(one: &Value, other: &Value) -> bool {
    one == other || canonical(one) == canonical(other)
}

/// A value in its canonical spelling. Lists are sorted, so that comparing long ones takes little more than linear time.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Number(number) => number.as_f64().filter(|_| !number.is_i64()).map_or_else(
            || value.clone(),
            |float| {
                let is_whole = float.fract() == 0.0 && float.abs() < i64::MAX as f64;
                if is_whole { Value::from(float as i64) } else { Value::from(float) }
            },
        ),
        Value::String(text) => match (text.parse::<IpAddr>(), instant(text)) {
            (Ok(address), _) => address.to_canonical().to_string().into(),
            (_, Some(instant)) => instant.to_string().into(),
            _ => value.clone(),
        },
        Value::Array(elements) => {
            let mut elements: Vec<Value> = elements.iter().map(canonical).collect();
            elements.sort_by_cached_key(Value::to_string);
            elements.into()
        }
        Value::Object(members) => {
            let mut members: serde_json::Map<String, Value> =
                members.iter().map(|(name, value)| (name.clone(), canonical(value))).collect();
            members.sort_keys();
            Value::Object(members)
        }
        Value::Null | Value::Bool(_) => value.clone(),
    }
}

/// The instant of an RFC 3339 date-time; none for a finer one than a nanosecond, which can't be compared or sent as a bound.
pub(crate) fn instant(text: &str) -> Option<Timestamp> {
    let (instant, is_exact) = nanosecond(text)?;
    is_exact.then_some(instant)
}

/// The same truncated to nanoseconds, and whether that is exact. A leap second is inexact, and becomes the last nanosecond before it.
pub(crate) fn nanosecond(text: &str) -> Option<(Timestamp, bool)> {
    const DIGITS: usize = 9;
    const LEAP_SECOND: Range<usize> = 16..19;
    if text.get(LEAP_SECOND) == Some(":60") {
        // The parser reads a leap second as the second before it.
        let last: Timestamp = text.parse().ok()?;
        let end = SignedDuration::from_nanos(999_999_999 - i64::from(last.subsec_nanosecond()));
        return Some((last.checked_add(end).ok()?, false));
    }
    let exact = || Some((text.parse().ok()?, true));
    let Some((whole, rest)) = text.split_once('.') else { return exact() };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits <= DIGITS {
        return exact();
    }
    let (fraction, zone) = rest.split_at(digits);
    let (kept, further) = fraction.split_at(DIGITS);
    let begun = format!("{whole}.{kept}{zone}").parse().ok()?;
    Some((begun, further.bytes().all(|digit| digit == b'0')))
}

/// Whether a value of the console is equal to the value in a response. Values from CSV are text: empty for null, digits for a
/// number, and a list separates its elements by commas, semicolons, spaces or bars.
pub(crate) fn agrees(known: &Value, shown: &Value) -> bool {
    let (Value::String(text), false) = (known, shown.is_string()) else { return same(known, shown) };
    match shown {
        Value::Null => text.is_empty() || text == "null",
        Value::Array(elements) => {
            let known = text.split([',', ';', ' ', '|']).filter(|part| !part.is_empty());
            let known: BTreeSet<String> = known.map(str::to_owned).collect();
            let text = |element: &Value| element.as_str().map_or_else(|| element.to_string(), str::to_owned);
            known == elements.iter().map(text).collect()
        }
        _ => serde_json::from_str::<Value>(text).is_ok_and(|known| same(&known, shown)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_is_the_same_in_another_spelling() {
        for (one, other) in [
            (json!("2001:DB8::7"), json!("2001:db8:0:0:0:0:0:7")),
            (json!(37), json!(37.0)),
            (json!("2026-01-01T02:00:00+02:00"), json!("2026-01-01T00:00:00.000z")),
            (json!("2026-01-01T00:00:00.1234567890000-03:30"), json!("2026-01-01t03:30:00.123456789z")),
            (json!(["http", "socks5"]), json!(["socks5", "http"])),
            (json!({"a": 1, "b": null}), json!({"b": null, "a": 1})),
            (json!([{"a": 1, "b": 9}, {"a": 2, "b": 3}]), json!([{"b": 9, "a": 1}, {"b": 3, "a": 2}])),
            (json!([[2, 1], "x", {"a": [3, 4.0]}]), json!([{"a": [4, 3]}, [1, 2], "x"])),
        ] {
            assert!(same(&one, &other), "{one} and {other}");
        }
        for (one, other) in [
            (json!("2001:db8::7"), json!("2001:db8::8")),
            (json!(9_007_199_254_740_993_i64), json!(9_007_199_254_740_992_i64)),
            (json!(37), json!("37")),
            (json!(["http"]), json!(["http", "http"])),
            (json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!("2026-01-01T00:00:00.1234567891Z"), json!("2026-01-01T00:00:00.1234567892Z")),
            (json!(null), json!("")),
        ] {
            assert!(!same(&one, &other), "{one} and {other}");
        }
    }

    #[test]
    fn a_leap_second_is_after_all_others_of_its_minute() {
        let at = |text: &str| text.parse::<Timestamp>().expect("a time");
        for leap in ["2016-12-31T23:59:60Z", "2016-12-31T18:29:60.25-05:30"] {
            let (time, is_exact) = nanosecond(leap).expect("an instant");
            assert!(
                time > at("2016-12-31T23:59:59.9Z") && time < at("2017-01-01T00:00:00Z"),
                "{leap}: {time}"
            );
            assert!(!is_exact);
        }
    }

    #[test]
    fn values_of_csv_agree_with_values_of_json() {
        for (known, shown) in [
            (json!("7"), json!(7)),
            (json!(7), json!(7)),
            (json!(""), json!(null)),
            (json!("http, socks5"), json!(["socks5", "http"])),
            (json!("{}"), json!({})),
            (json!("true"), json!(true)),
        ] {
            assert!(agrees(&known, &shown), "{known} and {shown}");
        }
        for (known, shown) in [
            (json!("7"), json!(8)),
            (json!(""), json!(0)),
            (json!("USA"), json!("usa")),
            (json!("http"), json!(["socks5", "http"])),
            (json!("a text"), json!({})),
        ] {
            assert!(!agrees(&known, &shown), "{known} and {shown}");
        }
    }
}
