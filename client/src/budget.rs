use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::Error;

/// What one retry costs, in the unit that a success gives back.
const RETRY: u32 = 10;

/// Limits the retries of all calls of a client together, so that a service that is down is not kept down by retries: every
/// retry takes one from the budget, and every call that succeeds returns a tenth.
///
/// Without a retry left, a failed call ends at once with its error. A retry that waits for the service's `Retry-After` costs
/// nothing, because the service sets its pace. Clones share one budget, also between clients.
///
/// ```
/// use sallyport_client::{Client, RetryBudget};
///
/// let shared = RetryBudget::new(20);
/// let one = Client::builder().base_url("https://one.invalid").token("token").retry_budget(shared.clone()).build()?;
/// let two = Client::builder().base_url("https://two.invalid").token("token").retry_budget(shared.clone()).build()?;
/// assert_eq!(shared.remaining(), Some(20));
/// # let _ = (one, two);
/// # Ok::<(), sallyport_client::Error>(())
/// ```
#[derive(Clone)]
pub struct RetryBudget(Option<Arc<Bucket>>);

struct Bucket {
    capacity: u32,
    left: AtomicU32,
}

impl RetryBudget {
    /// A budget that holds at most this many retries, and holds them at the start.
    pub fn new(retries: u32) -> Self {
        let capacity = retries.saturating_mul(RETRY);
        Self(Some(Arc::new(Bucket { capacity, left: AtomicU32::new(capacity) })))
    }

    /// No limit but that of each call ([`RetryPolicy`](crate::RetryPolicy)).
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Number of retries left; `None` without a limit.
    pub fn remaining(&self) -> Option<u32> {
        self.0.as_ref().map(|bucket| bucket.left.load(Ordering::Relaxed) / RETRY)
    }

    /// Takes one retry after `error`; false when none is left.
    pub(crate) fn take(&self, error: &Error) -> bool {
        let Some(bucket) = self.0.as_ref().filter(|_| error.retry_after().is_none()) else { return true };
        let less = |left: u32| left.checked_sub(RETRY);
        bucket.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Returns a part of a retry after a success.
    pub(crate) fn refill(&self) {
        let Some(bucket) = &self.0 else { return };
        // Most calls find it full, and do not write.
        let more = |left: u32| (left < bucket.capacity).then(|| left + 1);
        let _ = bucket.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}

/// 100 retries.
impl Default for RetryBudget {
    fn default() -> Self {
        Self::new(100)
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remaining() {
            Some(left) => write!(out, "RetryBudget({left} left)"),
            None => out.write_str("RetryBudget(unlimited)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::StatusCode;

    use super::*;
    use crate::{TransportError, testing};

    fn interrupted() -> Error {
        Error::Transport(Box::new(TransportError::new("reset")))
    }

    #[test]
    fn retries_cost_one_and_successes_return_a_tenth() {
        let budget = RetryBudget::new(2);
        assert!(budget.take(&interrupted()) && budget.clone().take(&interrupted()));
        assert!(!budget.take(&interrupted()), "clones share it");
        (0..9).for_each(|_| budget.refill());
        assert!(!budget.take(&interrupted()));
        budget.refill();
        assert!(budget.take(&interrupted()));
        (0..1000).for_each(|_| budget.refill());
        assert_eq!(budget.remaining(), Some(2), "it holds no more than at the start");
    }

    #[test]
    fn what_the_service_paces_is_free() {
        let budget = RetryBudget::new(0);
        let mut rejection = testing::rejection(StatusCode::TOO_MANY_REQUESTS, "");
        rejection.retry_after = Some(Duration::ZERO);
        let throttled = Error::Throttled(Box::new(rejection));
        assert!(budget.take(&throttled) && !budget.take(&interrupted()));
        let unlimited = RetryBudget::unlimited();
        assert!(unlimited.take(&interrupted()) && unlimited.remaining().is_none());
    }
}
