use std::time::{Duration, SystemTime};

/// What a Retry-After header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter {
    /// So many seconds.
    Delay(Duration),
    /// Until then.
    At(SystemTime),
}

/// A Retry-After header that is neither seconds nor an HTTP date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected seconds or an HTTP date")]
pub struct RetryAfterError;

impl RetryAfter {
    /// Reads the header's value (RFC 9110, section 10.2.3).
    ///
    /// # Errors
    /// When it is neither `delay-seconds` nor an HTTP date.
    pub fn parse(value: &str) -> Result<Self, RetryAfterError> {
        let value = value.trim();
        if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
            // A number that does not fit is longer than any wait.
            return Ok(Self::Delay(Duration::from_secs(value.parse().unwrap_or(u64::MAX))));
        }
        httpdate::parse_http_date(value).map(Self::At).map_err(|_| RetryAfterError)
    }

    /// How long to wait; zero for a date in the past. A date is compared with the `Date` of the same response, so that the clock
    /// of this machine does not matter, and with `now` when the response has none that can be read.
    #[must_use]
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
    fn both_forms_are_read_and_nothing_else() {
        assert_eq!(RetryAfter::parse("2"), Ok(RetryAfter::Delay(Duration::from_secs(2))));
        assert_eq!(RetryAfter::parse(&"9".repeat(30)), Ok(RetryAfter::Delay(Duration::from_secs(u64::MAX))));
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        let date = RetryAfter::parse("Sun, 06 Nov 1994 08:49:37 GMT").expect("an HTTP date");
        assert_eq!(date.delay(None, now), Duration::from_secs(7));
        assert_eq!(date.delay(None, now + Duration::from_secs(60)), Duration::ZERO);
        for wrong in ["", "soon", "-1", "1.5", "2026-01-01T00:00:00Z"] {
            assert_eq!(RetryAfter::parse(wrong), Err(RetryAfterError), "{wrong}");
        }
    }

    #[test]
    fn a_date_is_read_against_the_clock_of_the_service() {
        let until = RetryAfter::parse("Sun, 06 Nov 1994 08:49:37 GMT").expect("an HTTP date");
        let sent = Some(" Sun, 06 Nov 1994 08:49:34 GMT ");
        for now in [0, 784_111_770, 4_000_000_000]
            .map(|seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        {
            assert_eq!(
                until.delay(sent, now),
                Duration::from_secs(3),
                "the clock of this machine does not matter"
            );
            assert_eq!(until.delay(Some("Sun, 06 Nov 1994 08:50:00 GMT"), now), Duration::ZERO);
        }
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_770);
        assert_eq!(
            until.delay(Some("today"), now),
            Duration::from_secs(7),
            "a Date that cannot be read is ignored"
        );
        assert_eq!(RetryAfter::Delay(Duration::from_secs(2)).delay(sent, now), Duration::from_secs(2));
    }
}
