// Durations, counts and sizes come from the target here.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use std::time::{Duration, SystemTime};

/// The value of a `Retry-After` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// A number of seconds.
    Delay(Duration),
    /// A date.
    At(SystemTime),
}

impl RetryAfter {
    /// Parses the header's value (RFC 9110, section 10.2.3). None if it is neither a number of seconds nor an HTTP date.
    pub fn parse(value: &str) -> Option<Self> {
        let value = value.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that does not fit is longer than any wait.
            return Some(Self::Delay(Duration::from_secs(value.parse().unwrap_or(u64::MAX))));
        }
        httpdate::parse_http_date(value).map(Self::At).ok()
    }

    /// Time to wait; zero for a date in the past. A date is compared with the `Date` of the same response, so that the clock of
    /// this machine does not matter, and with `now` if the response has no valid one.
    pub fn delay(self, date: Option<&str>, now: SystemTime) -> Duration {
        match self {
            Self::Delay(delay) => delay,
            Self::At(time) => {
                let sent = date.and_then(|date| httpdate::parse_http_date(date.trim()).ok());
                time.duration_since(sent.unwrap_or(now)).unwrap_or_default()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates_are_valid() {
        for (text, seconds) in [("2", 2), (&"9".repeat(30), u64::MAX)] {
            assert_eq!(RetryAfter::parse(text), Some(RetryAfter::Delay(Duration::from_secs(seconds))));
        }
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let date = RetryAfter::parse("Sun, 06 Nov 1994 08:49:37 GMT").expect("an HTTP date");
        assert_eq!(date.delay(None, now), Duration::from_secs(7));
        assert_eq!(date.delay(None, now + Duration::from_secs(60)), Duration::ZERO);
        for wrong in ["", "soon", "-1", "1.5", "2026-01-01T00:00:00Z"] {
            assert_eq!(RetryAfter::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_date_is_compared_with_the_clock_of_the_service() {
        let until = RetryAfter::parse("Sun, 06 Nov 1994 08:49:37 GMT").expect("an HTTP date");
        let sent = Some(" Sun, 06 Nov 1994 08:49:34 GMT ");
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        for now in [0, 784_111_770, 4_000_000_000].map(at) {
            assert_eq!(until.delay(sent, now), Duration::from_secs(3), "our clock does not matter");
            assert_eq!(until.delay(Some("Sun, 06 Nov 1994 08:50:00 GMT"), now), Duration::ZERO);
        }
        let now = at(784_111_770);
        assert_eq!(until.delay(Some("today"), now), Duration::from_secs(7), "an invalid Date is ignored");
        assert_eq!(RetryAfter::Delay(Duration::from_secs(2)).delay(sent, now), Duration::from_secs(2));
    }
}
