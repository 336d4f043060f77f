//! For how long cached values may be used: nothing tells a server that another one, or a command, has changed the database,
//! so what was read is used for a [`LEASE`] and no longer. Commands that change something wait longer than that before they
//! report success: once they have succeeded, the change is in force on every server.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::store::cache::{Content, Freshness};

/// How long what was read is used, from the moment at which the query was sent: 250 ms.
pub const LEASE: Duration = Duration::from_millis(250);

/// After what time something that was too large to cache is read in full again.
pub(super) const SIZE_LEASE: Duration = Duration::from_secs(60);

/// Waits until every server has stopped using what it read before a change that was committed. A clock that is being
/// adjusted runs a tenth slower or faster at most.
pub(in crate::store) async fn until_in_force() {
    tokio::time::sleep(LEASE + LEASE / 4).await;
}

/// A moment on two clocks. The steady one stands still while the machine sleeps, and the one on the wall can be set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    steady: Instant,
    wall: Timestamp,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self::with_wall(Timestamp::now())
    }

    /// This moment, for a caller that has just read the clock on the wall.
    pub(super) fn with_wall(wall: Timestamp) -> Self {
        Self { steady: Instant::now(), wall }
    }

    /// Whether less than `time` has passed since `start`, by either clock.
    pub(super) fn is_within(self, time: Duration, start: Self) -> bool {
        let wall = self.wall.duration_since(start.wall);
        let forward = wall >= SignedDuration::ZERO && wall.unsigned_abs() < time;
        forward && self.steady.saturating_duration_since(start.steady) < time
    }

    #[cfg(test)]
    pub(super) fn later(self, time: Duration) -> Self {
        Self { steady: self.steady + time, wall: self.wall + time }
    }
}

/// What was read is used until its lease ends.
impl Freshness for Moment {
    fn is_fresh(self, now: Self, _: Content) -> bool {
        now.is_within(LEASE, self)
    }

    fn is_size_known(self, now: Self, _: Content) -> bool {
        now.is_within(SIZE_LEASE, self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND: Duration = Duration::from_nanos(1);

    #[test]
    fn a_lease_ends_when_either_clock_says_so() {
        let start = Moment::now();
        let at = |steady, wall: SignedDuration| {
            let now = Moment { steady: start.steady + steady, wall: start.wall + wall };
            start.is_fresh(now, Content::Access)
        };
        let nearly = LEASE - NANOSECOND;
        let (zero, nearly_by_wall) = (SignedDuration::ZERO, SignedDuration::try_from(nearly).unwrap());
        assert!(at(nearly, nearly_by_wall));
        assert!(!at(LEASE, zero), "the clock on the wall was stopped");
        assert!(!at(Duration::ZERO, SignedDuration::from_hours(1)), "the machine was asleep");
        assert!(!at(nearly, -SignedDuration::from_nanos(1)), "the clock on the wall was set back");
    }

    #[test]
    fn sizes_are_known_for_longer_than_values_are_fresh() {
        let start = Moment::now();
        assert!(!start.is_fresh(start.later(LEASE), Content::Access));
        assert!(start.is_size_known(start.later(SIZE_LEASE - NANOSECOND), Content::Access));
        assert!(!start.is_size_known(start.later(SIZE_LEASE), Content::Access));
    }
}
