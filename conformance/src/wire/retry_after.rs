// Durations, counts and sizes come from the target here.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use std::time::{Duration, SystemTime};

/// The time that the value of a `Retry-After` header asks to wait (RFC 9110, section 10.2.3); zero for a date in the past. None if it is
/// neither a number of seconds nor an HTTP date. A date is compared with the `Date` of the same response, so that the clock of this
/// machine does not matter, and with `now` if the response has no valid one.
pub(crate) fn retry_after(value: &str, date: Option<&str>, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is longer than any wait.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(value).ok()?;
    let sent = date.and_then(|date| httpdate::parse_http_date(date.trim()).ok());
    Some(until.duration_since(sent.unwrap_or(now)).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_valid_and_the_clock_of_the_service_counts() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let (until, longest) = ("Sun, 06 Nov 1994 08:49:37 GMT", "9".repeat(30));
        for (value, date, clock, seconds) in [
            ("2", None, 0, Some(2)),
            (&longest, None, 0, Some(u64::MAX)),
            (until, None, 0, Some(7)),
            (until, None, 60, Some(0)),
            (until, Some(" Sun, 06 Nov 1994 08:49:34 GMT "), 1 << 31, Some(3)),
            (until, Some("Sun, 06 Nov 1994 08:50:00 GMT"), 0, Some(0)),
            // An invalid `Date` is ignored.
            (until, Some("today"), 0, Some(7)),
            ("2", Some(until), 0, Some(2)),
            ("", None, 0, None),
            ("soon", None, 0, None),
            ("-1", None, 0, None),
            ("1.5", None, 0, None),
            ("2026-01-01T00:00:00Z", None, 0, None),
        ] {
            let wait = retry_after(value, date, now + Duration::from_secs(clock));
            assert_eq!(wait.map(|wait| wait.as_secs()), seconds, "{value}, {date:?}, {clock}");
        }
    }
}
