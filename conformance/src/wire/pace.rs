//! How fast requests are sent: at most at the tester's rate, and more slowly while the target throttles.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use crate::lock::lock;

/// What throttling did to a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Throttling {
    /// Responses with status 429, and with 503 where the suite was going to wait.
    pub responses: u64,
    /// Lowest rate to which the suite backed off, in requests per second, rounded up; none when it did not.
    pub lowest_rate: Option<u32>,
}

/// The rate of a run. It is halved when a quarter of the latest responses are throttled. While requests are served it rises in
/// equal steps to the rate before it was halved, and then by half of itself at a time: a rate that was once too high is
/// approached slowly, and exceeded quickly once it is served. A target whose throttling stays moderate while the rate falls does
/// not throttle because of the rate; then the rate is restored, and halved only when most responses are throttled. A rate that
/// is not reached, because requests wait as the target asked, says nothing about the cause.
#[derive(Debug)]
pub(crate) struct Pace(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The tester's rate, in requests per second.
    ceiling: Option<f64>,
    /// The current rate below the ceiling; none while nothing was throttled.
    limit: Option<f64>,
    /// The rate before it was last halved.
    previous: f64,
    /// Served requests since the rate last changed.
    served: u32,
    /// Whether each of the latest responses was throttled.
    latest: VecDeque<bool>,
    /// When the latest requests were sent.
    sent: VecDeque<Instant>,
    /// When the rate was last halved.
    halved_at: Option<Instant>,
    /// The first rate of a series in which each was reached, and halved although at least half of the responses were served.
    moderate_since: Option<f64>,
    /// How many of the latest responses must be throttled to halve the rate.
    halve_at: usize,
    /// When the rate may rise again.
    may_rise: Instant,
    /// Wait that the last throttled response asked for: the cost of a rate that is too high.
    wait: Duration,
    /// When the next request may be sent.
    next: Instant,
    throttling: Throttling,
    lowest: f64,
    /// When the longest `Retry-After` so far ends.
    retry_at: Option<Instant>,
    /// Requests in a row whose last attempt was throttled.
    consecutive_throttled: u32,
    /// Requests still throttled after waiting, since one was last served after waiting.
    failed_waits: u32,
}

/// Wait after a 429 without `Retry-After`.
pub(super) const DEFAULT_WAIT: Duration = Duration::from_secs(1);

/// Requests in a row that are throttled on their last attempt before the run stops sending for now.
const MAX_CONSECUTIVE_THROTTLED: u32 = 12;

/// Requests that are still throttled after waiting before the suite stops waiting: what is throttled then is a kind of
/// requests, for instance those with wrong tokens, at whatever rate they are sent.
const MAX_FAILED_WAITS: u32 = 3;

/// When the suite has stopped waiting, one of this many throttled requests waits all the same, to find out whether waiting helps
/// again.
const WAIT_AGAIN_EVERY: u32 = 8;

/// Number of latest responses that are considered, and how many of them must be throttled to halve the rate. If fewer are, each
/// is just waited out.
const LATEST: usize = 20;
const MANY_THROTTLED: usize = 5;
const MOST_THROTTLED: usize = LATEST / 2 + 1;

/// A target that serves at least half at one rate would serve everything at half of it. If at least a quarter is still throttled
/// at this part of the rate, the rate is not the cause.
const NOT_THE_CAUSE_AT: f64 = 1.0 / 4.0;

/// A rate is reached when requests are sent at this part of it.
const REACHED: f64 = 1.0 / 2.0;

/// Requests that must be served before the rate rises by a step, and the number of steps that double it.
const SERVED_PER_STEP: u32 = 8;
const STEPS: f64 = 8.0;

/// Factor of a step above the rate that was last throttled.
const GROWTH: f64 = 1.5;

/// A step takes at least this part of the wait that the target asks for, and that wait counts up to a maximum: a halved rate
/// needs at least half of the wait to recover.
const MAX_WAIT: Duration = Duration::from_secs(5);
const STEPS_PER_WAIT: u32 = 8;

/// The rate never falls below this, in requests per second: the time limit of the run ends what takes longer.
const MIN_RATE: f64 = 1.0;

/// Assumed rate of a target that responds faster than can be measured.
const MAX_RATE: f64 = 10_000.0;

/// Requests over which the rate is measured.
const MEASURED: usize = 64;

impl Pace {
    pub(super) fn new(ceiling: Option<NonZeroU32>, now: Instant) -> Self {
        Self(Mutex::new(State {
            ceiling: ceiling.map(|rate| f64::from(rate.get())),
            limit: None,
            previous: MAX_RATE,
            served: 0,
            latest: VecDeque::with_capacity(LATEST),
            sent: VecDeque::with_capacity(MEASURED),
            halved_at: None,
            moderate_since: None,
            halve_at: MANY_THROTTLED,
            may_rise: now,
            wait: Duration::ZERO,
            next: now,
            throttling: Throttling::default(),
            lowest: f64::INFINITY,
            retry_at: None,
            consecutive_throttled: 0,
            failed_waits: 0,
        }))
    }

    /// Reserves the next turn to send a request, and returns when it is.
    pub(super) fn next_turn(&self, now: Instant) -> Instant {
        let mut state = lock(&self.0);
        let turn = match state.rate() {
            Some(rate) => {
                let turn = state.next.max(now);
                state.next = turn + Duration::from_secs_f64(1.0 / rate);
                turn
            }
            None => now,
        };
        push_latest(&mut state.sent, MEASURED, turn);
        turn
    }

    /// Notes that a request was served, successfully or not.
    pub(super) fn note_served(&self, now: Instant) {
        let mut state = lock(&self.0);
        state.consecutive_throttled = 0;
        state.raise_rate(now);
    }

    /// Notes that a request sent at `sent` was throttled; `retry_after` is the wait that the response asks for. A response that
    /// asks for no wait is not about the rate, nor is any while waiting does not help.
    pub(super) fn note_throttled(&self, sent: Instant, retry_after: Option<Duration>, now: Instant) {
        let mut state = lock(&self.0);
        state.throttling.responses += 1;
        if retry_after != Some(Duration::ZERO) && state.failed_waits < MAX_FAILED_WAITS {
            state.lower_rate(sent, retry_after.unwrap_or(DEFAULT_WAIT), now);
        }
        // A wait beyond what a clock can represent is ignored.
        let retry_at = retry_after.and_then(|wait| now.checked_add(wait));
        state.retry_at = state.retry_at.max(retry_at);
    }

    /// Notes that the last attempt of a request was throttled.
    pub(super) fn note_given_up(&self) {
        lock(&self.0).consecutive_throttled += 1;
    }

    /// Notes whether a request that had waited was served. If waiting fails too often, the rate is not the cause, so the run
    /// returns to the tester's rate.
    pub(super) fn note_wait(&self, is_served: bool) {
        let mut state = lock(&self.0);
        state.failed_waits = if is_served { 0 } else { state.failed_waits + 1 };
        if state.failed_waits == MAX_FAILED_WAITS {
            state.limit = None;
            state.moderate_since = None;
            state.halve_at = MANY_THROTTLED;
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
    pub(crate) fn is_throttling_everything(&self) -> bool {
        lock(&self.0).consecutive_throttled >= MAX_CONSECUTIVE_THROTTLED
    }

    /// Sends requests again after the target throttled everything, and lets a throttled one wait again.
    pub(crate) fn reset_throttling(&self) {
        let mut state = lock(&self.0);
        state.consecutive_throttled = 0;
        state.failed_waits = state.failed_waits.min(MAX_FAILED_WAITS - 1);
    }

    /// When the longest `Retry-After` so far ends.
    pub(super) fn retry_at(&self) -> Option<Instant> {
        lock(&self.0).retry_at
    }

    pub(super) fn throttling(&self) -> Throttling {
        lock(&self.0).throttling
    }
}

impl State {
    fn rate(&self) -> Option<f64> {
        match (self.limit, self.ceiling) {
            (Some(limit), Some(ceiling)) => Some(limit.min(ceiling)),
            (limit, ceiling) => limit.or(ceiling),
        }
    }

    fn raise_rate(&mut self, now: Instant) {
        push_latest(&mut self.latest, LATEST, false);
        let Some(limit) = self.limit else { return };
        self.served += 1;
        if self.served < SERVED_PER_STEP || now < self.may_rise {
            return;
        }
        self.served = 0;
        self.may_rise = now + self.wait / STEPS_PER_WAIT;
        let raised = if limit < self.previous { limit + self.previous / STEPS } else { limit * GROWTH };
        if raised >= self.previous {
            self.moderate_since = None;
        }
        // At the tester's own rate, or above what any target reaches, the limit is lifted.
        self.limit = Some(raised).filter(|raised| *raised < self.ceiling.unwrap_or(MAX_RATE));
    }

    /// A request that was sent before the rate was halved says nothing about the lower rate.
    fn lower_rate(&mut self, sent: Instant, wait: Duration, now: Instant) {
        self.wait = wait.min(MAX_WAIT);
        if self.halved_at.is_some_and(|halved_at| sent <= halved_at) {
            return;
        }
        push_latest(&mut self.latest, LATEST, true);
        let throttled = self.latest.iter().filter(|throttled| **throttled).count();
        if throttled < self.halve_at {
            return;
        }
        let rate = self.rate().unwrap_or_else(|| self.measured());
        let is_moderate = self.latest.len() >= 2 * throttled && self.measured() >= rate * REACHED;
        self.latest.clear();
        self.served = 0;
        self.halve_at = MANY_THROTTLED;
        self.moderate_since = is_moderate.then(|| self.moderate_since.unwrap_or(rate));
        if let Some(first) = self.moderate_since
            && rate <= first * NOT_THE_CAUSE_AT
        {
            self.limit = Some(first);
            self.halve_at = MOST_THROTTLED;
            return;
        }
        self.previous = rate;
        let halved = (rate / 2.0).max(MIN_RATE);
        self.limit = Some(halved);
        self.lowest = self.lowest.min(halved);
        self.throttling.lowest_rate = Some(self.lowest.ceil() as u32);
        self.halved_at = Some(now);
        self.may_rise = now + self.wait / STEPS_PER_WAIT;
        self.next = self.next.max(now + Duration::from_secs_f64(1.0 / halved));
    }

    /// The rate at which the latest requests were sent.
    fn measured(&self) -> f64 {
        let (Some(first), Some(last)) = (self.sent.front(), self.sent.back()) else { return MAX_RATE };
        let time = last.saturating_duration_since(*first).as_secs_f64();
        match self.sent.len() - 1 {
            intervals if intervals > 0 && time > 0.0 => (intervals as f64 / time).clamp(MIN_RATE, MAX_RATE),
            _ => MAX_RATE,
        }
    }
}

fn push_latest<T>(latest: &mut VecDeque<T>, max: usize, item: T) {
    if latest.len() == max {
        latest.pop_front();
    }
    latest.push_back(item);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn pace(rate: Option<u32>) -> (Pace, Instant) {
        let now = Instant::now();
        (Pace::new(rate.and_then(NonZeroU32::new), now), now)
    }

    /// The current rate, from the distance of two turns.
    fn rate(pace: &Pace, now: Instant) -> f64 {
        let first = pace.next_turn(now);
        let between = pace.next_turn(now).saturating_duration_since(first).as_secs_f64();
        (1.0 / between).round()
    }

    /// Throttles with a wait that delays no step.
    fn throttle(pace: &Pace, sent: Instant, now: Instant, times: usize) {
        (0..times).for_each(|_| pace.note_throttled(sent, Some(Duration::from_nanos(1)), now));
    }

    fn serve(pace: &Pace, now: Instant, times: u32) {
        (0..times).for_each(|_| pace.note_served(now));
    }

    /// Throttles without bound, so that the rate falls to the minimum.
    fn throttle_to_the_minimum(pace: &Pace, begun: Instant) {
        for second in 0..40 {
            let at = begun + Duration::from_secs(second);
            throttle(pace, at, at, MANY_THROTTLED);
        }
        assert_eq!(rate(pace, begun), MIN_RATE);
        assert_eq!(pace.throttling().lowest_rate, Some(1));
    }

    #[test]
    fn the_rate_is_halved_once_for_a_burst_and_rises_in_steps() {
        let (pace, begun) = pace(Some(100));
        let at = |millis| begun + Duration::from_millis(millis);
        throttle(&pace, at(1), at(10), MANY_THROTTLED - 1);
        assert_eq!(rate(&pace, begun), 100.0, "a few are waited out");
        throttle(&pace, at(1), at(10), 9);
        assert_eq!(rate(&pace, begun), 50.0, "requests sent before it was halved count once");
        throttle(&pace, at(11), at(20), MANY_THROTTLED);
        assert_eq!(rate(&pace, begun), 25.0);
        serve(&pace, at(30), SERVED_PER_STEP);
        assert_eq!(rate(&pace, begun), 31.0, "an eighth of 50 more");
        serve(&pace, at(30), SERVED_PER_STEP * 20);
        assert_eq!(rate(&pace, begun), 100.0, "never above the tester's rate");
        assert_eq!(pace.throttling(), Throttling { responses: 18, lowest_rate: Some(25) });
    }

    #[test]
    fn the_rate_stays_within_its_bounds() {
        let (pace, begun) = pace(None);
        throttle_to_the_minimum(&pace, begun);
        serve(&pace, begun + Duration::from_secs(99), 1_000_000);
        assert!(pace.0.lock().expect("whole").rate().is_none_or(|rate| rate <= MAX_RATE));
    }

    #[test]
    fn a_step_takes_its_part_of_the_wait_however_many_requests_are_served() {
        let (pace, begun) = pace(Some(100));
        for _ in 0..MANY_THROTTLED {
            pace.note_throttled(begun, Some(Duration::from_secs(3600)), begun);
        }
        let step = MAX_WAIT / STEPS_PER_WAIT;
        serve(&pace, begun + step - Duration::from_millis(1), SERVED_PER_STEP * 9);
        assert_eq!(rate(&pace, begun), 50.0);
        serve(&pace, begun + step, SERVED_PER_STEP * 9);
        assert_eq!(rate(&pace, begun), 63.0, "one step");
    }

    /// At one request a second these responses take some 24 seconds.
    #[test]
    fn the_rate_recovers_from_the_minimum_in_a_few_steps() {
        let (pace, begun) = pace(Some(100));
        throttle_to_the_minimum(&pace, begun);
        let later = begun + Duration::from_secs(99);
        serve(&pace, later, SERVED_PER_STEP * 12);
        assert_eq!(rate(&pace, begun), 100.0);
        throttle(&pace, later, later, MANY_THROTTLED);
        assert_eq!(rate(&pace, begun), 50.0);
        (0..MAX_FAILED_WAITS).for_each(|_| pace.note_wait(false));
        assert_eq!(rate(&pace, begun), 100.0, "waiting does not help, so the rate is not the cause");
    }

    /// Throttles each fourth request until `responses` were received.
    fn throttle_each_fourth(pace: &Pace, begun: Instant, responses: u64) {
        for number in 1..=responses {
            let at = begun + Duration::from_secs(number);
            match number % 4 {
                0 => throttle(pace, at, at, 1),
                _ => serve(pace, at, 1),
            }
        }
    }

    #[test]
    fn a_rate_that_is_not_the_cause_is_restored() {
        let (pace, begun) = pace(Some(100));
        throttle_each_fourth(&pace, begun, 200);
        assert_eq!(rate(&pace, begun), 100.0);
        let lowest = pace.throttling().lowest_rate;
        assert!(
            lowest.is_some_and(|lowest| (12..=25).contains(&lowest)),
            "about a quarter of 100: {lowest:?}"
        );
        throttle_each_fourth(&pace, begun + Duration::from_secs(200), 1_000);
        assert_eq!(rate(&pace, begun), 100.0, "and kept");
        assert_eq!(pace.throttling().lowest_rate, lowest);
        let later = begun + Duration::from_secs(9_999);
        throttle(&pace, later, later, MOST_THROTTLED);
        assert_eq!(rate(&pace, begun), 50.0, "until most responses are throttled");
    }

    /// How many of `requests` a target throttles that serves `limit` requests in each second. Each sender waits for the response,
    /// and then for the second that a throttled one asks for.
    fn throttled_by(limit: u32, latency: Duration, senders: usize, requests: u32) -> u32 {
        let (pace, begun) = pace(None);
        let (mut second, mut served, mut throttled, mut received) = (0, 0, 0, 0);
        // When each sender goes on, and with a response to a request that was sent when.
        let mut senders: BTreeSet<_> = (0..senders).map(|sender| (begun, sender, None)).collect();
        while received < requests {
            let (now, sender, sent) = senders.pop_first().expect("a sender");
            let Some(sent) = sent else {
                let turn = pace.next_turn(now);
                senders.insert((turn + latency, sender, Some(turn)));
                continue;
            };
            received += 1;
            if sent.duration_since(begun).as_secs() != second {
                (second, served) = (sent.duration_since(begun).as_secs(), 0);
            }
            if served < limit {
                served += 1;
                pace.note_served(now);
                senders.insert((now, sender, None));
            } else {
                throttled += 1;
                pace.note_throttled(sent, Some(Duration::from_secs(1)), now);
                senders.insert((now + Duration::from_secs(1), sender, None));
            }
        }
        throttled
    }

    #[test]
    fn a_rate_that_is_the_cause_is_kept_low() {
        const REQUESTS: u32 = 4_000;
        for (limit, senders) in [2, 10, 20, 50].into_iter().flat_map(|limit| [(limit, 1), (limit, 8)]) {
            for latency in [2, 30, 100].map(Duration::from_millis) {
                let throttled = throttled_by(limit, latency, senders, REQUESTS);
                assert!(
                    throttled < REQUESTS / 4,
                    "{limit} requests per second, {senders} senders, {latency:?}: {throttled} of {REQUESTS}"
                );
            }
        }
    }

    #[test]
    fn a_few_throttled_responses_and_those_that_ask_for_no_wait_keep_the_rate() {
        let (pace, begun) = pace(Some(100));
        for number in 0..200 {
            match number % 9 {
                8 => throttle(&pace, begun, begun, 1),
                _ => serve(&pace, begun, 1),
            }
            pace.note_throttled(begun, Some(Duration::ZERO), begun);
        }
        assert_eq!(rate(&pace, begun), 100.0);
        assert_eq!(pace.throttling(), Throttling { responses: 222, lowest_rate: None });
    }
}
