use std::{
    hash::{BuildHasher, RandomState},
    time::{Duration, SystemTime},
};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use crate::Error;

/// When and how often a failed request is retried: exponential backoff with jitter, and never before the response's
/// `Retry-After`.
///
/// All present operations can be repeated safely: two only read, and an extraction keeps its request id. An operation that
/// must not be repeated (`x-retry: never` in the document) is retried only where the service has certainly done nothing:
/// after HTTP 429, when no connection was established, and when the token source failed.
///
/// A request on a connection that was kept alive and that the service has closed is repeated at once on a fresh one, where the
/// operation can be repeated. That is no retry, and no policy limits it. All calls of a client and its clones share 100 retries, of which
/// every success returns a tenth, so that a service that is down is not kept down; those that wait for `Retry-After` are free.
///
/// ```
/// use std::time::Duration;
/// use sallyport_client::RetryPolicy;
///
/// let impatient = RetryPolicy { max_retry_after: Some(Duration::from_secs(5)), ..RetryPolicy::default() };
/// assert_eq!(RetryPolicy::none().max_retries, 0);
/// # let _ = impatient;
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Maximum number of retries after the first request. Default: 3.
    pub max_retries: u32,
    /// Backoff before the first retry; doubled before each further one. The actual wait is random, from half of it to all
    /// of it. Default: 250 ms.
    pub initial_backoff: Duration,
    /// Maximum backoff. It does not limit `Retry-After`. Default: 30 s.
    pub max_backoff: Duration,
    /// Maximum `Retry-After` that is waited for; a longer one ends the call with its error at once. Default: `None`, so
    /// that only [`total_timeout`](crate::ClientBuilder::total_timeout) limits the wait.
    pub max_retry_after: Option<Duration>,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_retries: 3,
            initial_backoff: Duration::from_millis(250),
            max_backoff: Duration::from_secs(30),
            max_retry_after: None,
        }
    }
}

impl RetryPolicy {
    /// No retries.
    pub fn none() -> Self {
        Self { max_retries: 0, ..Self::default() }
    }

    /// How long to wait before retry number `done + 1`; `None` when `error` is final.
    pub(crate) fn wait(&self, done: u32, error: &Error) -> Option<Duration> {
        if done >= self.max_retries || !error.is_retryable() {
            return None;
        }
        let retry_after = error.retry_after().unwrap_or_default();
        let random = f64::from(u32::try_from(random() >> 32).unwrap_or(0)) / f64::from(u32::MAX);
        let is_too_long = self.max_retry_after.is_some_and(|limit| retry_after > limit);
        (!is_too_long).then(|| self.backoff(done, retry_after, random))
    }

    /// Half of the backoff, or `Retry-After` where that is more, plus up to half of the backoff by `random`, from 0 to 1:
    /// clients that receive the same `Retry-After`, such as 0 or one date, must not retry at the same moment.
    fn backoff(&self, done: u32, retry_after: Duration, random: f64) -> Duration {
        let factor = 2u32.saturating_pow(done);
        let half = self.initial_backoff.saturating_mul(factor).min(self.max_backoff) / 2;
        retry_after.max(half).saturating_add(half.mul_f64(random))
    }
}

/// The `Retry-After` of a response: seconds, or the time until an HTTP date; zero for a date in the past.
///
/// A date is compared with the response's own `Date`, so that the clock of this machine does not matter, and with `now`
/// when there is none.
pub(crate) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // A number that does not fit is still a wait, only a very long one.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let sent = headers.get(DATE).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?.trim()).ok());
    let now = sent.unwrap_or(now);
    Some(until.duration_since(now).unwrap_or_default())
}

/// A random request id of 128 bits, in hexadecimal, for [`Extract::request_id`](crate::Extract::request_id).
///
/// The client makes one by itself; use this to store the id before the extraction is sent, so that it can be repeated after
/// a crash.
///
/// ```
/// assert_eq!(sallyport_client::new_request_id().len(), 32);
/// assert_ne!(sallyport_client::new_request_id(), sallyport_client::new_request_id());
/// ```
pub fn new_request_id() -> String {
    format!("{:016x}{:016x}", random(), random())
}

/// The keys of the standard library's hasher are random numbers of the operating system.
fn random() -> u64 {
    RandomState::new().hash_one(0u8)
}

#[cfg(test)]
mod tests {
    use reqwest::{StatusCode, header::HeaderValue};

    use super::*;
    use crate::{Rejection, testing};

    fn headers(value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(value))])
    }

    fn throttled(retry_after: Option<Duration>) -> Error {
        let rejection = testing::rejection(StatusCode::TOO_MANY_REQUESTS, "");
        Error::Throttled(Box::new(Rejection { retry_after, ..rejection }))
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
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
    fn a_date_is_relative_to_the_date_of_the_response() {
        let fast_clock = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777 + 3600);
        let mut headers = headers("Sun, 06 Nov 1994 08:50:07 GMT");
        assert_eq!(retry_after(&headers, fast_clock), Some(Duration::ZERO));
        headers.insert(DATE, HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"));
        assert_eq!(retry_after(&headers, fast_clock), Some(Duration::from_secs(30)));
        headers.insert(DATE, HeaderValue::from_static("today"));
        assert_eq!(retry_after(&headers, fast_clock), Some(Duration::ZERO), "our own clock");
    }

    #[test]
    fn retry_after_is_limited_by_the_policy_only_where_it_says_so() {
        let seconds = Duration::from_secs;
        let wait = |policy: &RetryPolicy, asked| policy.wait(0, &throttled(Some(seconds(asked))));
        let policy = RetryPolicy { max_retry_after: Some(seconds(30)), ..RetryPolicy::default() };
        let max = seconds(30) + policy.initial_backoff / 2;
        assert!(wait(&policy, 30).is_some_and(|wait| wait >= seconds(30) && wait <= max));
        assert_eq!(wait(&policy, 31), None);
        assert!(wait(&RetryPolicy::default(), 90).is_some_and(|wait| wait >= seconds(90)));
    }

    #[test]
    fn jitter_spreads_clients_with_the_same_retry_after() {
        let policy = RetryPolicy::default();
        for seconds in [0, 1, 30] {
            let retry_after = Duration::from_secs(seconds);
            let waits = [0.0, 0.5, 1.0].map(|random| policy.backoff(1, retry_after, random));
            assert_eq!(waits[0], retry_after.max(policy.initial_backoff));
            assert_eq!(waits[1], waits[0] + policy.initial_backoff / 2);
            assert_eq!(waits[2], waits[0] + policy.initial_backoff);
        }
    }

    #[test]
    fn backoff_doubles_up_to_its_maximum_and_counts_for_a_retry_after_of_zero() {
        let policy = RetryPolicy { max_retries: 40, ..RetryPolicy::default() };
        for error in [throttled(None), throttled(Some(Duration::ZERO))] {
            for done in 0..40 {
                let full =
                    policy.initial_backoff.saturating_mul(2u32.saturating_pow(done)).min(policy.max_backoff);
                let wait = policy.wait(done, &error).unwrap();
                assert!(wait >= full / 2 && wait <= full, "{done}: {wait:?}");
            }
            assert_eq!(policy.wait(40, &error), None);
        }
    }
}
