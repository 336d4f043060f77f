use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;

/// Hard ceilings of a run. Reaching one ends it as incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Requests.
    pub requests: u64,
    /// Gateways that extractions may take.
    pub gateways: u64,
    /// From the first request on.
    pub wall: Duration,
    /// Checks at the same time.
    pub concurrency: usize,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Requests sent.
    pub requests: u64,
    /// Gateways asked for by extractions.
    pub gateways: u64,
}

/// Counts a run's use against its budget.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    begun: Instant,
    requests: AtomicU64,
    gateways: AtomicU64,
}

/// A ceiling was reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of {0} is used up")]
pub struct Exhausted(pub String);

impl Default for Budget {
    fn default() -> Self {
        Self { requests: 3_000, gateways: 2_000, wall: Duration::from_secs(600), concurrency: 8 }
    }
}

impl Meter {
    /// A meter that starts now.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget, begun: Instant::now(), requests: AtomicU64::new(0), gateways: AtomicU64::new(0) }
    }

    /// Takes one request, and the gateways it may cost, out of the budget.
    ///
    /// # Errors
    /// Names the ceiling that the request would break; nothing is taken then.
    pub fn take(&self, gateways: u64) -> Result<(), Exhausted> {
        let Budget { requests: most_requests, gateways: most_gateways, wall, .. } = self.budget;
        if self.begun.elapsed() >= wall {
            return Err(Exhausted(format!("{} s of wall time", wall.as_secs())));
        }
        add_within(&self.requests, 1, most_requests)
            .map_err(|()| Exhausted(format!("{most_requests} requests")))?;
        add_within(&self.gateways, gateways, most_gateways).map_err(|()| {
            self.requests.fetch_sub(1, Ordering::Relaxed);
            Exhausted(format!("{most_gateways} gateways"))
        })
    }

    /// Time left before the wall-time ceiling.
    #[must_use]
    pub fn time_left(&self) -> Duration {
        self.budget.wall.saturating_sub(self.begun.elapsed())
    }

    /// What was used so far.
    #[must_use]
    pub fn usage(&self) -> Usage {
        Usage {
            requests: self.requests.load(Ordering::Relaxed),
            gateways: self.gateways.load(Ordering::Relaxed),
        }
    }
}

fn add_within(counter: &AtomicU64, amount: u64, most: u64) -> Result<(), ()> {
    counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |used| {
            used.checked_add(amount).filter(|total| *total <= most)
        })
        .map(drop)
        .map_err(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(requests: u64, gateways: u64, wall: Duration) -> Meter {
        Meter::new(Budget { requests, gateways, wall, concurrency: 1 })
    }

    #[test]
    fn each_ceiling_holds_exactly() {
        let long = Duration::from_secs(60);
        let requests = meter(2, 0, long);
        assert_eq!((requests.take(0), requests.take(0)), (Ok(()), Ok(())));
        assert_eq!(requests.take(0), Err(Exhausted("2 requests".to_owned())));

        let gateways = meter(9, 5, long);
        assert_eq!(gateways.take(5), Ok(()));
        assert_eq!(gateways.take(1), Err(Exhausted("5 gateways".to_owned())));
        assert_eq!(gateways.usage(), Usage { requests: 1, gateways: 5 });

        assert!(meter(9, 9, Duration::ZERO).take(0).is_err());
    }
}
