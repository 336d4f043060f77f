//! Rate limits of tokens and addresses, if the operator sets any.

use std::{
    fmt,
    net::IpAddr,
    num::NonZeroU32,
    str::FromStr,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use governor::{
    Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};

use super::caller_states::{Caller, CallerKey, CallerStates};
use crate::{
    api::generated::OPERATIONS,
    domain::token::Token,
    edge::responding::{api_error::ApiError, error_code::ErrorCode},
    proxies::network,
};

/// Number of calls after which entries whose quota has fully refilled are evicted.
const SWEEP_EVERY: u32 = 4096;

/// A rate limit, written as `OPERATION:token|address:NUMBER/s|min|h[+BURST]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateRule {
    /// `operationId`; `None`, written `*`, for all operations together.
    pub operation: Option<String>,
    /// What is limited.
    pub subject: RateSubject,
    /// The rate.
    pub rate: Rate,
}

/// What a rate limit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateSubject {
    /// Each token, known or not.
    Token,
    /// Each IPv4 address, and each /64 network of IPv6 addresses.
    Address,
}

/// A number of calls per unit of time, evenly spread, plus a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate(Quota);

/// The text is not a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected OPERATION:token|address:NUMBER/s|min|h, optionally followed by +BURST, such as \
     `listStaticGroups:token:10/s+20` or `*:address:600/min`, with an operation of: {}",
    OPERATIONS.join(", ")
)]
pub struct RateError;

impl FromStr for RateRule {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let parts: Vec<&str> = text.split(':').collect();
        let [operation, subject, rate] = parts[..] else { return Err(RateError) };
        let subject = match subject {
            "token" => RateSubject::Token,
            "address" => RateSubject::Address,
            _ => return Err(RateError),
        };
        let operation = match operation {
            "*" => None,
            operation if OPERATIONS.contains(&operation) => Some(operation.to_owned()),
            _ => return Err(RateError),
        };
        Ok(Self { operation, subject, rate: rate.parse()? })
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let (number, rest) = text.split_once('/').ok_or(RateError)?;
        let (unit, more) = rest.split_once('+').unwrap_or((rest, "0"));
        let unit = Duration::from_secs(match unit {
            "s" => 1,
            "min" => 60,
            "h" => 3600,
            _ => return Err(RateError),
        });
        let number: NonZeroU32 = number.parse().map_err(|_| RateError)?;
        let burst = number.checked_add(more.parse().map_err(|_| RateError)?).ok_or(RateError)?;
        let quota = Quota::with_period(unit / number.get()).ok_or(RateError)?;
        Ok(Self(quota.allow_burst(burst)))
    }
}

/// The rate limits of a server, with the quotas that callers have used.
#[derive(Default)]
pub(crate) struct RateLimits(Vec<RateLimit>);

struct RateLimit {
    rule: RateRule,
    callers: RateLimiter<CallerKey, CallerStates, DefaultClock>,
    calls: AtomicU32,
}

impl RateLimits {
    pub(crate) fn new(rules: Vec<RateRule>) -> Self {
        let limit = |rule: RateRule| RateLimit {
            callers: RateLimiter::new(rule.rate.0, CallerStates::new(), DefaultClock::default()),
            calls: AtomicU32::new(0),
            rule,
        };
        Self(rules.into_iter().map(limit).collect())
    }

    /// Counts a call from this address.
    pub(crate) fn address(&self, operation: &str, ip: IpAddr) -> Result<(), ApiError> {
        self.count(operation, RateSubject::Address, ip, || Caller::Address(network(ip)))
    }

    /// Counts a call with this token from this address.
    pub(crate) fn token(&self, operation: &str, token: &Token, ip: IpAddr) -> Result<(), ApiError> {
        self.count(operation, RateSubject::Token, ip, || Caller::Token(*token.digest().as_bytes()))
    }

    fn count(
        &self,
        operation: &str,
        subject: RateSubject,
        ip: IpAddr,
        caller: impl Fn() -> Caller,
    ) -> Result<(), ApiError> {
        let counts = |limit: &&RateLimit| {
            limit.rule.subject == subject
                && limit.rule.operation.as_deref().is_none_or(|only| only == operation)
        };
        let key = || CallerKey { caller: caller(), address: network(ip) };
        self.0.iter().filter(counts).try_for_each(|limit| limit.count(&key()))
    }
}

impl RateLimit {
    fn count(&self, caller: &CallerKey) -> Result<(), ApiError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) % SWEEP_EVERY == SWEEP_EVERY - 1 {
            self.callers.retain_recent();
            self.callers.shrink_to_fit();
        }
        self.callers.check_key(caller).map_err(|until| {
            let wait = until.wait_time_from(self.callers.clock().now());
            // Zero would allow a retry at once.
            let retry_after = Some(wait.max(Duration::from_nanos(1)));
            let subject = match self.rule.subject {
                RateSubject::Token => "this token",
                RateSubject::Address => "this address",
            };
            let message =
                format!("The rate limit of {subject} is exceeded. Retry-After says when to try again.");
            ApiError { code: ErrorCode::Throttled, message, retry_after }
        })
    }
}

impl fmt::Debug for RateLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|limit| &limit.rule)).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;
    use crate::edge::admission::caller_states::MAX_CALLERS;

    fn limits(rules: &[&str]) -> RateLimits {
        RateLimits::new(rules.iter().map(|rule| rule.parse().unwrap()).collect())
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_ipv6_network_is_one_caller() {
        let limits = limits(&["*:address:1/h"]);
        assert!(limits.address("a", ip("2001:db8::1")).is_ok());
        assert!(limits.address("a", ip("2001:db8::ffff:1")).is_err());
        assert!(limits.address("a", ip("2001:db8:0:1::1")).is_ok());
    }

    #[test]
    fn callers_are_evicted() {
        let limits = limits(&["*:address:1000000/s"]);
        for number in 0..=SWEEP_EVERY {
            assert!(limits.address("a", Ipv4Addr::from_bits(number).into()).is_ok());
        }
        let kept = limits.0[0].callers.len();
        assert!(kept < SWEEP_EVERY as usize / 2, "{kept} callers are kept");
    }

    #[test]
    fn random_tokens_take_bounded_memory_and_lift_no_limit() {
        let limits = limits(&["*:token:60/h"]);
        let (attacker, other) = (ip("198.51.100.1"), ip("203.0.113.1"));
        let throttled = Token::new("throttled");
        assert!((0..60).all(|_| limits.token("a", &throttled, attacker).is_ok()));
        assert!(limits.token("a", &throttled, attacker).is_err());
        let mut rejected = 0;
        for number in 0..1_000_000 {
            rejected +=
                u32::from(limits.token("a", &Token::new(format!("random {number}")), attacker).is_err());
        }
        assert!(limits.0[0].callers.len() <= MAX_CALLERS);
        // All but those with a state of their own share the quota of the address.
        assert!(rejected > 900_000, "{rejected}");
        assert!(limits.token("a", &throttled, attacker).is_err(), "nobody makes the server forget a caller");
        assert!(limits.token("a", &throttled, other).is_err(), "a token is limited wherever it is sent from");
        // 4,096 states are shared: two addresses have the same one now and then, but not each of these.
        let fresh = |number: u8| {
            limits.token("a", &Token::new(format!("good {number}")), [203, 0, 113, number].into()).is_ok()
        };
        assert!((2..10).any(fresh), "other addresses keep their quota");
    }

    #[test]
    fn rates_are_parsed_strictly() {
        for text in [
            "",
            "a:token",
            "a:token:0/s",
            "a:token:1/d",
            "a:token:-1/s",
            "a:token:1/s+",
            "a:token:4294967295/s+1",
            "a:tokens:1/s",
            ":token:1/s",
            "a:token:1/s:x",
            "a:token:4294967295/s+4294967295",
        ] {
            assert_eq!(text.parse::<RateRule>(), Err(RateError), "{text}");
        }
        let error = "listGroups:token:1/s".parse::<RateRule>().unwrap_err().to_string();
        assert!(error.contains(", listStaticGroups, "), "{error}");
    }
}
