//! How long cached values may be used. A server is not notified when another server or a command changes the database, so it uses
//! what it read for one [`LEASE`] only. Commands that change something wait longer than that before they report success, so that
//! the change is then in force on every server.

use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::store::cache::{Content, Freshness};

/// How long a value is used, from the moment at which its query was sent: 250 ms.
pub const LEASE: Duration = Duration::from_millis(250);

/// How long a value that is too large for the cache is not read in full again.
pub(super) const SIZE_LEASE: Duration = Duration::from_secs(60);

/// Waits until no server uses a value that it read before a committed change. A clock that is being adjusted runs at most a tenth
/// slower or faster.
pub(in crate::store) async fn wait_until_in_force() {
    tokio::time::sleep(LEASE + LEASE / 4).await;
}

/// A moment on two clocks: the steady one stops while the machine sleeps, and the wall clock can be set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    steady: Instant,
    wall: Timestamp,
}

impl Moment {
    pub(super) fn now() -> Self {
        Self::with_wall(Timestamp::now())
    }

    /// This moment, for a caller that has just read the wall clock.
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
        assert!(!at(LEASE, zero), "the wall clock was stopped");
        assert!(!at(Duration::ZERO, SignedDuration::from_hours(1)), "the machine was asleep");
        assert!(!at(nearly, -SignedDuration::from_nanos(1)), "the wall clock was set back");
    }

    #[test]
    fn sizes_are_known_for_longer_than_values_are_fresh() {
        let start = Moment::now();
        assert!(!start.is_fresh(start.later(LEASE), Content::Access));
        assert!(start.is_size_known(start.later(SIZE_LEASE - NANOSECOND), Content::Access));
        assert!(!start.is_size_known(start.later(SIZE_LEASE), Content::Access));
    }
}
