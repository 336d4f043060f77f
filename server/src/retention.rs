//! Retention: deletes old extractions that are stored under a request id, in small transactions.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp};

use crate::{
    domain::clock::Clock,
    store::{Store, StoreError},
};

/// Interval at which old extractions are looked for.
const INTERVAL: Duration = Duration::from_secs(60);

/// Pause between two transactions, which gives the requests of callers precedence.
const PAUSE: Duration = Duration::from_millis(100);

/// A smaller step of the clock is not worth a warning.
const MAX_UNREPORTED_STEP: SignedDuration = SignedDuration::from_secs(60);

/// Deletes extractions that are older than `max_age` by `clock`, and by a [`Progress`] of it. It never ends.
pub(crate) async fn retain(store: Arc<Store>, max_age: Duration, clock: Clock) {
    let mut progress = None;
    loop {
        let pause = match delete_due(store.as_ref(), max_age, &clock, &mut progress).await {
            Ok(0) => INTERVAL,
            Ok(_) => PAUSE,
            Err(error) => {
                tracing::warn!(%error, "cannot delete old request ids; retrying later");
                INTERVAL
            }
        };
        tokio::time::sleep(pause).await;
    }
}

/// The time by a wall clock that may be set wrong: it begins with the newest stored extraction, so that a clock that is wrong from
/// the start deletes nothing too early, and then advances no faster than the steady clock.
#[derive(Debug)]
struct Progress {
    time: Timestamp,
    steady: Instant,
    /// By how much the wall clock was ahead.
    lead: SignedDuration,
}

impl Progress {
    fn new(newest: Option<Timestamp>, wall: Timestamp, steady: Instant) -> Self {
        let time = newest.map_or(wall, |newest| newest.min(wall));
        Self { time, steady, lead: wall.duration_since(time) }
    }

    /// Advances to this moment. Returns by how much the wall clock was set forward in the meantime.
    fn advance(&mut self, wall: Timestamp, steady: Instant) -> SignedDuration {
        let passed = steady.saturating_duration_since(self.steady);
        let time = self.time.checked_add(passed).unwrap_or(Timestamp::MAX).min(wall);
        let lead = wall.duration_since(time);
        let step = lead.saturating_sub(self.lead);
        *self = Self { time, steady, lead };
        step
    }
}

async fn delete_due(
    store: &Store,
    max_age: Duration,
    clock: &Clock,
    progress: &mut Option<Progress>,
) -> Result<u64, StoreError> {
    let progress = match progress {
        Some(progress) => progress,
        None => {
            let newest = store.newest_extraction().await?;
            progress.insert(Progress::new(newest, clock.now(), Instant::now()))
        }
    };
    let step = progress.advance(clock.now(), Instant::now());
    if step > MAX_UNREPORTED_STEP {
        tracing::warn!(
            "the clock was set forward by {step:#}; request ids are kept until their time has passed without that step"
        );
    }
    delete_old(store, max_age, progress.time).await
}

/// Deletes every extraction that is older than `max_age` at `now`.
pub(crate) async fn delete_all_old(
    store: &Store,
    max_age: Duration,
    now: Timestamp,
) -> Result<(), StoreError> {
    while delete_old(store, max_age, now).await? > 0 {}
    Ok(())
}

async fn delete_old(store: &Store, max_age: Duration, now: Timestamp) -> Result<u64, StoreError> {
    // With a retention that reaches before the calendar's first year nothing is deleted.
    let end = now.checked_sub(max_age).unwrap_or(Timestamp::MIN);
    store.delete_extractions(end).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        data::seed::seed,
        domain::{
            Protocol,
            access::AccountId,
            extraction::{Parameters, Region, StoredExtraction},
            ports::Repository as _,
        },
        store::Store,
    };

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn a_step_forward_counts_only_as_far_as_time_has_passed() {
        let (wall, steady) = (Timestamp::now(), Instant::now());
        let mut progress = Progress::new(None, wall, steady);
        let mut steps = Vec::new();
        let mut after = |steady_seconds, wall_seconds: u64| {
            let [now, later] = [steady_seconds, wall_seconds].map(Duration::from_secs);
            steps.push(progress.advance(wall + later, steady + now).as_secs());
            progress.time.duration_since(wall).as_secs()
        };
        let times = [after(60, 60), after(120, 90_000), after(180, 90_060), after(240, 200), after(300, 260)];
        assert_eq!(times, [60, 120, 180, 200, 260], "and a clock that was set back counts at once");
        assert_eq!(steps[..3], [0, 89_880, 0]);
        let newest = wall - DAY;
        assert_eq!(Progress::new(Some(newest), wall, steady).time, newest);
        assert_eq!(Progress::new(Some(wall + DAY), wall, steady).time, wall);
    }

    #[tokio::test]
    async fn a_clock_that_is_wrong_deletes_nothing_too_early() {
        let store = Store::temporary().unwrap();
        seed(&store).await.unwrap();
        let parameters = Parameters { count: 1, region: Region::Everywhere, protocol: Protocol::Http };
        let extraction = StoredExtraction { parameters, endpoints: Vec::new() };
        let now = Timestamp::now();
        for (id, time) in [("old", now - 9 * DAY), ("young", now - DAY)] {
            store.store_extraction(AccountId(1), id.to_owned(), extraction.clone(), time).await.unwrap();
        }
        let clock = Clock::settable();
        let delete = async |progress: &mut Option<Progress>| {
            delete_due(&store, 7 * DAY, &clock, progress).await.unwrap()
        };
        let mut progress = None;
        assert_eq!(delete(&mut progress).await, 1);
        clock.set(Some(now + 30 * DAY));
        assert_eq!(delete(&mut progress).await, 0, "set forward while the server runs");
        assert_eq!(delete(&mut None).await, 0, "wrong from the start");
    }
}
