use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

/// Ends a run early, from any thread: results so far are kept, and the report says why it ended.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    reason: OnceLock<String>,
    bell: Notify,
}

impl Stopper {
    /// Ends the run. The first reason is kept.
    pub fn stop(&self, reason: impl Into<String>) {
        // Only the first reason is kept.
        let _ = self.0.reason.set(reason.into());
        self.0.bell.notify_waiters();
    }

    /// Why the run was ended, when it was.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.0.reason.get().map(String::as_str)
    }

    /// Waits until the run is ended.
    pub async fn stopped(&self) {
        loop {
            let mut rung = std::pin::pin!(self.0.bell.notified());
            // Subscribe before checking, so that no notification between the two is missed.
            rung.as_mut().enable();
            if self.reason().is_some() {
                return;
            }
            rung.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_counts_and_everybody_hears_it() {
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
