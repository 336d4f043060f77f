use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use reqwest::header::{HeaderMap, RETRY_AFTER};

use crate::Error;

/// When and how often a call is repeated. All operations are safe to repeat: they read, and an extraction keeps its
/// request id.
///
/// ```
/// use std::time::Duration;
/// use sallyport_client::RetryPolicy;
///
/// let patient = RetryPolicy { retries: 8, longest_wait: Duration::from_secs(120), ..RetryPolicy::default() };
/// assert_eq!(RetryPolicy::none().retries, 0);
/// # let _ = patient;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// How often a call is repeated after its first try.
    pub retries: u32,
    /// Wait before the first repetition; it doubles each time, with jitter. A service that asks for more is given more.
    pub first_wait: Duration,
    /// Longest wait, apart from jitter. A service that asks for a longer one ends the call with its error.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    /// Three repetitions, from a quarter of a second to half a minute.
    fn default() -> Self {
        Self { retries: 3, first_wait: Duration::from_millis(250), longest_wait: Duration::from_secs(30) }
    }
}

impl RetryPolicy {
    /// Never repeats.
    pub fn none() -> Self {
        Self { retries: 0, ..Self::default() }
    }

    /// How long to wait before repetition number `done + 1`, or `None` when `error` is final.
    pub(crate) fn wait(&self, done: u32, error: &Error) -> Option<Duration> {
        if done >= self.retries || !error.is_retryable() {
            return None;
        }
        let asked = error.retry_after().unwrap_or_default();
        let random = f64::from(u32::try_from(random() >> 32).unwrap_or(0)) / f64::from(u32::MAX);
        (asked <= self.longest_wait).then(|| self.backoff(done, asked, random))
    }

    /// Half of the doubled wait, or what the service asks for where that is more, and up to another half by `random`, from
    /// 0 to 1. Clients that are told the same, such as no wait or one date, do not stay in step.
    fn backoff(&self, done: u32, asked: Duration, random: f64) -> Duration {
        let factor = 2u32.saturating_pow(done);
        let half = self.first_wait.saturating_mul(factor).min(self.longest_wait) / 2;
        asked.max(half).saturating_add(half.mul_f64(random))
    }
}

/// How long the answer asks to wait: seconds, or until an HTTP date. A date in the past asks for no wait.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are still a wait, only longer than anyone has.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

/// A request number that nobody else has: 128 random bits.
pub(crate) fn new_request_id() -> String {
    format!("{:016x}{:016x}", random(), random())
}

/// The standard library's hasher takes its keys from the operating system's randomness.
fn random() -> u64 {
    RandomState::new().hash_one(0u8)
}

#[cfg(test)]
mod tests {
    use reqwest::{StatusCode, header::HeaderValue};

    use super::*;
    use crate::Rejection;

    fn headers(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))])
    }

    fn throttled(retry_after: Option<Duration>) -> Error {
        let status = StatusCode::TOO_MANY_REQUESTS;
        Error::Throttled(Box::new(Rejection {
            status,
            code: None,
            message: String::new(),
            request_id: None,
            retry_after,
        }))
    }

    #[test]
    fn retry_after_comes_in_two_forms() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (value, expected) in [
            ("0", Some(0)),
            (" 7 ", Some(7)),
            ("99999999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:49:07 GMT", Some(0)),
            ("-1", None),
            ("", None),
            ("soon", None),
        ] {
            assert_eq!(retry_after(&headers(value), now), expected.map(Duration::from_secs), "{value}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), now), None);
    }

    #[test]
    fn the_service_is_obeyed_up_to_the_longest_wait() {
        let policy = RetryPolicy::default();
        let wait = |seconds| policy.wait(0, &throttled(Some(Duration::from_secs(seconds))));
        let most = Duration::from_secs(30) + policy.first_wait / 2;
        assert!(wait(30).is_some_and(|wait| wait >= Duration::from_secs(30) && wait <= most));
        assert_eq!(wait(31), None);
    }

    #[test]
    fn a_service_that_asks_for_no_wait_is_left_the_backoff() {
        let policy = RetryPolicy { retries: 40, ..RetryPolicy::default() };
        for done in 0..40 {
            let full = policy.first_wait.saturating_mul(2u32.saturating_pow(done)).min(policy.longest_wait);
            let wait = policy.wait(done, &throttled(Some(Duration::ZERO))).unwrap();
            assert!(wait >= full / 2 && wait <= full, "{done}: {wait:?}");
        }
        assert_eq!(policy.wait(40, &throttled(Some(Duration::ZERO))), None);
    }

    #[test]
    fn clients_that_are_told_the_same_do_not_stay_in_step() {
        let policy = RetryPolicy::default();
        for seconds in [0, 1, 30] {
            let asked = Duration::from_secs(seconds);
            let waits = [0.0, 0.5, 1.0].map(|random| policy.backoff(1, asked, random));
            assert_eq!(waits[0], asked.max(policy.first_wait));
            assert_eq!(waits[1], waits[0] + policy.first_wait / 2);
            assert_eq!(waits[2], waits[0] + policy.first_wait);
        }
    }

    #[test]
    fn waits_double_stay_within_their_bounds_and_end() {
        let policy = RetryPolicy { retries: 40, ..RetryPolicy::default() };
        for done in 0..40 {
            let full = policy.first_wait.saturating_mul(2u32.saturating_pow(done)).min(policy.longest_wait);
            let wait = policy.wait(done, &throttled(None)).unwrap();
            assert!(wait >= full / 2 && wait <= full, "{done}: {wait:?}");
        }
        assert_eq!(policy.wait(40, &throttled(None)), None);
    }

    #[test]
    fn what_cannot_help_is_not_repeated() {
        assert_eq!(RetryPolicy::none().wait(0, &throttled(None)), None);
        assert_eq!(RetryPolicy::default().wait(0, &Error::configuration("x")), None);
    }

    #[test]
    fn request_ids_differ() {
        let ids: std::collections::HashSet<String> = (0..1000).map(|_| new_request_id()).collect();
        assert_eq!(ids.len(), 1000);
    }
}
