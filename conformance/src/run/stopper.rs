use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

/// Ends a run early, from any thread. The report contains the results so far and the reason.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    reason: OnceLock<String>,
    stopped: Notify,
}

impl Stopper {
    /// Ends the run. The first reason is kept.
    pub fn stop(&self, reason: impl Into<String>) {
        // Only the first reason is kept.
        let _ = self.0.reason.set(reason.into());
        self.0.stopped.notify_waiters();
    }

    /// Why the run was ended, if it was.
    pub fn reason(&self) -> Option<&str> {
        self.0.reason.get().map(String::as_str)
    }

    /// Waits until the run is ended.
    pub async fn stopped(&self) {
        loop {
            let mut stopped = std::pin::pin!(self.0.stopped.notified());
            // Subscribe before checking, so that no notification between the two is missed.
            stopped.as_mut().enable();
            if self.reason().is_some() {
                return;
            }
            stopped.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_counts_and_all_waiters_are_notified() {
        let stopper = Stopper::default();
        let waiting = tokio::spawn({
            let stopper = stopper.clone();
            async move { stopper.stopped().await }
        });
        stopper.stop("first");
        stopper.stop("second");
        waiting.await.expect("the waiter ends");
        stopper.stopped().await;
        assert_eq!(stopper.reason(), Some("first"));
    }
}
