use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Notify;

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
    /// Gateways that extractions took, at most.
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
    gateways: Mutex<Gateways>,
    /// Told whenever a reservation comes to its end.
    settled: Notify,
    bytes: AtomicU64,
    /// When the next request may leave.
    slot: Mutex<Instant>,
}

#[derive(Debug, Default)]
struct Gateways {
    /// Taken for good.
    taken: u64,
    /// Held for requests under way.
    reserved: u64,
}

/// Gateways held for a request under way. They count as taken unless they are given back.
#[derive(Debug)]
#[must_use]
pub struct Reservation<'m> {
    meter: &'m Meter,
    gateways: u64,
    given_back: bool,
}

/// A ceiling was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    /// Of requests.
    #[error("the budget of {0} requests is used up")]
    Requests(u64),
    /// Of gateways. What takes none can go on.
    #[error("the budget of {0} gateways is used up")]
    Gateways(u64),
    /// Of bytes of bodies.
    #[error("the budget of {0} bytes is used up")]
    Bytes(u64),
    /// Of time, in seconds.
    #[error("the budget of {0} s of wall time is used up")]
    Wall(u64),
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            requests: 3_000,
            gateways: 4_000,
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
            gateways: Mutex::default(),
            settled: Notify::new(),
            bytes: AtomicU64::new(0),
            slot: Mutex::new(begun),
        }
    }

    /// Takes one request out of the budget, and holds the gateways that it may cost. What requests under way hold may come
    /// back, so that is waited for before a ceiling counts as reached.
    ///
    /// # Errors
    /// Names the ceiling that the request would break; nothing is taken then.
    pub async fn reserve(&self, gateways: u64) -> Result<Reservation<'_>, Exhausted> {
        loop {
            let settled = self.settled.notified();
            if let Some(reservation) = self.try_reserve(gateways)? {
                return Ok(reservation);
            }
            // Requests under way end by their own timeouts.
            settled.await;
        }
    }

    /// None when only requests under way stand between it and the budget.
    fn try_reserve(&self, gateways: u64) -> Result<Option<Reservation<'_>>, Exhausted> {
        let Budget { requests: most_requests, gateways: most_gateways, wall, .. } = self.budget;
        if self.begun.elapsed() >= wall {
            return Err(Exhausted::Wall(wall.as_secs()));
        }
        let mut counts = self.gateways();
        let beside = |used: u64| gateways.checked_add(used).is_some_and(|sum| sum <= most_gateways);
        if !beside(counts.taken) {
            return Err(Exhausted::Gateways(most_gateways));
        }
        if gateways > 0 && !beside(counts.taken + counts.reserved) {
            return Ok(None);
        }
        add_within(&self.requests, 1, most_requests).map_err(|()| Exhausted::Requests(most_requests))?;
        counts.reserved += gateways;
        Ok(Some(Reservation { meter: self, gateways, given_back: false }))
    }

    /// Takes bytes of a body out of the budget.
    ///
    /// # Errors
    /// Names the ceiling that they would break; nothing is taken then.
    pub fn take_bytes(&self, bytes: usize) -> Result<(), Exhausted> {
        let most = self.budget.bytes;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        add_within(&self.bytes, bytes, most).map_err(|()| Exhausted::Bytes(most))
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
            gateways: self.gateways().taken,
            bytes: self.bytes.load(Ordering::Relaxed),
        }
    }

    /// A holder that panicked leaves the counts whole: they are changed in one step.
    fn gateways(&self) -> MutexGuard<'_, Gateways> {
        self.gateways.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// Gives the gateways back: the answer was no success, so none was handed out.
    pub fn give_back(mut self) {
        self.given_back = true;
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut counts = self.meter.gateways();
        counts.reserved -= self.gateways;
        if !self.given_back {
            counts.taken += self.gateways;
        }
        drop(counts);
        self.meter.settled.notify_waiters();
    }
}

impl Exhausted {
    /// Whether nothing at all can be sent any more.
    #[must_use]
    pub fn ends_the_run(self) -> bool {
        !matches!(self, Self::Gateways(_))
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

    #[tokio::test]
    async fn each_ceiling_holds_exactly() {
        let long = Duration::from_secs(60);
        let requests = meter(2, 0, long);
        assert!(requests.reserve(0).await.is_ok() && requests.reserve(0).await.is_ok());
        assert_eq!(requests.reserve(0).await.expect_err("used up"), Exhausted::Requests(2));

        let gateways = meter(9, 5, long);
        drop(gateways.reserve(5).await.expect("within the budget"));
        assert_eq!(gateways.reserve(1).await.expect_err("used up"), Exhausted::Gateways(5));
        assert!(gateways.reserve(0).await.is_ok(), "what takes none can go on");
        assert_eq!(gateways.usage(), Usage { requests: 2, gateways: 5, bytes: 0 });
        assert_eq!(gateways.take_bytes(10), Ok(()));
        assert_eq!(gateways.take_bytes(1), Err(Exhausted::Bytes(10)));

        assert_eq!(meter(9, 9, Duration::ZERO).reserve(0).await.expect_err("used up"), Exhausted::Wall(0));
    }

    #[tokio::test]
    async fn gateways_under_way_are_waited_for_and_may_come_back() {
        let meter = meter(9, 5, Duration::from_secs(60));
        let held = meter.reserve(5).await.expect("within the budget");
        let waiting = meter.reserve(3);
        let ending = async { held.give_back() };
        let (reservation, ()) = tokio::join!(waiting, ending);
        drop(reservation.expect("given back"));
        assert_eq!(meter.usage(), Usage { requests: 2, gateways: 3, bytes: 0 });

        let held = meter.reserve(2).await.expect("within the budget");
        let (refused, ()) = tokio::join!(meter.reserve(1), async { drop(held) });
        assert_eq!(refused.expect_err("taken for good"), Exhausted::Gateways(5));
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
