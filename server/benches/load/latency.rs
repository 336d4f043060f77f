//! How long things took, in a fixed amount of memory.

use std::time::Duration;

/// Steps in which a time doubles; each is 4 % longer than the one before.
const STEPS: f64 = 16.0;

/// Counts by length.
#[derive(Default)]
pub(crate) struct Latency {
    counts: Vec<u64>,
    longest: Duration,
}

impl Latency {
    pub(crate) fn add(&mut self, time: Duration) {
        let step = (time.as_micros().max(1) as f64).log2() * STEPS;
        self.count_at(step as usize, 1);
        self.longest = self.longest.max(time);
    }

    pub(crate) fn join(&mut self, other: &Self) {
        for (step, count) in other.counts.iter().enumerate() {
            self.count_at(step, *count);
        }
        self.longest = self.longest.max(other.longest);
    }

    pub(crate) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    pub(crate) fn longest(&self) -> Duration {
        self.longest
    }

    /// The time within which this part of all ended.
    pub(crate) fn quantile(&self, part: f64) -> Duration {
        let wanted = (self.count() as f64 * part).ceil() as u64;
        let mut so_far = 0;
        let step = self.counts.iter().position(|count| {
            so_far += count;
            so_far >= wanted
        });
        Duration::from_secs_f64(((step.unwrap_or(0) + 1) as f64 / STEPS).exp2() / 1e6)
    }

    fn count_at(&mut self, step: usize, count: u64) {
        if self.counts.len() <= step {
            self.counts.resize(step + 1, 0);
        }
        self.counts[step] += count;
    }
}
