use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Notify;

use super::pace::{Pace, Signal};
use super::{FailureKind, Throttling, WireFailure};

/// Hard ceilings of a run. Reaching one ends it as incomplete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Budget {
    /// Requests.
    pub requests: u64,
    /// Gateways that extractions may take.
    pub gateways: u64,
    /// Bytes of bodies, sent and received.
    pub bytes: u64,
    /// From the start of the run on. In JSON in seconds.
    #[serde(rename = "seconds", serialize_with = "in_seconds")]
    #[schemars(with = "u64")]
    pub wall: Duration,
    /// Most requests per second, spread evenly; none for as fast as the target responds. While the target throttles, the rate
    /// is lower.
    pub rate: Option<NonZeroU32>,
    /// Checks at the same time.
    pub concurrency: usize,
}

/// Requests in a row that are throttled to the end before no more are sent for now.
const HOPELESS: u32 = 12;

/// Requests that waited in vain before waiting counts as of no use: what they have in common is throttled, for instance wrong
/// tokens, whatever the rate.
const IN_VAIN: u32 = 3;

/// How long a target that was there before is waited for when no connection to it can be made: a restart takes so long.
const RESTART: Duration = Duration::from_secs(5);

/// Where waiting is of no use, one of so many throttled requests waits all the same, to notice when it helps again.
const TRIED_AGAIN: u32 = 8;

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Usage {
    /// Requests sent.
    pub requests: u64,
    /// Gateways that the target returned: those in responses. A response that broke off counts as the requested number, and as
    /// one where the request had to be rejected.
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
    /// Notified whenever a reservation ends.
    settled: Notify,
    bytes: AtomicU64,
    pace: Pace,
    /// Requests in a row that were throttled to the end.
    given_up: AtomicU32,
    /// Requests that waited and were given up since one was served after waiting.
    in_vain: AtomicU32,
    presence: Mutex<Presence>,
    /// When the longest `Retry-After` so far ends.
    resume: Mutex<Option<Instant>>,
}

#[derive(Debug, Default)]
struct Gateways {
    /// Known to be returned.
    taken: u64,
    /// Reserved for requests under way.
    reserved: u64,
    /// Requests under way that may take some.
    under_way: usize,
}

/// Whether connections to the target can be made.
#[derive(Debug, Default)]
struct Presence {
    /// Whether it ever responded.
    was_there: bool,
    /// Since when no connection could be made.
    away_since: Option<Instant>,
}

/// Gateways that a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayCost {
    /// None, whatever the target does.
    Nothing,
    /// So many when it is accepted.
    Exactly(u64),
    /// None when the target keeps the contract, and up to so many when it does not. All that is left is held when that is less.
    UpTo(u64),
}

/// Number of gateways in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayCount {
    /// The response contains so many.
    Counted(u64),
    /// Unknown, because the response is incomplete or unreadable. The reserved number counts.
    Unknown,
    /// More than the suite reads: no ceiling holds against that.
    Unbounded,
}

/// Gateways held for a request under way. They count as taken unless [`Reservation::settle`] gives the number in the response.
#[derive(Debug)]
#[must_use]
pub struct Reservation<'m> {
    meter: &'m Meter,
    cost: GatewayCost,
    gateways: u64,
    came: u64,
}

/// A ceiling was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// Of requests.
    #[error("the budget of {0} requests is used up")]
    Requests(u64),
    /// Of gateways. What takes none can go on.
    #[error("the budget of {0} gateways is used up")]
    Gateways(u64),
    /// Of gateways, by a target that returns more than requested: nothing more is sent to it.
    #[error(
        "the budget of {most} gateways is exceeded: the target handed out {taken}, more than it was asked for"
    )]
    Overdrawn {
        /// The ceiling.
        most: u64,
        /// Handed out.
        taken: u64,
    },
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
            requests: 8_000,
            gateways: 4_500,
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
            pace: Pace::new(budget.rate, begun),
            budget,
            begun,
            requests: AtomicU64::new(0),
            gateways: Mutex::default(),
            settled: Notify::new(),
            bytes: AtomicU64::new(0),
            given_up: AtomicU32::new(0),
            in_vain: AtomicU32::new(0),
            presence: Mutex::default(),
            resume: Mutex::default(),
        }
    }

    /// Takes one request out of the budget, and holds the gateways that it may cost. What requests under way hold may come
    /// back, so that is waited for before a ceiling counts as reached.
    ///
    /// # Errors
    /// Names the ceiling that the request would break; nothing is taken then.
    pub async fn reserve(&self, cost: GatewayCost) -> Result<Reservation<'_>, BudgetError> {
        loop {
            let settled = self.settled.notified();
            if let Some(reservation) = self.try_reserve(cost)? {
                return Ok(reservation);
            }
            // Requests under way end by their own timeouts.
            settled.await;
        }
    }

    /// None when only requests under way stand between it and the budget.
    fn try_reserve(&self, cost: GatewayCost) -> Result<Option<Reservation<'_>>, BudgetError> {
        let Budget { requests: most_requests, gateways: most, wall, .. } = self.budget;
        if self.begun.elapsed() >= wall {
            return Err(BudgetError::Wall(wall.as_secs()));
        }
        let mut counts = self.gateways();
        let Some(left) = most.checked_sub(counts.taken) else {
            return Err(BudgetError::Overdrawn { most, taken: counts.taken });
        };
        let free = left.saturating_sub(counts.reserved);
        let (least, wanted) = match cost {
            GatewayCost::Nothing => (0, 0),
            GatewayCost::Exactly(gateways) => (gateways, gateways),
            GatewayCost::UpTo(gateways) => (gateways.min(1), gateways.min(free)),
        };
        if least > left {
            return Err(BudgetError::Gateways(most));
        }
        if cost != GatewayCost::Nothing && (least > free || counts.under_way >= self.most_extractions()) {
            return Ok(None);
        }
        add_within(&self.requests, 1, most_requests).map_err(|()| BudgetError::Requests(most_requests))?;
        counts.reserved += wanted;
        counts.under_way += usize::from(cost != GatewayCost::Nothing);
        Ok(Some(Reservation { meter: self, cost, gateways: wanted, came: wanted }))
    }

    /// Requests that may take gateways at the same time: only these can exceed the ceiling.
    /// Two at least, as one check sends two at once.
    #[must_use]
    pub fn most_extractions(&self) -> usize {
        self.budget.concurrency.max(2)
    }

    /// Takes bytes of a body out of the budget.
    ///
    /// # Errors
    /// Names the ceiling that they would break; nothing is taken then.
    pub fn take_bytes(&self, bytes: usize) -> Result<(), BudgetError> {
        let most = self.budget.bytes;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        add_within(&self.bytes, bytes, most).map_err(|()| BudgetError::Bytes(most))
    }

    /// Waits for the turn of one more request, so that the rate is kept.
    pub async fn turn(&self) {
        let now = Instant::now();
        let turn = self.pace.turn(now);
        if turn > now {
            tokio::time::sleep_until(turn.into()).await;
        }
    }

    /// A request that left at that time was served.
    pub(super) fn served(&self, left: Instant) {
        self.pace.note(left, Signal::Served, Instant::now());
        self.given_up.store(0, Ordering::Relaxed);
    }

    /// A request was throttled on its last attempt.
    pub(super) fn gave_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// A request was served after it had waited.
    pub(super) fn waiting_helped(&self) {
        self.in_vain.store(0, Ordering::Relaxed);
    }

    /// A request waited, and was given up all the same.
    pub(super) fn waited_in_vain(&self) {
        if self.in_vain.fetch_add(1, Ordering::Relaxed) + 1 == IN_VAIN {
            self.pace.restore();
        }
    }

    /// Takes in whether a connection could be made.
    pub(super) fn note_connection<T>(&self, result: &Result<T, WireFailure>) {
        let mut presence = self.presence();
        match result {
            Ok(_) => *presence = Presence { was_there: true, away_since: None },
            Err(failure) if failure.kind == FailureKind::Connect => {
                presence.away_since.get_or_insert_with(Instant::now);
            }
            Err(_) => {}
        }
    }

    /// Whether a target to which no connection can be made is worth waiting for.
    pub(super) fn may_come_back(&self) -> bool {
        let presence = self.presence();
        presence.was_there && presence.away_since.is_some_and(|since| since.elapsed() < RESTART)
    }

    fn presence(&self) -> MutexGuard<'_, Presence> {
        self.presence.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether waiting is of no use.
    fn waits_in_vain(&self) -> bool {
        self.in_vain.load(Ordering::Relaxed) >= IN_VAIN
    }

    /// How often a request that is throttled is sent in all, where `most` are allowed.
    pub(super) fn attempts(&self, most: u32) -> u32 {
        match self.in_vain.load(Ordering::Relaxed) {
            in_vain if in_vain < IN_VAIN => most,
            in_vain if in_vain % TRIED_AGAIN == 0 => most.min(2),
            _ => 1,
        }
    }

    /// Whether the target throttles whatever is sent: to send more would be of no use for now.
    #[must_use]
    pub fn is_hopeless(&self) -> bool {
        self.given_up.load(Ordering::Relaxed) >= HOPELESS
    }

    /// Resets the counts, so that requests are sent again, and one that is throttled waits again.
    pub fn hope_again(&self) {
        self.given_up.store(0, Ordering::Relaxed);
        self.in_vain.fetch_min(IN_VAIN - 1, Ordering::Relaxed);
    }

    /// A request that left at that time was throttled; `wait` is what its response asks for.
    pub(super) fn throttled(&self, left: Instant, wait: Option<Duration>) {
        let now = Instant::now();
        let signal = match wait {
            Some(Duration::ZERO) => Signal::NotOfTheRate,
            _ if self.waits_in_vain() => Signal::NotOfTheRate,
            wait => Signal::Throttled(wait.unwrap_or(super::client::DEFAULT_WAIT)),
        };
        self.pace.note(left, signal, now);
        // A time that no clock reaches is not waited for.
        if let Some(until) = wait.and_then(|wait| now.checked_add(wait)) {
            let mut resume = self.resume.lock().unwrap_or_else(PoisonError::into_inner);
            *resume = (*resume).max(Some(until));
        }
    }

    /// Time until the longest `Retry-After` ends, when that is before the wall-time ceiling.
    #[must_use]
    pub fn remaining_wait(&self) -> Option<Duration> {
        let resume = *self.resume.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = resume?.checked_duration_since(Instant::now())?;
        (wait < self.time_left()).then_some(wait)
    }

    /// Gateways that the target returned so far.
    #[must_use]
    pub(crate) fn gateways_taken(&self) -> u64 {
        self.gateways().taken
    }

    /// What throttling did so far.
    #[must_use]
    pub fn throttling(&self) -> Throttling {
        self.pace.throttling()
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

    /// Set when the target handed out more gateways than the budget has, which the last request of a run may show.
    #[must_use]
    pub fn overdrawn(&self) -> Option<BudgetError> {
        let (most, taken) = (self.budget.gateways, self.gateways().taken);
        (taken > most).then_some(BudgetError::Overdrawn { most, taken })
    }

    /// A thread that panicked leaves the counts consistent: they are changed in one step.
    fn gateways(&self) -> MutexGuard<'_, Gateways> {
        self.gateways.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation<'_> {
    /// Counts the gateways of the response instead of the reserved ones.
    pub fn settle(mut self, count: GatewayCount) {
        self.came = match count {
            GatewayCount::Counted(came) => came,
            GatewayCount::Unknown => self.gateways,
            GatewayCount::Unbounded => self.meter.budget.gateways.saturating_add(1),
        };
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut counts = self.meter.gateways();
        counts.reserved -= self.gateways;
        counts.under_way -= usize::from(self.cost != GatewayCost::Nothing);
        counts.taken = counts.taken.saturating_add(self.came);
        drop(counts);
        self.meter.settled.notify_waiters();
    }
}

impl BudgetError {
    /// Whether nothing at all can be sent any more.
    #[must_use]
    pub fn ends_the_run(self) -> bool {
        !matches!(self, Self::Gateways(_))
    }
}

fn in_seconds<S: serde::Serializer>(wall: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(wall.as_secs())
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
    use futures::FutureExt as _;

    use super::*;

    fn meter(requests: u64, gateways: u64, wall: Duration) -> Meter {
        Meter::new(Budget { requests, gateways, wall, bytes: 10, rate: None, concurrency: 1 })
    }

    #[tokio::test]
    async fn each_ceiling_holds_exactly() {
        let long = Duration::from_secs(60);
        let requests = meter(2, 0, long);
        for _ in 0..2 {
            drop(requests.reserve(GatewayCost::Nothing).await.expect("within the budget"));
        }
        assert_eq!(
            requests.reserve(GatewayCost::Nothing).await.expect_err("used up"),
            BudgetError::Requests(2)
        );

        let gateways = meter(9, 5, long);
        drop(gateways.reserve(GatewayCost::Exactly(5)).await.expect("within the budget"));
        for cost in [GatewayCost::Exactly(1), GatewayCost::UpTo(9)] {
            assert_eq!(gateways.reserve(cost).await.expect_err("used up"), BudgetError::Gateways(5));
        }
        drop(gateways.reserve(GatewayCost::Nothing).await.expect("what takes none can go on"));
        assert_eq!(gateways.usage(), Usage { requests: 2, gateways: 5, bytes: 0 });
        assert_eq!(gateways.take_bytes(10), Ok(()));
        assert_eq!(gateways.take_bytes(1), Err(BudgetError::Bytes(10)));

        let none = meter(9, 9, Duration::ZERO);
        assert_eq!(none.reserve(GatewayCost::Nothing).await.expect_err("used up"), BudgetError::Wall(0));
    }

    #[tokio::test]
    async fn gateways_under_way_are_waited_for_and_may_come_back() {
        let meter = meter(9, 5, Duration::from_secs(60));
        let held = meter.reserve(GatewayCost::Exactly(5)).await.expect("within the budget");
        let waiting = meter.reserve(GatewayCost::Exactly(3));
        let ending = async { held.settle(GatewayCount::Counted(0)) };
        let (reservation, ()) = tokio::join!(waiting, ending);
        drop(reservation.expect("given back"));
        assert_eq!(meter.usage(), Usage { requests: 2, gateways: 3, bytes: 0 });

        let held = meter.reserve(GatewayCost::Exactly(2)).await.expect("within the budget");
        let (error, ()) = tokio::join!(meter.reserve(GatewayCost::Exactly(1)), async { drop(held) });
        assert_eq!(error.expect_err("taken for good"), BudgetError::Gateways(5));
    }

    #[tokio::test]
    async fn what_came_counts_and_what_came_beyond_the_ceiling_ends_everything() {
        let meter = meter(9, 25, Duration::from_secs(60));
        let first = meter.reserve(GatewayCost::UpTo(100)).await.expect("held as far as there is some");
        assert_eq!(first.gateways, 25);
        first.settle(GatewayCount::Counted(1));
        let held = meter.reserve(GatewayCost::Exactly(4)).await.expect("within the budget");
        let rest = meter.reserve(GatewayCost::UpTo(100)).await.expect("the rest");
        assert_eq!(rest.gateways, 20);
        held.settle(GatewayCount::Counted(4_000));
        rest.settle(GatewayCount::Unknown);
        for cost in [GatewayCost::Nothing, GatewayCost::Exactly(1)] {
            let error = meter.reserve(cost).await.expect_err("exceeded");
            assert_eq!(error, BudgetError::Overdrawn { most: 25, taken: 4_021 });
            assert!(error.ends_the_run());
        }
    }

    #[tokio::test]
    async fn no_more_extractions_are_under_way_than_the_bound_says() {
        let meter = meter(9, 25, Duration::from_secs(60));
        let held =
            [meter.reserve(GatewayCost::Exactly(1)).await, meter.reserve(GatewayCost::Exactly(1)).await];
        assert_eq!(held.len(), meter.most_extractions());
        let third = meter.reserve(GatewayCost::Exactly(1));
        assert!(third.now_or_never().is_none(), "a third one waits");
        drop(meter.reserve(GatewayCost::Nothing).await.expect("what takes none does not"));
        drop(held);
        assert!(meter.reserve(GatewayCost::Exactly(1)).now_or_never().is_some());
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
