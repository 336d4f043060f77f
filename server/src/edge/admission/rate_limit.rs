//! Rate limits of tokens and addresses, if the operator sets any.

use std::{convert::Infallible, net::IpAddr, num::NonZeroU32, str::FromStr, sync::Arc, time::Duration};

use governor::{
    DefaultDirectRateLimiter, Quota, RateLimiter,
    clock::{Clock as _, DefaultClock},
};
use quick_cache::sync::Cache;

use crate::{
    domain::token::{Token, TokenDigest},
    edge::responding::{api_error::ApiError, error_code::ErrorCode},
    proxies::network,
};

/// Maximum number of callers of a rate that are remembered. Those that call again stay; of the others, the cache
/// forgets the oldest. A forgotten caller has its whole rate.
const MAX_CALLERS: usize = 1 << 16;

/// A rate limit, written as `OPERATION:token|address:NUMBER/s|min|h[+BURST]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateRule {
    /// `operationId`; `None`, written `*`, for all operations together.
    operation: Option<String>,
    subject: RateSubject,
    /// Calls per unit of time, evenly spread, plus the burst.
    quota: Quota,
}

/// What a rate limit applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RateSubject {
    /// Each token, known or not.
    Token,
    /// Each IPv4 address, and each /64 network of IPv6 addresses.
    Address,
}

/// The text is not a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected OPERATION:token|address:NUMBER/s|min|h, optionally followed by +BURST, such as \
     `listStaticGroups:token:10/s+20` or `*:address:600/min`, with an operation of: {}",
    operations().join(", ")
)]
pub struct RateError;

/// The `operationId` of every operation.
fn operations() -> Vec<&'static str> {
    sallyport_contract::operations().iter().map(|operation| operation.id.as_str()).collect()
}

impl FromStr for RateRule {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        let parts: Vec<&str> = text.split(':').collect();
        let [operation, subject, rate] = parts[..] else { return Err(RateError) };
        let operation = match operation {
            "*" => None,
            operation if operations().contains(&operation) => Some(operation.to_owned()),
            _ => return Err(RateError),
        };
        let subject = match subject {
            "token" => RateSubject::Token,
            "address" => RateSubject::Address,
            _ => return Err(RateError),
        };
        let (number, rest) = rate.split_once('/').ok_or(RateError)?;
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
        Ok(Self { operation, subject, quota: quota.allow_burst(burst) })
    }
}

/// The rate limits of a server, with the quotas that callers have used.
#[derive(Default)]
pub(crate) struct RateLimits(Vec<RateLimit>);

struct RateLimit {
    rule: RateRule,
    /// One for all: making one takes long on a virtual machine.
    clock: DefaultClock,
    callers: Cache<Caller, Arc<DefaultDirectRateLimiter>>,
}

/// The subject of a rate limit.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Caller {
    /// A token, which the store may not know.
    Token(TokenDigest),
    /// An IPv4 address or the /64 network of an IPv6 address.
    Address(IpAddr),
}

impl RateLimits {
    pub(crate) fn new(rules: Vec<RateRule>) -> Self {
        let clock = DefaultClock::default();
        let limit = |rule| RateLimit { rule, clock: clock.clone(), callers: Cache::new(MAX_CALLERS) };
        Self(rules.into_iter().map(limit).collect())
    }

    /// Counts a call from this address.
    pub(crate) fn address(&self, operation: &str, ip: IpAddr) -> Result<(), ApiError> {
        self.count(operation, RateSubject::Address, || Caller::Address(network(ip)))
    }

    /// Counts a call with this token.
    pub(crate) fn token(&self, operation: &str, token: &Token) -> Result<(), ApiError> {
        self.count(operation, RateSubject::Token, || Caller::Token(token.digest()))
    }

    fn count(
        &self,
        operation: &str,
        subject: RateSubject,
        caller: impl Fn() -> Caller,
    ) -> Result<(), ApiError> {
        let counts = |limit: &&RateLimit| {
            limit.rule.subject == subject
                && limit.rule.operation.as_deref().is_none_or(|only| only == operation)
        };
        self.0.iter().filter(counts).try_for_each(|limit| limit.count(&caller()))
    }
}

impl RateLimit {
    fn count(&self, caller: &Caller) -> Result<(), ApiError> {
        let unused = || {
            Ok::<_, Infallible>(Arc::new(RateLimiter::direct_with_clock(self.rule.quota, self.clock.clone())))
        };
        let Ok(caller) = self.callers.get_or_insert_with(caller, unused);
        caller.check().map_err(|until| {
            let wait = until.wait_time_from(self.clock.now());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(rule: &str) -> RateLimits {
        RateLimits::new(vec![rule.parse().unwrap()])
    }

    #[test]
    fn an_ipv6_network_is_one_caller() {
        let limits = limits("*:address:1/h");
        let call = |ip: &str| limits.address("a", ip.parse().unwrap()).is_ok();
        assert!(call("2001:db8::1") && !call("2001:db8::ffff:1") && call("2001:db8:0:1::1"));
    }

    #[test]
    fn random_tokens_take_bounded_memory_and_lift_no_limit_if_each_is_sent_once() {
        let limits = limits("*:token:60/h");
        let is_throttled = |token: &str| limits.token("a", &Token::new(token)).is_err();
        assert!((0..60).all(|_| !is_throttled("throttled")) && is_throttled("throttled"));
        for number in 0..500_000 {
            assert!(!is_throttled(&format!("random {number}")));
        }
        assert!(limits.0[0].callers.len() <= MAX_CALLERS);
        assert!(is_throttled("throttled"), "tokens that are sent once make the server forget nobody");
    }

    #[test]
    fn rates_are_parsed_strictly() {
        let rests = "token token:0/s token:1/d token:-1/s token:1/s+ token:4294967295/s token:4294967295/s+1 tokens:1/s \
                     token:1/s:x token:1/s/s token:1:s token/1/s";
        for rest in rests.split(' ') {
            assert_eq!(format!("*:{rest}").parse::<RateRule>(), Err(RateError), "{rest}");
        }
        assert_eq!(":token:1/s".parse::<RateRule>(), Err(RateError));
        let error = "listGroups:token:1/s".parse::<RateRule>().unwrap_err().to_string();
        assert!(error.contains(", listStaticGroups, "), "{error}");
    }
}
