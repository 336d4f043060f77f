//! Decides when gateways are read into the cache: when calls are so frequent that this costs less than to let the database choose
//! for each call.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use quick_cache::sync::Cache;

use super::lease::{LEASE, Moment, SIZE_LEASE};
use crate::domain::extraction::{Parameters, Region};
use crate::domain::protocol::Protocol;

/// Maximum number of gateways of one protocol and region that are cached. While calls are frequent they are read once per lease.
pub(super) const MAX_CACHED_GATEWAYS: usize = 1 << 12;

/// About as many gateways are read in the time of one query.
const GATEWAYS_PER_QUERY: usize = 64;

/// Pause after a read that failed or was slow.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of protocols with their regions whose calls are counted.
const MAX_COUNTED: usize = 1 << 16;

/// The calls that asked for each protocol and region.
#[derive(Debug)]
pub(super) struct Demand(Cache<(Protocol, Region), Arc<Mutex<Calls>>>);

/// The calls for one protocol and region.
#[derive(Debug)]
struct Calls {
    count: usize,
    /// When counting began.
    since: Moment,
    /// When the last read started, and for how long the gateways are not read again.
    last_read: Option<(Moment, Duration)>,
    /// Number of gateways at the last read.
    size: usize,
}

impl Demand {
    pub(super) fn new() -> Self {
        Self(Cache::new(MAX_COUNTED))
    }

    /// Counts a call that the database answered, and `cached` calls that the cache has answered since. Returns whether this caller,
    /// and no other, should read the gateways into the cache.
    pub(super) fn should_read(&self, parameters: &Parameters, cached: usize, now: Moment) -> bool {
        let calls = self.calls(parameters, now);
        let mut calls = calls.lock().unwrap_or_else(PoisonError::into_inner);
        if calls.last_read.is_some_and(|(at, pause)| now.is_within(pause, at)) {
            return false;
        }
        calls.count += cached;
        if !now.is_within(2 * LEASE, calls.since) {
            (calls.count, calls.since) = (0, now);
        }
        calls.count += 1;
        let pays = calls.count >= 2 + calls.size / GATEWAYS_PER_QUERY;
        if pays {
            (calls.count, calls.since, calls.last_read) = (0, now, Some((now, RETRY_PAUSE)));
        }
        pays
    }

    /// Records how many gateways were read by a query sent at `sent`; `None` for too many. Returns whether they should be cached: a
    /// slow database must not get more queries than callers cause.
    pub(super) fn finish_read(
        &self,
        parameters: &Parameters,
        size: Option<usize>,
        sent: Moment,
        now: Moment,
    ) -> bool {
        let is_slow = !now.is_within(LEASE / 2, sent);
        let pause = match size {
            None => SIZE_LEASE,
            Some(_) if is_slow => RETRY_PAUSE,
            Some(_) => LEASE,
        };
        let calls = self.calls(parameters, sent);
        *calls.lock().unwrap_or_else(PoisonError::into_inner) =
            Calls { count: 0, since: sent, last_read: Some((sent, pause)), size: size.unwrap_or(0) };
        !is_slow
    }

    fn calls(&self, parameters: &Parameters, now: Moment) -> Arc<Mutex<Calls>> {
        let key = (parameters.protocol, parameters.region.clone());
        let new = || Calls { count: 0, since: now, last_read: None, size: 0 };
        if let Some(calls) = self.0.get(&key) {
            return calls;
        }
        let calls = Arc::new(Mutex::new(new()));
        self.0.insert(key, Arc::clone(&calls));
        calls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters { count: 1, region: Region::Everywhere, protocol: Protocol::Http }
    }

    #[test]
    fn gateways_are_read_when_that_costs_less_than_the_calls() {
        let (demand, start) = (Demand::new(), Moment::now());
        let nearly = LEASE - Duration::from_nanos(1);
        let should_read = |cached, later| demand.should_read(&parameters(), cached, start.later(later));
        assert!(!should_read(0, Duration::ZERO), "the first call");
        assert!(!should_read(0, 2 * LEASE), "the other call was long ago");
        assert!(should_read(0, 2 * LEASE + nearly));
        let retry = 2 * LEASE + nearly + RETRY_PAUSE;
        assert!(!should_read(0, 3 * LEASE) && !should_read(0, retry - LEASE / 9), "another call reads them");
        assert!(!should_read(0, retry) && should_read(0, retry), "and failed");

        let size = Some(3 * GATEWAYS_PER_QUERY);
        assert!(demand.finish_read(&parameters(), size, start, start));
        assert!(!(0..100).any(|_| should_read(0, nearly)), "they are cached");
        assert!(!should_read(3, LEASE), "four calls are fewer than it costs");
        assert!(should_read(0, LEASE), "five are not");

        demand.finish_read(&parameters(), None, start, start);
        assert!(!(0..100).any(|_| should_read(0, SIZE_LEASE - LEASE)), "they are too many");
        assert!(!should_read(0, SIZE_LEASE) && should_read(0, SIZE_LEASE));
    }

    #[test]
    fn a_slow_database_gets_a_pause() {
        let (demand, start) = (Demand::new(), Moment::now());
        assert!(!demand.finish_read(&parameters(), Some(1), start, start.later(LEASE / 2)));
        assert!(!(0..100).any(|_| demand.should_read(&parameters(), 0, start.later(RETRY_PAUSE - LEASE))));
        let demand = Demand::new();
        assert!(demand.finish_read(&parameters(), Some(1), start, start.later(LEASE / 3)));
    }
}
