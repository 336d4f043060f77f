//! RFC 3339 date-times, read strictly, to nanoseconds since 1970.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use serde::Serialize;

/// An instant and how it was written.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Time {
    pub(crate) text: String,
    pub(crate) nanos: i128,
}

impl Time {
    /// The instant so many nanoseconds after 1970, in UTC, with a fraction when it has one.
    pub(crate) fn from_nanos(nanos: i128) -> Self {
        Self { text: timestamp(nanos).to_string(), nanos }
    }
}

/// An instant as it is written two hours east.
pub(super) fn east(nanos: i128) -> String {
    timestamp(nanos).display_with_offset(jiff::tz::offset(2)).to_string()
}

fn timestamp(nanos: i128) -> jiff::Timestamp {
    jiff::Timestamp::from_nanosecond(nanos).expect("a time of these centuries")
}

/// A text in the form of a date-time, whose numbers may be out of range.
#[derive(Default)]
pub(crate) struct Parts<'a> {
    /// `2026-03-01T12:00:00`
    pub(crate) moment: &'a str,
    /// `.25`, or nothing.
    pub(crate) fraction: &'a str,
    /// `Z` or `+02:00`.
    pub(crate) zone: &'a str,
}

impl<'a> Parts<'a> {
    pub(crate) fn of(text: &'a str) -> Option<Self> {
        let (moment, rest) = text.split_at_checked("2026-03-01T12:00:00".len())?;
        let end = match rest.strip_prefix('.') {
            Some(rest) => 1 + rest.find(|c: char| !c.is_ascii_digit()).filter(|at| *at > 0)?,
            None => 0,
        };
        let (fraction, zone) = rest.split_at(end);
        let is_zone = zone.eq_ignore_ascii_case("z") || has_form(zone, "+00:00") || has_form(zone, "-00:00");
        (has_form(moment, "0000-00-00T00:00:00") && is_zone).then_some(Self { moment, fraction, zone })
    }
}

/// Whether a text has a digit for each 0 of the form, and is like it otherwise.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(c, wanted): (char, char)| {
        if wanted == '0' { c.is_ascii_digit() } else { c.eq_ignore_ascii_case(&wanted) }
    };
    text.chars().count() == form.len() && text.chars().zip(form.chars()).all(fits)
}

pub(crate) fn parse(text: &str) -> Option<i128> {
    let Parts { moment, fraction, zone } = Parts::of(text)?;
    let moment: DateTime = moment.to_ascii_uppercase().parse().ok()?;
    let utc = TimeZone::UTC.to_timestamp(moment).ok()?.as_nanosecond();
    let east = match zone.split_once(':') {
        Some((hours, minutes)) => {
            let (hours, minutes): (i128, i128) = (hours[1..].parse().ok()?, minutes.parse().ok()?);
            let seconds = (hours < 24 && minutes < 60).then_some(hours * 3600 + minutes * 60)?;
            if zone.starts_with('-') { -seconds } else { seconds }
        }
        None => 0,
    };
    let nanos: i128 = format!("{:0<9.9}", fraction.trim_start_matches('.')).parse().ok()?;
    Some(utc - east * 1_000_000_000 + nanos)
}
