use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

/// Hard ceilings of a run. Reaching one ends it as incomplete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// Requests.
    pub requests: u64,
    /// Gateways that extractions may take.
    pub gateways: u64,
    /// Bytes of bodies, sent and received.
    pub bytes: u64,
    /// From the start of the run on.
    pub wall: Duration,
    /// Requests per second, spread evenly; none for as fast as the target answers.
    pub rate: Option<NonZeroU32>,
    /// Checks at the same time.
    pub concurrency: usize,
}

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Usage {
    /// Requests sent.
    pub requests: u64,
    /// Gateways asked for by extractions.
    pub gateways: u64,
    /// Bytes of bodies, sent and received.
    pub bytes: u64,
}

/// Counts a run's use against its budget.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    begun: Instant,
    requests: AtomicU64,
    gateways: AtomicU64,
    bytes: AtomicU64,
    /// When the next request may leave.
    slot: Mutex<Instant>,
}

/// A ceiling was reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the budget of {0} is used up")]
pub struct Exhausted(pub String);

impl Default for Budget {
    fn default() -> Self {
        Self {
            requests: 3_000,
            gateways: 2_000,
            bytes: 1 << 30,
            wall: Duration::from_secs(600),
            rate: None,
            concurrency: 8,
        }
    }
}

impl Meter {
    /// A meter that starts now.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        let begun = Instant::now();
        Self {
            budget,
            begun,
            requests: AtomicU64::new(0),
            gateways: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            slot: Mutex::new(begun),
        }
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

    /// Takes bytes of a body out of the budget.
    ///
    /// # Errors
    /// Names the ceiling that they would break; nothing is taken then.
    pub fn take_bytes(&self, bytes: usize) -> Result<(), Exhausted> {
        let most = self.budget.bytes;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        add_within(&self.bytes, bytes, most).map_err(|()| Exhausted(format!("{most} bytes")))
    }

    /// Waits for the turn of one more request, so that the rate is kept.
    pub async fn turn(&self) {
        let Some(rate) = self.budget.rate else { return };
        let turn = {
            let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
            let turn = (*slot).max(Instant::now());
            *slot = turn + Duration::from_secs(1) / rate.get();
            turn
        };
        tokio::time::sleep_until(turn.into()).await;
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
            bytes: self.bytes.load(Ordering::Relaxed),
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
        Meter::new(Budget { requests, gateways, wall, bytes: 10, rate: None, concurrency: 1 })
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
        assert_eq!(gateways.usage(), Usage { requests: 1, gateways: 5, bytes: 0 });
        assert_eq!(gateways.take_bytes(10), Ok(()));
        assert_eq!(gateways.take_bytes(1), Err(Exhausted("10 bytes".to_owned())));

        assert!(meter(9, 9, Duration::ZERO).take(0).is_err());
    }
    #[tokio::test]
    async fn requests_are_spread_over_the_second() {
        let budget = Budget { rate: NonZeroU32::new(100), ..Budget::default() };
        let meter = Meter::new(budget);
        let begun = Instant::now();
        for _ in 0..6 {
            meter.turn().await;
        }
        assert!(begun.elapsed() >= Duration::from_millis(50), "{:?}", begun.elapsed());
    }
}
