use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is served, as of the last run.
#[derive(Debug)]
pub(super) struct Pages {
    /// How long the next run may take to end, from the end of the last one.
    patience: Duration,
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
    /// Nothing yet, for runs that begin at such an interval and take at most so long.
    pub(super) fn new(every: Duration, longest_run: Duration) -> Self {
        let patience = every.saturating_mul(2).saturating_add(longest_run);
        let state = State { page: String::new(), metrics: String::new(), ended: Instant::now() };
        Self { patience, state: Mutex::new(state) }
    }

    /// Sets what is served, after a run or before the first one.
    pub(super) fn set(&self, page: String, metrics: String, has_run: bool) {
        let mut state = self.lock();
        if has_run {
            state.ended = Instant::now();
        }
        (state.page, state.metrics) = (page, metrics);
    }

    pub(super) fn page(&self) -> String {
        self.lock().page.clone()
    }

    pub(super) fn metrics(&self) -> String {
        self.lock().metrics.clone()
    }

    /// Whether runs end as they should.
    pub(super) fn is_healthy(&self) -> bool {
        self.lock().ended.elapsed() <= self.patience
    }

    /// Each change is complete: nothing between its steps can panic.
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
        pages.set("page".to_owned(), "metrics".to_owned(), true);
        assert!(pages.is_healthy());
    }
}
