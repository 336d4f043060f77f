//! Numbers with their nouns, and numbers of arguments.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

/// A number with its noun, in the plural unless the number is one: "1 check", "0 requests", "2 entries".
pub fn quantity<N: Display + PartialEq + TryFrom<u8>>(count: N, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if N::try_from(1).is_ok_and(|one| count == one) => format!("{count} {noun}"),
        // Entries, but gateways.
        Some(stem) if !stem.ends_with('a') => format!("{count} {stem}ies"),
        _ if noun.ends_with('s') => format!("{count} {noun}es"),
        _ => format!("{count} {noun}s"),
    }
}

/// A parser of arguments: a whole number within bounds.
pub fn integer<T: FromStr>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        let number = number.and_then(|number: u64| number.to_string().parse().ok());
        number.ok_or_else(|| format!("expected an integer from {} to {}", range.start(), range.end()))
    }
}

/// A parser of times with a unit, such as `90s` and `15m`, from a number of seconds to another one.
pub fn time(min: u64, max: u64) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync + 'static {
    move |text| {
        let time = text.parse::<jiff::SignedDuration>().ok().and_then(|time| Duration::try_from(time).ok());
        let bounds = Duration::from_secs(min)..=Duration::from_secs(max);
        let in_hours = max.checked_div(3_600).unwrap_or_default();
        time.filter(|time| bounds.contains(time)).ok_or_else(|| {
            format!("expected a time from {min}s to {in_hours}h, for example 15m, found `{text}`")
        })
    }
}
