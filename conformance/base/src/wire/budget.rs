// Durations, counts and sizes come from the target here.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use tokio::sync::Notify;

use super::pace::Pace;
use super::{FailureKind, WireFailure};
use crate::lock;
use crate::quantity::quantity;

/// The limits of a run. Reaching one ends it as incomplete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Budget {
    /// Maximum number of requests.
    pub requests: u64,
    /// Maximum number of gateways that the target may return.
    pub gateways: u64,
    /// Maximum number of bytes of requests and responses: targets, headers and bodies.
    pub bytes: u64,
    /// Maximum time from the start of the run. In JSON in seconds.
    #[serde(rename = "seconds", serialize_with = "in_seconds")]
    #[schemars(with = "u64")]
    pub wall: Duration,
    /// Maximum number of requests per second, evenly spaced; none for as fast as the target responds. The rate is lower while
    /// the target throttles.
    pub rate: Option<NonZeroU32>,
    /// Maximum number of concurrent checks.
    pub concurrency: usize,
}

/// How long to keep reconnecting to a target that responded before: long enough for a restart.
pub(super) const RECONNECT_WINDOW: Duration = Duration::from_secs(5);

/// What a run has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Usage {
    /// Requests sent.
    pub requests: u64,
    /// Gateways in responses of the target. An incomplete response counts as the requested number, or as one where the request
    /// had to be rejected.
    pub gateways: u64,
    /// Bytes of requests and responses: targets, headers and bodies.
    pub bytes: u64,
}

/// Counts what a run uses against its budget.
#[derive(Debug)]
pub struct Meter {
    budget: Budget,
    begun: Mutex<Instant>,
    /// The rate of the run, and what throttling did to it.
    pub pace: Pace,
    state: Mutex<State>,
    /// Notified whenever a reservation ends.
    settled: Notify,
}

#[derive(Debug, Default)]
struct State {
    used: Usage,
    /// Gateways reserved for requests in flight.
    reserved: u64,
    /// Requests in flight that may take some.
    in_flight: usize,
    has_responded: bool,
    unreachable_since: Option<Instant>,
    /// When a connection could not be made last.
    unreachable_at: Option<Instant>,
}

/// How many gateways a request may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayCost {
    /// None, whatever the target does.
    Nothing,
    /// This number, if the request is accepted.
    Exactly(u64),
    /// None from a conforming target, and up to this number from another one. If fewer are left, those are reserved.
    UpTo(u64),
}

/// Number of gateways in a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GatewayCount {
    /// The response contains this number.
    Counted(u64),
    /// Unknown, because the response is incomplete or unreadable. The reserved number counts.
    Unknown,
    /// The response is longer than the suite reads, so it exceeds every limit.
    Unbounded,
}

/// Gateways reserved for a request in flight, which count as taken unless [`Reservation::settle`] says otherwise.
#[derive(Debug)]
#[must_use]
pub struct Reservation<'m> {
    meter: &'m Meter,
    cost: GatewayCost,
    reserved: u64,
    taken: u64,
}

/// A limit of the budget was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// Of requests.
    #[error("the limit of {} is reached", quantity(*.0, "request"))]
    Requests(u64),
    /// Of gateways. Requests that take none can still be sent.
    #[error("the limit of {} is reached", quantity(*.0, "gateway"))]
    Gateways(u64),
    /// Of gateways, by a target that returns more than requested: nothing more is sent to it.
    #[error("the limit of {} is exceeded: the target returned {taken}, more than requested", quantity(*.limit, "gateway"))]
    Overdrawn {
        /// The limit.
        limit: u64,
        /// Gateways that the target returned.
        taken: u64,
    },
    /// Of bytes of requests and responses.
    #[error("the limit of {} is reached", quantity(*.0, "byte"))]
    Bytes(u64),
    /// Of time, in seconds.
    #[error("the time limit of {0} s is reached")]
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
    pub fn new(budget: Budget) -> Self {
        Self {
            pace: Pace::new(budget.rate),
            budget,
            begun: Mutex::new(Instant::now()),
            state: Mutex::default(),
            settled: Notify::new(),
        }
    }

    /// Starts the time of the run anew: what was waited for the target before does not count.
    pub fn begin(&self) {
        *lock(&self.begun) = Instant::now();
    }

    /// Takes one request out of the budget, and reserves the gateways that it may cost. Requests in flight may give back what
    /// they have reserved, so those are waited for before a limit counts as reached.
    ///
    /// # Errors
    /// Names the limit that the request would exceed; nothing is taken then.
    pub async fn reserve(&self, cost: GatewayCost) -> Result<Reservation<'_>, BudgetError> {
        loop {
            let settled = self.settled.notified();
            if let Some(reservation) = self.try_reserve(cost)? {
                return Ok(reservation);
            }
            // Requests in flight end by their own timeouts.
            settled.await;
        }
    }

    /// None when the request has to wait for requests in flight.
    fn try_reserve(&self, cost: GatewayCost) -> Result<Option<Reservation<'_>>, BudgetError> {
        let Budget { requests: max_requests, gateways: limit, wall, .. } = self.budget;
        if self.time_left().is_zero() {
            return Err(BudgetError::Wall(wall.as_secs()));
        }
        let mut state = lock(&self.state);
        let Some(left) = limit.checked_sub(state.used.gateways) else {
            return Err(BudgetError::Overdrawn { limit, taken: state.used.gateways });
        };
        let free = left.saturating_sub(state.reserved);
        let (required, wanted) = match cost {
            GatewayCost::Nothing => (0, 0),
            GatewayCost::Exactly(gateways) => (gateways, gateways),
            GatewayCost::UpTo(gateways) => (gateways.min(1), gateways.min(free)),
        };
        if required > left {
            return Err(BudgetError::Gateways(limit));
        }
        let may_take = cost != GatewayCost::Nothing;
        // Only concurrent requests that may take gateways can exceed the limit. One check sends two at once.
        if may_take && (required > free || state.in_flight >= self.budget.concurrency.max(2)) {
            return Ok(None);
        }
        add_within(&mut state.used.requests, 1, max_requests).ok_or(BudgetError::Requests(max_requests))?;
        state.reserved = state.reserved.saturating_add(wanted);
        state.in_flight = state.in_flight.saturating_add(may_take.into());
        Ok(Some(Reservation { meter: self, cost, reserved: wanted, taken: wanted }))
    }

    /// Takes bytes of a request or a response out of the budget.
    ///
    /// # Errors
    /// Names the limit that they would exceed; nothing is taken then.
    pub fn take_bytes(&self, bytes: usize) -> Result<(), BudgetError> {
        let limit = self.budget.bytes;
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        add_within(&mut lock(&self.state).used.bytes, bytes, limit).ok_or(BudgetError::Bytes(limit))
    }

    /// Waits until the next request may be sent at the current rate.
    pub async fn wait_for_turn(&self) {
        let now = Instant::now();
        let turn = self.pace.next_turn(now);
        if turn > now {
            tokio::time::sleep_until(turn.into()).await;
        }
    }

    /// Notes whether a connection could be made.
    pub(super) fn note_connection<T>(&self, result: &Result<T, WireFailure>) {
        let mut state = lock(&self.state);
        match result {
            Ok(_) => (state.has_responded, state.unreachable_since) = (true, None),
            Err(failure) if failure.kind == FailureKind::Connect => {
                state.unreachable_at = Some(Instant::now());
                state.unreachable_since = state.unreachable_since.or(state.unreachable_at);
            }
            // Somebody listened, so that another wait may begin.
            Err(failure) if failure.kind == FailureKind::Broken => state.unreachable_since = None,
            Err(_) => {}
        }
    }

    /// Whether to try again to connect to a target that can't be reached: it responded before and may be restarting.
    pub(super) fn should_reconnect(&self) -> bool {
        let State { has_responded, unreachable_since, .. } = *lock(&self.state);
        has_responded && unreachable_since.is_some_and(|since| since.elapsed() < RECONNECT_WINDOW)
    }

    /// Whether a target that responded before could not be reached at some time since then, a short time ago.
    pub(super) fn restarted_since(&self, then: Instant) -> bool {
        let State { has_responded, unreachable_at, .. } = *lock(&self.state);
        has_responded && unreachable_at.is_some_and(|at| at >= then) && then.elapsed() < RECONNECT_WINDOW
    }

    /// Time until the longest `Retry-After` ends, if that is within the time of the run.
    pub fn remaining_wait(&self) -> Option<Duration> {
        let wait = self.pace.retry_at()?.checked_duration_since(Instant::now())?;
        (wait < self.time_left()).then_some(wait)
    }

    /// Time left before the limit of wall time.
    pub fn time_left(&self) -> Duration {
        self.budget.wall.saturating_sub(lock(&self.begun).elapsed())
    }

    /// What was used so far.
    pub fn usage(&self) -> Usage {
        lock(&self.state).used
    }

    /// The error of a target that returned more gateways than the budget has, which only the last request of a run may show.
    pub fn overdrawn(&self) -> Option<BudgetError> {
        let (limit, taken) = (self.budget.gateways, self.usage().gateways);
        (taken > limit).then_some(BudgetError::Overdrawn { limit, taken })
    }
}

impl Reservation<'_> {
    /// Counts the gateways of the response instead of the reserved ones.
    pub fn settle(mut self, count: GatewayCount) {
        self.taken = match count {
            GatewayCount::Counted(taken) => taken,
            GatewayCount::Unknown => self.reserved,
            GatewayCount::Unbounded => self.meter.budget.gateways.saturating_add(1),
        };
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.meter.state);
        state.reserved = state.reserved.saturating_sub(self.reserved);
        state.in_flight = state.in_flight.saturating_sub((self.cost != GatewayCost::Nothing).into());
        state.used.gateways = state.used.gateways.saturating_add(self.taken);
        drop(state);
        self.meter.settled.notify_waiters();
    }
}

fn in_seconds<S: serde::Serializer>(wall: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(wall.as_secs())
}

fn add_within(used: &mut u64, amount: u64, limit: u64) -> Option<()> {
    *used = used.checked_add(amount).filter(|total| *total <= limit)?;
    Some(())
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    fn meter(gateways: u64) -> Meter {
        Meter::new(Budget { gateways, concurrency: 1, ..Budget::default() })
    }

    #[tokio::test]
    async fn each_limit_is_exact() {
        let used_up = async |meter: &Meter, cost| meter.reserve(cost).await.expect_err("used up");
        let requests = Meter::new(Budget { requests: 2, ..Budget::default() });
        for _ in 0..2 {
            drop(requests.reserve(GatewayCost::Nothing).await.expect("within the budget"));
        }
        assert_eq!(used_up(&requests, GatewayCost::Nothing).await, BudgetError::Requests(2));

        let gateways = Meter::new(Budget { gateways: 5, bytes: 10, ..Budget::default() });
        drop(gateways.reserve(GatewayCost::Exactly(5)).await.expect("within the budget"));
        for cost in [GatewayCost::Exactly(1), GatewayCost::UpTo(9)] {
            assert_eq!(used_up(&gateways, cost).await, BudgetError::Gateways(5));
        }
        drop(gateways.reserve(GatewayCost::Nothing).await.expect("a request that takes none"));
        assert_eq!(gateways.usage(), Usage { requests: 2, gateways: 5, bytes: 0 });
        assert_eq!(gateways.take_bytes(10), Ok(()));
        assert_eq!(gateways.take_bytes(1), Err(BudgetError::Bytes(10)));

        let none = Meter::new(Budget { wall: Duration::ZERO, ..Budget::default() });
        assert_eq!(used_up(&none, GatewayCost::Nothing).await, BudgetError::Wall(0));
    }

    #[tokio::test]
    async fn reserved_gateways_are_waited_for_and_may_be_given_back() {
        let meter = meter(5);
        let held = meter.reserve(GatewayCost::Exactly(5)).await.expect("within the budget");
        let waiting = meter.reserve(GatewayCost::Exactly(3));
        let ending = async { held.settle(GatewayCount::Counted(0)) };
        let (reservation, ()) = tokio::join!(waiting, ending);
        drop(reservation.expect("given back"));
        assert_eq!(meter.usage(), Usage { requests: 2, gateways: 3, bytes: 0 });

        let held = meter.reserve(GatewayCost::Exactly(2)).await.expect("within the budget");
        let (error, ()) = tokio::join!(meter.reserve(GatewayCost::Exactly(1)), async { drop(held) });
        assert_eq!(error.expect_err("counted as taken"), BudgetError::Gateways(5));
    }

    #[tokio::test]
    async fn concurrent_extractions_are_bounded() {
        let meter = meter(25);
        let held =
            [meter.reserve(GatewayCost::Exactly(1)).await, meter.reserve(GatewayCost::Exactly(1)).await];
        let third = meter.reserve(GatewayCost::Exactly(1));
        assert!(third.now_or_never().is_none(), "a third one waits");
        drop(meter.reserve(GatewayCost::Nothing).await.expect("a request that takes none does not wait"));
        drop(held);
        assert!(meter.reserve(GatewayCost::Exactly(1)).now_or_never().is_some());
    }

    #[tokio::test]
    async fn requests_are_evenly_spaced() {
        let meter = Meter::new(Budget { rate: NonZeroU32::new(100), ..Budget::default() });
        let begun = Instant::now();
        for _ in 0..6 {
            meter.wait_for_turn().await;
        }
        assert!(begun.elapsed() >= Duration::from_millis(50), "{:?}", begun.elapsed());
    }
}
