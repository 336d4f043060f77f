//! How fast requests are sent: at most at the tester's rate, and more slowly while the target throttles.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::lock;

/// What throttling did to a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Throttling {
    /// Responses with status 429, and with 503 where the suite was going to wait.
    pub responses: u64,
    /// Lowest rate to which the suite backed off, in requests per second, rounded up; none when it did not.
    pub lowest_rate: Option<u32>,
}

/// The rate of a run. It is halved, at most once a second, when most of the latest responses are throttled, and rises by a tenth after
/// so many served ones. A service that throttles fewer, at whatever rate, keeps it: each such request is just waited out.
#[derive(Debug)]
pub struct Pace(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The tester's rate, in requests per second.
    ceiling: Option<f64>,
    /// The current rate below the ceiling; none while it is not lowered.
    limit: Option<f64>,
    /// When each of the latest responses was received, and whether it was throttled.
    latest: VecDeque<(Instant, bool)>,
    /// Served requests since the rate last changed.
    served: u32,
    served_at: Option<Instant>,
    fell_at: Option<Instant>,
    /// When the next request may be sent; none for at once.
    next: Option<Instant>,
    throttling: Throttling,
    /// When the longest `Retry-After` so far ends.
    retry_at: Option<Instant>,
    /// Requests in a row whose last attempt was throttled.
    consecutive_throttled: u32,
    /// Requests still throttled after waiting, since one was last served after waiting.
    failed_waits: u32,
    /// Whether these failed while others were served: what is throttled then is a kind of requests, at whatever rate.
    is_of_a_kind: bool,
}

/// Wait after a 429 without `Retry-After`.
pub(super) const DEFAULT_WAIT: Duration = Duration::from_secs(1);

/// Requests in a row that are throttled on their last attempt before the run stops sending for now.
const MAX_CONSECUTIVE_THROTTLED: u32 = 12;

/// Requests that are still throttled after waiting before the suite stops waiting. If others were served meanwhile, what is throttled
/// is a kind of requests, for instance those with wrong tokens.
const MAX_FAILED_WAITS: u32 = 3;

/// When the suite has stopped waiting, one of this many throttled requests waits, to find out whether waiting helps again.
const WAIT_AGAIN_EVERY: u32 = 8;

/// Number of latest responses that are considered. The rate falls if more than half of them are throttled.
const LATEST: usize = 20;

/// Minimum time between two falls: requests that were sent before the first one say nothing about the lower rate.
const FALL_INTERVAL: Duration = Duration::from_secs(1);

/// Requests that must be served before the rate rises, and the factor by which it does.
const SERVED_PER_RISE: u32 = 8;
const GROWTH: f64 = 1.1;

/// The rate never falls below this, in requests per second: the time limit of the run ends what takes longer.
const MIN_RATE: f64 = 1.0;

/// Assumed rate of a target that responds faster than can be measured.
const MAX_RATE: f64 = 10_000.0;

impl Pace {
    pub(super) fn new(ceiling: Option<NonZeroU32>) -> Self {
        let ceiling = ceiling.map(|rate| f64::from(rate.get()));
        Self(Mutex::new(State { ceiling, ..State::default() }))
    }

    /// Reserves the next turn to send a request, and returns when it is.
    pub(super) fn next_turn(&self, now: Instant) -> Instant {
        let mut state = lock(&self.0);
        let Some(rate) = state.limit.or(state.ceiling) else { return now };
        let turn = state.next.map_or(now, |next| next.max(now));
        state.next = Some(turn + Duration::from_secs_f64(1.0 / rate));
        turn
    }

    /// Notes that a request was served, successfully or not.
    pub(super) fn note_served(&self, now: Instant) {
        let mut state = lock(&self.0);
        state.consecutive_throttled = 0;
        state.served_at = Some(now);
        if state.failed_waits >= MAX_FAILED_WAITS && !state.is_of_a_kind {
            // Everything was throttled, and is not any more. The next wait shows whether a part of it still is.
            state.failed_waits = MAX_FAILED_WAITS - 1;
        }
        state.push(now, false);
        state.served = state.served.saturating_add(1);
        if let Some(limit) = state.limit.filter(|_| state.served >= SERVED_PER_RISE) {
            state.served = 0;
            // At the tester's own rate, or above what any target reaches, the limit is lifted.
            let ceiling = state.ceiling.unwrap_or(MAX_RATE);
            state.limit = Some(limit * GROWTH).filter(|rate| *rate < ceiling);
        }
    }

    /// Notes that a request sent at `sent` was throttled; `retry_after` is the wait that the response asks for. A response that
    /// asks for no wait is not about the rate, nor is one to a kind of requests that is always throttled.
    pub(super) fn note_throttled(&self, sent: Instant, retry_after: Option<Duration>, now: Instant) {
        let mut state = lock(&self.0);
        state.throttling.responses += 1;
        if retry_after != Some(Duration::ZERO) && !state.is_of_a_kind {
            state.lower_rate(sent, now);
        }
        // A wait beyond what a clock can represent is ignored.
        let retry_at = retry_after.and_then(|wait| now.checked_add(wait));
        state.retry_at = state.retry_at.max(retry_at);
    }

    /// Notes that the last attempt of a request was throttled.
    pub(super) fn note_given_up(&self) {
        lock(&self.0).consecutive_throttled += 1;
    }

    /// Notes whether a request that had waited since then was served. If waiting fails too often while others are served, the rate is
    /// not the cause, so the run returns to the tester's rate. While nothing is served, the rate goes on falling.
    pub(super) fn note_wait(&self, is_served: bool, since: Instant, now: Instant) {
        let mut state = lock(&self.0);
        if is_served {
            (state.failed_waits, state.is_of_a_kind) = (0, false);
            return;
        }
        state.failed_waits = state.failed_waits.saturating_add(1);
        // Those that were served when the wait began may have been the last ones that the service allows in some time.
        let late = since + now.saturating_duration_since(since) / 2;
        let were_others_served = state.served_at.is_some_and(|at| at >= late);
        if state.failed_waits >= MAX_FAILED_WAITS && were_others_served && !state.is_of_a_kind {
            (state.is_of_a_kind, state.limit) = (true, None);
            state.latest.clear();
        }
    }

    /// How many times a throttled request is sent; `max` while waiting helps.
    pub(super) fn max_attempts(&self, max: u32) -> u32 {
        match lock(&self.0).failed_waits {
            failed if failed < MAX_FAILED_WAITS => max,
            failed if failed % WAIT_AGAIN_EVERY == 0 => max.min(2),
            _ => 1,
        }
    }

    /// Whether the target throttles every request, so that no more should be sent for now.
    pub fn is_throttling_everything(&self) -> bool {
        lock(&self.0).consecutive_throttled >= MAX_CONSECUTIVE_THROTTLED
    }

    /// Sends requests again after the target throttled everything, and lets a throttled one wait again.
    pub fn reset_throttling(&self) {
        let mut state = lock(&self.0);
        state.consecutive_throttled = 0;
        state.failed_waits = state.failed_waits.min(MAX_FAILED_WAITS - 1);
    }

    pub fn retry_at(&self) -> Option<Instant> {
        lock(&self.0).retry_at
    }

    pub fn throttling(&self) -> Throttling {
        lock(&self.0).throttling
    }
}

impl State {
    fn push(&mut self, now: Instant, is_throttled: bool) {
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back((now, is_throttled));
    }

    fn lower_rate(&mut self, sent: Instant, now: Instant) {
        if self.fell_at.is_some_and(|fell_at| sent <= fell_at) {
            return;
        }
        self.push(now, true);
        let throttled = self.latest.iter().filter(|(_, is_throttled)| *is_throttled).count();
        let is_too_soon = self.fell_at.is_some_and(|at| now.saturating_duration_since(at) < FALL_INTERVAL);
        if throttled <= LATEST / 2 || is_too_soon {
            return;
        }
        let rate = (self.limit.or(self.ceiling).unwrap_or_else(|| self.measured()) / 2.0).max(MIN_RATE);
        self.limit = Some(rate);
        let lowest = self.throttling.lowest_rate.unwrap_or(u32::MAX);
        self.throttling.lowest_rate = Some(lowest.min(rate.ceil() as u32));
        self.latest.clear();
        self.served = 0;
        self.fell_at = Some(now);
        self.next = self.next.max(Some(now + Duration::from_secs_f64(1.0 / rate)));
    }

    /// The rate of the latest responses.
    fn measured(&self) -> f64 {
        let (Some((first, _)), Some((last, _))) = (self.latest.front(), self.latest.back()) else {
            return MAX_RATE;
        };
        let intervals = self.latest.len().saturating_sub(1) as f64;
        let rate = intervals / last.saturating_duration_since(*first).as_secs_f64();
        if rate.is_finite() { rate.clamp(MIN_RATE, MAX_RATE) } else { MAX_RATE }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::wire::WireOptions;

    #[test]
    fn the_documentation_states_the_rule() {
        let WireOptions { attempts, longest_wait, .. } = WireOptions::default();
        let rule = format!(
            "waits as `Retry-After` says, at most {} s and {attempts} attempts per request. Halves the rate, at most once a second, when \
             more than {} of the latest {LATEST} responses are throttled, and raises it by a tenth after {SERVED_PER_RISE} served ones. After \
             {MAX_CONSECUTIVE_THROTTLED} throttled requests in a row it stops, and the open cases are inconclusive. If {MAX_FAILED_WAITS} \
             requests are throttled after waiting while others are served",
            longest_wait.as_secs(),
            LATEST / 2
        );
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../NETWORK.md"));
        assert!(page.expect("the page").contains(&rule), "{rule}");
    }

    /// How many of 3,000 requests a target throttles, how long they take, and the pace after them. Each of eight senders waits for the
    /// response, and then for the second that a throttled one asks for.
    fn throttled_by(ceiling: Option<u32>, mut serves: impl FnMut(u64) -> bool) -> (u32, Duration, Pace) {
        const LATENCY: Duration = Duration::from_millis(10);
        let begun = Instant::now();
        let pace = Pace::new(ceiling.and_then(NonZeroU32::new));
        let (mut throttled, mut ended) = (0, begun);
        // When each sender goes on, and with a response to a request that was sent when.
        let mut senders: BTreeSet<_> = (0..8).map(|sender| (begun, sender, None)).collect();
        let mut received = 0;
        while received < 3_000 {
            let (now, sender, sent) = senders.pop_first().expect("a sender");
            let Some(sent) = sent else {
                let turn = pace.next_turn(now);
                senders.insert((turn + LATENCY, sender, Some(turn)));
                continue;
            };
            (received, ended) = (received + 1, now);
            if serves(sent.duration_since(begun).as_secs()) {
                pace.note_served(now);
                senders.insert((now, sender, None));
            } else {
                throttled += 1;
                pace.note_throttled(sent, Some(Duration::from_secs(1)), now);
                senders.insert((now + Duration::from_secs(1), sender, None));
            }
        }
        (throttled, ended - begun, pace)
    }

    #[test]
    fn a_share_that_is_throttled_at_any_rate_delays_a_run_little() {
        // Eight senders that wait a second for each third response need 125 seconds.
        const MAX: Duration = Duration::from_secs(200);
        let mut number = 0;
        let each_third = |_| {
            number += 1;
            number % 3 != 0
        };
        let (_, took, pace) = throttled_by(Some(100), each_third);
        assert!(took < MAX && pace.throttling().lowest_rate.is_none(), "{took:?}");
        for seed in 0..8 {
            let mut random = fastrand::Rng::with_seed(seed);
            let (_, took, _) = throttled_by(Some(100), |_| random.u32(..4) > 0);
            assert!(took < MAX, "seed {seed}: {took:?}");
        }
    }

    #[test]
    fn a_rate_that_is_the_cause_is_lowered() {
        for limit in [2, 10, 20, 50] {
            let (mut second, mut served) = (0, 0);
            let serves = |now| {
                served = if now == second { served + 1 } else { 1 };
                second = now;
                served <= limit
            };
            let (throttled, ..) = throttled_by(None, serves);
            assert!(throttled < 3_000 / 2, "{limit} requests per second: {throttled} throttled");
        }
    }

    #[test]
    fn the_rate_falls_to_its_minimum_and_recovers_up_to_that_of_the_tester() {
        let begun = Instant::now();
        let pace = Pace::new(NonZeroU32::new(100));
        let rate = || lock(&pace.0).limit;
        for second in 0..40 {
            let at = begun + Duration::from_secs(second);
            (0..LATEST).for_each(|_| pace.note_throttled(at, None, at));
        }
        assert_eq!((rate(), pace.throttling().lowest_rate), (Some(MIN_RATE), Some(1)));
        let end = begun + Duration::from_secs(50);
        (0..MAX_FAILED_WAITS).for_each(|_| pace.note_wait(false, end - DEFAULT_WAIT, end));
        assert_eq!(rate(), Some(MIN_RATE), "nothing was served meanwhile, so the rate may be the cause");
        (0..SERVED_PER_RISE * 50).for_each(|_| pace.note_served(end));
        assert_eq!(rate(), None, "the tester's rate");
    }

    #[test]
    fn what_is_throttled_alone_is_not_waited_for_and_changes_no_rate() {
        let begun = Instant::now();
        let pace = Pace::new(NonZeroU32::new(100));
        let at = |second| begun + Duration::from_secs(second);
        let waited = |is_served, second| pace.note_wait(is_served, at(second - 1), at(second));
        let throttle = |second| (0..LATEST).for_each(|_| pace.note_throttled(at(second), None, at(second)));
        let seen = || {
            let limit = lock(&pace.0).limit;
            (limit, pace.max_attempts(10))
        };
        (0..MAX_FAILED_WAITS).for_each(|_| waited(false, 1));
        throttle(2);
        assert_eq!(seen(), (Some(50.0), 1), "nothing is served, so the rate may be the cause");
        pace.note_served(at(3));
        assert_eq!(seen(), (Some(50.0), 10), "waiting may help again");
        waited(false, 3);
        assert_eq!(seen(), (None, 1), "others are served");
        pace.note_served(at(4));
        throttle(5);
        assert_eq!(seen(), (None, 1), "it is known to be of a kind");
        waited(true, 6);
        throttle(7);
        assert_eq!(seen(), (Some(50.0), 10), "it was not");
    }
}
