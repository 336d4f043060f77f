//! `format: date-time`: RFC 3339 with a time zone, at full precision.

use jiff::Timestamp;

use super::{
    fault::{Came, Fault, Spot},
    json::Json,
    value::{FromJson, FromText, from_json_string},
};

const EXPECTED: &str = "be an RFC 3339 date and time with a time zone, such as 2026-01-31T08:00:00Z, \
                        with at most nine digits of a second's fraction";

impl FromText for Timestamp {
    fn from_text(text: &str, spot: Spot<'_>) -> Result<Self, Fault> {
        // jiff reads more than RFC 3339 (a space for `T`, shorter offsets, annotations), so the shape is looked at first.
        let instant = if is_rfc3339(text.as_bytes()) { text.parse().ok() } else { None };
        instant.ok_or_else(|| spot.invalid("format", EXPECTED, Came::text(text)))
    }
}

impl FromJson for Timestamp {
    fn from_json(value: &Json, spot: Spot<'_>) -> Result<Self, Fault> {
        from_json_string(value, spot)
    }
}

/// Whether `text` has the shape of `date-time` in RFC 3339, section 5.6. Whether such a day exists is not looked at.
fn is_rfc3339(text: &[u8]) -> bool {
    let Some((time, rest)) = text.split_at_checked("0000-00-00T00:00:00".len()) else { return false };
    let zone = match rest.strip_prefix(b".") {
        None => rest,
        Some(fraction) => {
            let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            fraction.get(digits..).unwrap_or_default()
        }
    };
    fits(time, b"0000-00-00T00:00:00") && is_zone(zone)
}

/// `Z`, or an offset of at most 23:59.
fn is_zone(zone: &[u8]) -> bool {
    match zone {
        [b'+' | b'-', hours @ .., b':', _, _] if fits(zone, b"+00:00") || fits(zone, b"-00:00") => {
            hours <= b"23".as_slice()
        }
        _ => fits(zone, b"Z"),
    }
}

/// Whether `text` is like `shape`, in which 0 stands for any digit and a letter for itself in either case.
fn fits(text: &[u8], shape: &[u8]) -> bool {
    text.len() == shape.len()
        && text.iter().zip(shape).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            wanted => byte.eq_ignore_ascii_case(wanted),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::fault::At;

    fn read(text: &str) -> Option<Timestamp> {
        Timestamp::from_text(text, Spot::new(At::Field("activatedFrom"), &[])).ok()
    }

    #[test]
    fn every_spelling_of_an_instant_is_that_instant() {
        let instant = read("2026-01-31T08:00:00Z").unwrap();
        for same in [
            "2026-01-31t08:00:00z",
            "2026-01-31T10:30:00+02:30",
            "2026-01-31T08:00:00.000-00:00",
            "2026-01-31T07:59:00-00:01",
        ] {
            assert_eq!(read(same), Some(instant), "{same}");
        }
        let nano = read("2026-01-31T08:00:00.000000001Z").unwrap();
        assert_eq!((nano - instant).get_nanoseconds(), 1);
    }

    #[test]
    fn what_is_not_rfc_3339_is_refused() {
        for bad in [
            "",
            "2026-01-31",
            "2026-01-31T08:00:00",
            "2026-01-31T08:00Z",
            "2026-01-31 08:00:00Z",
            "2026-01-31T08:00:00+02",
            "2026-01-31T08:00:00+0200",
            "2026-01-31T08:00:00.Z",
            "2026-01-31T08:00:00.0000000001Z",
            "2026-02-30T08:00:00Z",
            "2026-01-31T24:00:00Z",
            "2026-01-31T08:00:00+24:00",
            "2026-01-31T08:00:00+02:60",
            "2026-01-31T08:00:00Z[UTC]",
            "+002026-01-31T08:00:00Z",
            "1769846400",
            " 2026-01-31T08:00:00Z",
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }
}
