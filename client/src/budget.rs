use std::sync::atomic::{AtomicU32, Ordering};

use crate::Error;

/// What one retry costs, in the unit that a success gives back.
const RETRY: u32 = 10;

/// What a client has at the start, and at most: 100 retries.
const CAPACITY: u32 = 100 * RETRY;

/// Limits the retries of all calls of a client together, so that a service that is down is not kept down by retries: every retry
/// takes one from the budget, and every call that succeeds returns a tenth.
#[derive(Debug)]
pub(crate) struct RetryBudget(AtomicU32);

impl Default for RetryBudget {
    fn default() -> Self {
        Self(AtomicU32::new(CAPACITY))
    }
}

impl RetryBudget {
    /// Takes one retry after `error`; false when none is left. One that waits for the service's `Retry-After` costs nothing, because
    /// the service sets its pace.
    pub(crate) fn take(&self, error: &Error) -> bool {
        let less = |left: u32| left.checked_sub(RETRY);
        error.retry_after().is_some()
            || self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Returns a part of a retry after a success.
    pub(crate) fn refill(&self) {
        // Most calls find it full, and do not write.
        let more = |left: u32| (left < CAPACITY).then(|| left + 1);
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use reqwest::StatusCode;

    use super::*;
    use crate::{TransportError, testing};

    #[test]
    fn retries_cost_one_and_successes_return_a_tenth() {
        let interrupted = Error::Transport(Box::new(TransportError::new("reset")));
        let mut paced = testing::rejection(StatusCode::TOO_MANY_REQUESTS, "");
        paced.retry_after = Some(Duration::ZERO);
        let paced = Error::Throttled(Box::new(paced));
        let budget = RetryBudget::default();
        (0..1000).for_each(|_| budget.refill());
        let taken = (0..1000).filter(|_| budget.take(&interrupted)).count();
        assert_eq!(taken, 100, "it holds no more than at the start");
        assert!(budget.take(&paced), "what the service paces is free");
        (0..9).for_each(|_| budget.refill());
        assert!(!budget.take(&interrupted));
        budget.refill();
        assert!(budget.take(&interrupted) && !budget.take(&interrupted));
    }
}
