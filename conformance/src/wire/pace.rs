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

/// The rate of a run. When too many of the latest responses are throttled, it falls to the share of them that was served. While
/// requests are served it rises in growing steps, so that a rate that was too high is approached slowly, and exceeded quickly once it
/// is served. A service that throttles fewer, at whatever rate, keeps it: each such request is just waited out. If a share is still
/// throttled at a third of a rate, the rate is not the cause: it is restored, and from then on falls only when most are throttled.
#[derive(Debug)]
pub(crate) struct Pace(Mutex<State>);

#[derive(Debug)]
struct State {
    /// The tester's rate, in requests per second.
    ceiling: Option<f64>,
    /// The current rate below the ceiling; none while nothing was throttled.
    limit: Option<f64>,
    /// Served requests since the rate last changed, and times that it has risen since it last fell.
    served: u32,
    rises: u32,
    /// When each of the latest responses was received, and whether it was throttled.
    latest: VecDeque<(Instant, bool)>,
    /// When the responses of a longer time were received, which tells whether the rate is reached.
    received: VecDeque<Instant>,
    /// The first rate of a series in which each was reached, and fell although a share of the requests was served.
    first: Option<f64>,
    /// How many of the latest responses must be throttled for the rate to fall.
    many_throttled: usize,
    /// When the rate last fell.
    fell_at: Option<Instant>,
    /// When the next request may be sent.
    next: Instant,
    throttling: Throttling,
    /// When the longest `Retry-After` so far ends.
    retry_at: Option<Instant>,
    /// Requests in a row whose last attempt was throttled.
    consecutive_throttled: u32,
    /// Requests still throttled after waiting, since one was last served after waiting.
    failed_waits: u32,
    /// Whether these failed while others were served: what is throttled then is a kind of requests, at whatever rate.
    is_of_a_kind: bool,
    /// When a request was last served.
    served_at: Option<Instant>,
}

/// Wait after a 429 without `Retry-After`.
pub(super) const DEFAULT_WAIT: Duration = Duration::from_secs(1);

/// Requests in a row that are throttled on their last attempt before the run stops sending for now.
const MAX_CONSECUTIVE_THROTTLED: u32 = 12;

/// Requests that are still throttled after waiting before the suite stops waiting. If others were served meanwhile, what is throttled
/// is a kind of requests, for instance those with wrong tokens.
const MAX_FAILED_WAITS: u32 = 3;

/// When the suite has stopped waiting, one of this many throttled requests waits all the same, to find out whether waiting helps
/// again.
const WAIT_AGAIN_EVERY: u32 = 8;

/// Number of latest responses that are considered, and how many of them must be throttled for the rate to fall.
const LATEST: usize = 20;
const MANY_THROTTLED: usize = 6;
const MOST_THROTTLED: usize = LATEST / 2 + 1;

/// If at least this share is served at each rate, down to this part of the first, the rate is not the cause.
const SHARE_SERVED: f64 = 0.3;
const NOT_THE_CAUSE_AT: f64 = 1.0 / 3.0;

/// A rate is reached when at least this part of it was measured over this many responses. It is not when requests wait as the
/// target asked, and then says nothing about the cause.
const REACHED: f64 = 0.5;
const MEASURED: usize = 64;

/// Requests that must be served before the rate rises, and the part of it by which the first rise exceeds the last.
const SERVED_PER_RISE: u32 = 8;
const GROWTH: f64 = 0.04;

/// The rate never falls below this, in requests per second: the time limit of the run ends what takes longer.
const MIN_RATE: f64 = 1.0;

/// Assumed rate of a target that responds faster than can be measured.
const MAX_RATE: f64 = 10_000.0;

impl Pace {
    pub(super) fn new(ceiling: Option<NonZeroU32>, now: Instant) -> Self {
        Self(Mutex::new(State {
            ceiling: ceiling.map(|rate| f64::from(rate.get())),
            limit: None,
            served: 0,
            rises: 0,
            latest: VecDeque::with_capacity(LATEST),
            received: VecDeque::with_capacity(MEASURED),
            first: None,
            many_throttled: MANY_THROTTLED,
            fell_at: None,
            next: now,
            throttling: Throttling::default(),
            retry_at: None,
            consecutive_throttled: 0,
            failed_waits: 0,
            is_of_a_kind: false,
            served_at: None,
        }))
    }

    /// Reserves the next turn to send a request, and returns when it is.
    pub(super) fn next_turn(&self, now: Instant) -> Instant {
        let mut state = lock(&self.0);
        let Some(rate) = state.rate() else { return now };
        let turn = state.next.max(now);
        state.next = turn + Duration::from_secs_f64(1.0 / rate);
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
        state.raise_rate(now);
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
        state.failed_waits += 1;
        // Those that were served when the wait began may have been the last ones that the service allows in some time.
        let late = since + now.saturating_duration_since(since) / 2;
        let were_others_served = state.served_at.is_some_and(|at| at >= late);
        if state.failed_waits >= MAX_FAILED_WAITS && were_others_served && !state.is_of_a_kind {
            state.is_of_a_kind = true;
            (state.limit, state.first, state.many_throttled) = (None, None, MANY_THROTTLED);
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
        self.push((now, false));
        let Some(limit) = self.limit else { return };
        self.served += 1;
        if self.served < SERVED_PER_RISE {
            return;
        }
        self.served = 0;
        self.rises += 1;
        let raised = limit * (1.0 + GROWTH * f64::from(self.rises));
        self.first = self.first.filter(|first| raised < *first);
        self.limit = self.below_ceiling(raised);
    }

    fn below_ceiling(&self, rate: f64) -> Option<f64> {
        // At the tester's own rate, or above what any target reaches, the limit is lifted.
        Some(rate).filter(|rate| *rate < self.ceiling.unwrap_or(MAX_RATE))
    }

    /// A request that was sent before the rate fell says nothing about the lower rate.
    fn lower_rate(&mut self, sent: Instant, now: Instant) {
        if self.fell_at.is_some_and(|fell_at| sent <= fell_at) {
            return;
        }
        self.push((now, true));
        let throttled = self.latest.iter().filter(|(_, throttled)| *throttled).count();
        if throttled < self.many_throttled {
            return;
        }
        let served = 1.0 - throttled as f64 / self.latest.len() as f64;
        let rate = self.rate().unwrap_or_else(|| measured(self.latest.iter().map(|(at, _)| *at)));
        let is_reached =
            self.received.len() == MEASURED && measured(self.received.iter().copied()) >= rate * REACHED;
        self.latest.clear();
        (self.served, self.rises) = (0, 0);
        self.first = (is_reached && served >= SHARE_SERVED).then(|| self.first.unwrap_or(rate));
        if let Some(first) = self.first.take_if(|first| rate <= *first * NOT_THE_CAUSE_AT) {
            self.limit = self.below_ceiling(first);
            self.many_throttled = MOST_THROTTLED;
            return;
        }
        // Never to less than half at once, because the latest responses are few.
        let fallen = (rate * served.max(0.5)).max(MIN_RATE);
        self.limit = Some(fallen);
        let lowest = self.throttling.lowest_rate.unwrap_or(u32::MAX);
        self.throttling.lowest_rate = Some(lowest.min(fallen.ceil() as u32));
        self.fell_at = Some(now);
        self.next = self.next.max(now + Duration::from_secs_f64(1.0 / fallen));
    }

    fn push(&mut self, response: (Instant, bool)) {
        push_latest(&mut self.latest, LATEST, response);
        push_latest(&mut self.received, MEASURED, response.0);
    }
}

fn push_latest<T>(latest: &mut VecDeque<T>, max: usize, item: T) {
    if latest.len() == max {
        latest.pop_front();
    }
    latest.push_back(item);
}

/// The rate of responses that were received then.
fn measured(mut received: impl ExactSizeIterator<Item = Instant>) -> f64 {
    let intervals = received.len().saturating_sub(1);
    let (Some(first), Some(last)) = (received.next(), received.last()) else { return MAX_RATE };
    let rate = intervals as f64 / last.saturating_duration_since(first).as_secs_f64();
    if rate.is_finite() { rate.clamp(MIN_RATE, MAX_RATE) } else { MAX_RATE }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::wire::WireOptions;

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

    fn throttle(pace: &Pace, sent: Instant, now: Instant, times: usize) {
        (0..times).for_each(|_| pace.note_throttled(sent, Some(Duration::from_secs(1)), now));
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
    fn the_rate_falls_once_for_a_burst_and_rises_in_steps() {
        let (pace, begun) = pace(Some(100));
        let at = |millis| begun + Duration::from_millis(millis);
        throttle(&pace, at(1), at(10), MANY_THROTTLED - 1);
        assert_eq!(rate(&pace, begun), 100.0, "a few are waited out");
        throttle(&pace, at(1), at(10), 9);
        assert_eq!(rate(&pace, begun), 50.0, "requests sent before it fell count once");
        serve(&pace, at(20), SERVED_PER_RISE);
        assert_eq!(rate(&pace, begun), 52.0);
        serve(&pace, at(20), 14 - SERVED_PER_RISE);
        throttle(&pace, at(11), at(20), MANY_THROTTLED);
        assert_eq!(rate(&pace, begun), 36.0, "70 % were served");
        serve(&pace, at(30), SERVED_PER_RISE * 20);
        assert_eq!(rate(&pace, begun), 100.0, "never above the tester's rate");
        assert_eq!(pace.throttling(), Throttling { responses: 20, lowest_rate: Some(37) });
    }

    #[test]
    fn the_rate_stays_within_its_bounds_and_recovers() {
        for (ceiling, expected) in [(None, None), (Some(100), Some(100.0))] {
            let (pace, begun) = pace(ceiling);
            throttle_to_the_minimum(&pace, begun);
            let later = begun + Duration::from_secs(99);
            serve(&pace, later, SERVED_PER_RISE * 18);
            assert!(pace.0.lock().expect("whole").rate().is_none_or(|rate| rate <= MAX_RATE));
            assert!(expected.is_none_or(|expected| rate(&pace, begun) == expected));
            throttle_to_the_minimum(&pace, later + Duration::from_secs(1));
            let rate = || pace.0.lock().expect("whole").rate();
            let end = later + Duration::from_secs(9);
            (0..MAX_FAILED_WAITS).for_each(|_| pace.note_wait(false, later, end));
            assert_eq!(rate(), Some(MIN_RATE), "nothing was served meanwhile, so the rate may be the cause");
            pace.note_served(end);
            pace.note_wait(false, later, end);
            assert_eq!(rate(), expected, "waiting does not help what is throttled alone");
        }
    }

    /// A service that counts throttled requests as well, over ten seconds. Eight senders give up after ten attempts.
    #[test]
    fn a_service_that_counts_throttled_requests_is_served_in_the_end() {
        const A_WINDOW: usize = 300;
        let (pace, begun) = pace(None);
        let mut counted = VecDeque::new();
        let mut served = 0;
        let mut senders: BTreeSet<_> = (0..8).map(|sender| (begun, sender, begun, 0)).collect();
        for _ in 0..2_000 {
            let (now, sender, since, attempts) = senders.pop_first().expect("a sender");
            let sent = pace.next_turn(now);
            counted.retain(|at| *at + Duration::from_secs(10) > sent);
            counted.push_back(sent);
            let received = sent + Duration::from_millis(2);
            if counted.len() <= A_WINDOW {
                served += 1;
                pace.note_served(received);
                if attempts > 0 {
                    pace.note_wait(true, since, received);
                }
                senders.insert((received, sender, received, 0));
                continue;
            }
            pace.note_throttled(sent, Some(Duration::from_millis(100)), received);
            let again = received + Duration::from_millis(100);
            if attempts + 1 < pace.max_attempts(10) {
                senders.insert((again, sender, since, attempts + 1));
            } else {
                pace.note_wait(false, since, received);
                senders.insert((received, sender, received, 0));
            }
        }
        assert!(served > 1_200, "{served} of 2000");
    }

    #[test]
    fn the_documentation_states_the_rule() {
        let WireOptions { attempts, longest_wait, .. } = WireOptions::default();
        let rule = format!(
            "waits as `Retry-After` says, at most {} s and {attempts} attempts per request. Lowers the rate, at most to half, when \
             {MANY_THROTTLED} of the latest {LATEST} responses are throttled, and raises it after {SERVED_PER_RISE} served ones. After \
             {MAX_CONSECUTIVE_THROTTLED} throttled requests in a row it stops, and the open cases are inconclusive. If {MAX_FAILED_WAITS} \
             requests are throttled after waiting while others are served",
            longest_wait.as_secs()
        );
        assert!(include_str!("../../NETWORK.md").contains(&rule), "{rule}");
    }

    #[test]
    fn a_rate_that_is_not_the_cause_is_kept() {
        let (pace, begun) = pace(Some(100));
        for number in 1..=1_000 {
            let at = begun + Duration::from_secs(number);
            match number % 4 {
                0 => throttle(&pace, at, at, 1),
                _ => serve(&pace, at, 1),
            }
            pace.note_throttled(begun, Some(Duration::ZERO), begun);
        }
        assert_eq!(rate(&pace, begun), 100.0);
        assert_eq!(pace.throttling(), Throttling { responses: 1_250, lowest_rate: None });
    }

    /// How many of `requests` a target throttles, and how long that takes. Each sender waits for the response, and then for the
    /// second that a throttled one asks for.
    fn throttled_by(
        (pace, begun): (Pace, Instant),
        latency: Duration,
        senders: usize,
        requests: u32,
        mut serves: impl FnMut(u64) -> bool,
    ) -> (u32, Duration) {
        let (mut throttled, mut received, mut ended) = (0, 0, begun);
        // When each sender goes on, and with a response to a request that was sent when.
        let mut senders: BTreeSet<_> = (0..senders).map(|sender| (begun, sender, None)).collect();
        while received < requests {
            let (now, sender, sent) = senders.pop_first().expect("a sender");
            let Some(sent) = sent else {
                let turn = pace.next_turn(now);
                senders.insert((turn + latency, sender, Some(turn)));
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
        (throttled, ended - begun)
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
        let (_, took) = throttled_by(pace(Some(100)), Duration::from_millis(2), 8, 3_000, each_third);
        assert!(took < MAX, "{took:?}");
        for seed in 0..8 {
            let mut random = fastrand::Rng::with_seed(seed);
            let serves = |_| random.u32(..4) > 0;
            let (_, took) = throttled_by(pace(Some(100)), Duration::from_millis(2), 8, 3_000, serves);
            assert!(took < MAX, "seed {seed}: {took:?}");
        }
    }

    #[test]
    fn a_rate_that_is_the_cause_is_kept_low() {
        const REQUESTS: u32 = 4_000;
        for (limit, senders) in [2, 10, 20, 50].into_iter().flat_map(|limit| [(limit, 1), (limit, 8)]) {
            for latency in [2, 30, 100].map(Duration::from_millis) {
                let (mut second, mut served) = (0, 0);
                let serves = |now| {
                    served = if now == second { served + 1 } else { 1 };
                    second = now;
                    served <= limit
                };
                let (throttled, _) = throttled_by(pace(None), latency, senders, REQUESTS, serves);
                assert!(
                    throttled < REQUESTS / 4,
                    "{limit} requests per second, {senders} senders, {latency:?}: {throttled} of {REQUESTS}"
                );
            }
        }
    }
}
