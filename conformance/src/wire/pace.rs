//! How fast requests leave: at most at the tester's rate, and slower while the target throttles.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

/// What throttling did to a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Throttling {
    /// Responses with status 429, and with 503 where the suite was going to wait.
    pub responses: u64,
    /// Lowest rate that the suite lowered itself to, in requests per second, rounded up; none when it did not.
    pub lowest_rate: Option<u32>,
}

/// The rate of a run. It is halved when a quarter of the latest responses throttle. While requests are served it is raised in
/// equal steps to what it was before, and by half of itself from there on: what was too much once is approached slowly, and
/// left behind fast once it proves to be served.
#[derive(Debug)]
pub(super) struct Pace(Mutex<State>);

/// What a response says about the rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// The request was served, well or badly.
    Served,
    /// The target asks for a lower rate, and to wait for so long.
    Throttled(Duration),
    /// The target throttles for another reason than the rate: it asks for no time to wait, or waiting does not help.
    NotOfTheRate,
}

#[derive(Debug)]
struct State {
    /// The tester's rate, in requests per second.
    ceiling: Option<f64>,
    /// The rate in force below the ceiling; none while nothing was throttled.
    limit: Option<f64>,
    /// What the rate was before it was lowered last.
    before: f64,
    /// Responses since the rate was changed last.
    served: u32,
    /// Whether each of the latest responses was throttled.
    latest: VecDeque<bool>,
    /// When the latest requests left.
    left: VecDeque<Instant>,
    /// When the rate was lowered last.
    lowered: Option<Instant>,
    /// When the rate may be raised again.
    may_rise: Instant,
    /// Time that a response of the target asked to wait for last: what a rate that is too high costs.
    wait: Duration,
    /// When the next request may leave.
    slot: Instant,
    throttling: Throttling,
    lowest: f64,
}

/// Responses that are looked at, and how many of them must be throttled for a lower rate. A few that are throttled among many
/// that are not are waited out one by one.
const LATEST: usize = 20;
const TOO_MANY: usize = 5;

/// Responses that must be served before the rate is raised by a step, and steps that make up what was lost and as much again.
const SERVED_FOR_A_STEP: u32 = 8;
const STEPS: f64 = 8.0;

/// By how much the rate is raised once it is above the one that was throttled last.
const GROWTH: f64 = 1.5;

/// What a rate that is too high costs is the time that the target asks to wait for, up to a bound. Each step takes at least
/// this part of it: a halved rate is back after half of that time, at the soonest.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
const STEPS_IN_A_WAIT: u32 = 8;

/// The rate is never lowered below this, in requests per second: the time limit of the run ends what takes longer.
const LOWEST: f64 = 1.0;

/// Assumed rate of a target that responds faster than can be measured.
const HIGHEST: f64 = 10_000.0;

/// Requests over which the rate is measured.
const MEASURED: usize = 64;

impl Pace {
    pub(super) fn new(ceiling: Option<NonZeroU32>, now: Instant) -> Self {
        Self(Mutex::new(State {
            ceiling: ceiling.map(|rate| f64::from(rate.get())),
            limit: None,
            before: HIGHEST,
            served: 0,
            latest: VecDeque::with_capacity(LATEST),
            left: VecDeque::with_capacity(MEASURED),
            lowered: None,
            may_rise: now,
            wait: Duration::ZERO,
            slot: now,
            throttling: Throttling::default(),
            lowest: f64::INFINITY,
        }))
    }

    /// Takes the next turn, and says when it is.
    pub(super) fn turn(&self, now: Instant) -> Instant {
        let mut state = self.lock();
        let turn = match state.rate() {
            Some(rate) => {
                let turn = state.slot.max(now);
                state.slot = turn + Duration::from_secs_f64(1.0 / rate);
                turn
            }
            None => now,
        };
        if state.left.len() == MEASURED {
            state.left.pop_front();
        }
        state.left.push_back(turn);
        turn
    }

    /// Takes in what the response to a request says that left at `left`.
    pub(super) fn note(&self, left: Instant, signal: Signal, now: Instant) {
        let mut state = self.lock();
        if signal != Signal::Served {
            state.throttling.responses += 1;
        }
        match signal {
            Signal::Served => state.serve(now),
            Signal::Throttled(wait) => state.throttle(left, wait, now),
            Signal::NotOfTheRate => {}
        }
    }

    /// Goes back to the tester's rate: it is not the rate that the target minds.
    pub(super) fn restore(&self) {
        let mut state = self.lock();
        state.limit = None;
        state.latest.clear();
    }

    pub(super) fn throttling(&self) -> Throttling {
        self.lock().throttling
    }

    /// A holder that panicked leaves numbers behind, each of them whole.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn rate(&self) -> Option<f64> {
        match (self.limit, self.ceiling) {
            (Some(limit), Some(ceiling)) => Some(limit.min(ceiling)),
            (limit, ceiling) => limit.or(ceiling),
        }
    }

    fn serve(&mut self, now: Instant) {
        self.remember(false);
        let Some(limit) = self.limit else { return };
        self.served += 1;
        if self.served < SERVED_FOR_A_STEP || now < self.may_rise {
            return;
        }
        self.served = 0;
        self.may_rise = now + self.wait / STEPS_IN_A_WAIT;
        let raised = if limit < self.before { limit + self.before / STEPS } else { limit * GROWTH };
        // At the tester's own rate, or one that no target reaches, nothing is left of the throttling.
        self.limit = Some(raised).filter(|raised| *raised < self.ceiling.unwrap_or(HIGHEST));
    }

    /// Requests that left before the rate was lowered say nothing of the lower one.
    fn throttle(&mut self, left: Instant, wait: Duration, now: Instant) {
        self.wait = wait.min(LONGEST_WAIT);
        if self.lowered.is_some_and(|lowered| left <= lowered) {
            return;
        }
        self.remember(true);
        if self.latest.iter().filter(|throttled| **throttled).count() < TOO_MANY {
            return;
        }
        self.before = self.rate().unwrap_or_else(|| self.measured());
        let lowered = (self.before / 2.0).max(LOWEST);
        self.limit = Some(lowered);
        self.lowest = self.lowest.min(lowered);
        self.throttling.lowest_rate = Some(self.lowest.ceil() as u32);
        self.lowered = Some(now);
        self.may_rise = now + self.wait / STEPS_IN_A_WAIT;
        self.served = 0;
        self.latest.clear();
        self.slot = self.slot.max(now + Duration::from_secs_f64(1.0 / lowered));
    }

    fn remember(&mut self, throttled: bool) {
        if self.latest.len() == LATEST {
            self.latest.pop_front();
        }
        self.latest.push_back(throttled);
    }

    /// The rate at which the latest requests left.
    fn measured(&self) -> f64 {
        let (Some(first), Some(last)) = (self.left.front(), self.left.back()) else { return HIGHEST };
        let time = last.saturating_duration_since(*first).as_secs_f64();
        match self.left.len() - 1 {
            spaces if spaces > 0 && time > 0.0 => (spaces as f64 / time).clamp(LOWEST, HIGHEST),
            _ => HIGHEST,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pace, and a clock that stands still unless it is moved.
    fn pace(rate: Option<u32>) -> (Pace, Instant) {
        let now = Instant::now();
        (Pace::new(rate.and_then(NonZeroU32::new), now), now)
    }

    /// The rate in force, from the distance of two turns.
    fn rate(pace: &Pace, now: Instant) -> f64 {
        let first = pace.turn(now);
        let between = pace.turn(now).saturating_duration_since(first).as_secs_f64();
        (1.0 / between).round()
    }

    fn throttle(pace: &Pace, left: Instant, now: Instant, times: usize) {
        for _ in 0..times {
            pace.note(left, Signal::Throttled(Duration::ZERO), now);
        }
    }

    #[test]
    fn the_rate_is_halved_once_for_a_burst_and_raised_in_steps() {
        let (pace, begun) = pace(Some(100));
        let at = |millis| begun + Duration::from_millis(millis);
        throttle(&pace, at(1), at(10), TOO_MANY - 1);
        assert_eq!(rate(&pace, begun), 100.0, "a few are waited out");
        throttle(&pace, at(1), at(10), 9);
        assert_eq!(rate(&pace, begun), 50.0, "those that left before it was lowered count once");
        throttle(&pace, at(11), at(20), TOO_MANY);
        assert_eq!(rate(&pace, begun), 25.0);
        for _ in 0..SERVED_FOR_A_STEP {
            pace.note(at(21), Signal::Served, at(30));
        }
        assert_eq!(rate(&pace, begun), 31.0, "an eighth of 50 more");
        for _ in 0..SERVED_FOR_A_STEP * 20 {
            pace.note(at(21), Signal::Served, at(30));
        }
        assert_eq!(rate(&pace, begun), 100.0, "never above the tester's rate");
        assert_eq!(pace.throttling(), Throttling { responses: 18, lowest_rate: Some(25) });
    }

    #[test]
    fn it_never_falls_below_the_lowest_and_never_rises_without_bound() {
        let (pace, begun) = pace(None);
        for second in 0..40 {
            let at = begun + Duration::from_secs(second);
            throttle(&pace, at, at, TOO_MANY);
        }
        assert_eq!(rate(&pace, begun), LOWEST);
        assert_eq!(pace.throttling().lowest_rate, Some(1));
        let later = begun + Duration::from_secs(99);
        for _ in 0..1_000_000 {
            pace.note(later, Signal::Served, later);
        }
        assert!(pace.0.lock().expect("whole").rate().is_none_or(|rate| rate <= HIGHEST));
    }

    /// A step takes its part of the time that the target asks to wait for, whatever is served meanwhile.
    #[test]
    fn it_rises_no_faster_than_the_target_asks_to_wait() {
        let (pace, begun) = pace(Some(100));
        for _ in 0..TOO_MANY {
            pace.note(begun, Signal::Throttled(Duration::from_secs(3600)), begun);
        }
        let step = LONGEST_WAIT / STEPS_IN_A_WAIT;
        let after = |millis| begun + step - Duration::from_millis(1) + Duration::from_millis(millis);
        for _ in 0..SERVED_FOR_A_STEP * 9 {
            pace.note(begun, Signal::Served, after(0));
        }
        assert_eq!(rate(&pace, begun), 50.0);
        for _ in 0..SERVED_FOR_A_STEP * 9 {
            pace.note(begun, Signal::Served, after(1));
        }
        assert_eq!(rate(&pace, begun), 63.0, "one step, however much is served");
    }

    /// At one request a second so many responses take some 24 seconds.
    #[test]
    fn it_recovers_from_the_lowest_rate_in_a_few_steps() {
        let (pace, begun) = pace(Some(100));
        for second in 0..40 {
            let at = begun + Duration::from_secs(second);
            throttle(&pace, at, at, TOO_MANY);
        }
        assert_eq!(rate(&pace, begun), LOWEST);
        let later = begun + Duration::from_secs(99);
        for _ in 0..SERVED_FOR_A_STEP * 12 {
            pace.note(later, Signal::Served, later);
        }
        assert_eq!(rate(&pace, begun), 100.0);
        throttle(&pace, later, later, TOO_MANY);
        assert_eq!(rate(&pace, begun), 50.0);
        pace.restore();
        assert_eq!(rate(&pace, begun), 100.0);
    }

    #[test]
    fn a_few_among_many_and_those_that_ask_for_no_time_change_nothing() {
        let (pace, begun) = pace(Some(100));
        for number in 0..200 {
            let throttled = number % 9 == 8;
            let signal = if throttled { Signal::Throttled(Duration::ZERO) } else { Signal::Served };
            pace.note(begun, signal, begun);
            pace.note(begun, Signal::NotOfTheRate, begun);
        }
        assert_eq!(rate(&pace, begun), 100.0);
        assert_eq!(pace.throttling(), Throttling { responses: 222, lowest_rate: None });
    }
}
