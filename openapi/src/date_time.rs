//! `format: date-time`: RFC 3339 with a time zone, at full precision.

use jiff::{Timestamp, civil};
use serde::{Deserialize, Deserializer, de::Error};

/// What a text must be, for messages.
pub const EXPECTED: &str = "an RFC 3339 date and time with a time zone, such as 2026-01-31T08:00:00Z";

/// Number of fraction digits that are kept. RFC 3339 allows any number; the rest is truncated.
const FRACTION_DIGITS: usize = 9;

/// An instant as requests send it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DateTime(pub Timestamp);

impl<'de> Deserialize<'de> for DateTime {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        parse(&text).map(Self).ok_or_else(|| Error::custom(format!("expected {EXPECTED}")))
    }
}

/// The instant of a text; `None` where it is not RFC 3339 with a time zone.
///
/// jiff accepts more than RFC 3339 (a space for `T`, shorter offsets, annotations), so the shape is checked
/// first. jiff's last instant is 26 hours before the end of year 9999, which callers send as an open end, so later instants
/// become the last one.
#[must_use]
pub fn parse(text: &str) -> Option<Timestamp> {
    let (time, fraction, zone) = parts(text)?;
    let kept = fraction.get(..FRACTION_DIGITS).unwrap_or(fraction);
    let local = if kept.is_empty() { time.to_owned() } else { format!("{time}.{kept}") };
    match format!("{local}{zone}").parse() {
        Ok(instant) => Some(instant),
        // The day exists and the zone is well-formed, and no year before 0 can be written, so the instant is too late for jiff.
        Err(_) => local.parse::<civil::DateTime>().ok().map(|_| Timestamp::MAX),
    }
}

/// Time, fraction digits and zone of a `date-time` by RFC 3339, section 5.6. Does not check whether the day exists.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let (time, rest) = text.split_at_checked("0000-00-00T00:00:00".len())?;
    let (fraction, zone) = match rest.strip_prefix('.') {
        None => ("", rest),
        Some(rest) => {
            let end = rest.bytes().take_while(u8::is_ascii_digit).count();
            rest.split_at_checked(end).filter(|(fraction, _)| !fraction.is_empty())?
        }
    };
    let right = matches_shape(time.as_bytes(), b"0000-00-00T00:00:00") && is_zone(zone.as_bytes());
    right.then_some((time, fraction, zone))
}

/// `Z`, or an offset of at most 23:59.
fn is_zone(zone: &[u8]) -> bool {
    match zone {
        [b'+' | b'-', hours @ .., b':', tens, _]
            if matches_shape(zone, b"+00:00") || matches_shape(zone, b"-00:00") =>
        {
            hours <= b"23".as_slice() && *tens <= b'5'
        }
        _ => matches_shape(zone, b"Z"),
    }
}

/// Whether `text` matches `shape`, in which 0 stands for any digit and a letter for itself in either case.
fn matches_shape(text: &[u8], shape: &[u8]) -> bool {
    text.len() == shape.len()
        && text.iter().zip(shape).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            wanted => byte.eq_ignore_ascii_case(wanted),
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{parse as read, *};

    #[test]
    fn each_text_is_an_instant_or_none() {
        for row in include_str!("date_times.txt").lines().filter(|row| !row.starts_with('#')) {
            let (text, expected) = row.split_once(" → ").unwrap();
            let found = read(text.trim_matches('"'));
            let last = found == Some(Timestamp::MAX);
            let found = found.map_or("none".to_owned(), |instant| instant.to_string());
            assert_eq!(if last { "last" } else { &found }, expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_instant_is_read_with_every_offset(
            second in -62_135_596_800_i64..253_370_764_800,
            nanosecond in 0..1_000_000_000,
            offset in -86_340..=86_340,
        ) {
            let instant = Timestamp::new(second, nanosecond).unwrap();
            // An offset has whole minutes.
            let offset = jiff::tz::Offset::from_seconds(offset / 60 * 60).unwrap();
            prop_assert_eq!(read(&instant.display_with_offset(offset).to_string()), Some(instant));
        }
    }
}
