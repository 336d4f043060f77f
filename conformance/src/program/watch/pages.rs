use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is served, as of the last run.
#[derive(Debug)]
pub(super) struct Pages {
    /// Maximum time between the ends of two runs of a healthy watch.
    max_gap: Duration,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    page: String,
    metrics: String,
    /// When the last run ended, or when the watch began.
    ended: Instant,
}

impl Pages {
    /// Pages without a run, for runs that start at an interval of `every` and take at most `longest_run`.
    pub(super) fn new(every: Duration, longest_run: Duration) -> Self {
        let max_gap = every.saturating_mul(2).saturating_add(longest_run);
        let page = "<!doctype html><title>Conformance</title><p>No run has ended yet.".to_owned();
        let state = State { page, metrics: String::new(), ended: Instant::now() };
        Self { max_gap, state: Mutex::new(state) }
    }

    /// Sets what is served after a run.
    pub(super) fn set(&self, page: String, metrics: String) {
        *self.lock() = State { page, metrics, ended: Instant::now() };
    }

    pub(super) fn page(&self) -> String {
        self.lock().page.clone()
    }

    pub(super) fn metrics(&self) -> String {
        self.lock().metrics.clone()
    }

    /// Whether the last run ended recently enough.
    pub(super) fn is_healthy(&self) -> bool {
        self.lock().ended.elapsed() <= self.max_gap
    }

    /// Nothing panics while it is locked, so a poisoned state is complete.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_whose_runs_do_not_end_is_not_healthy() {
        let pages = Pages::new(Duration::from_millis(10), Duration::from_millis(10));
        assert!(pages.is_healthy());
        std::thread::sleep(Duration::from_millis(50));
        assert!(!pages.is_healthy());
        pages.set("page".to_owned(), "metrics".to_owned());
        assert!(pages.is_healthy());
    }
}
