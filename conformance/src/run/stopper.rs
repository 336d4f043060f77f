use std::sync::Arc;

use tokio::sync::SetOnce;

/// Ends a run early, from any thread. The report contains the results so far and the reason.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<SetOnce<String>>);

impl Stopper {
    /// Ends the run. The first reason is kept.
    pub fn stop(&self, reason: impl Into<String>) {
        // A later reason is rejected.
        let _ = self.0.set(reason.into());
    }

    /// Why the run was ended, if it was.
    pub fn reason(&self) -> Option<&str> {
        self.0.get().map(String::as_str)
    }

    /// Waits until the run is ended.
    pub async fn stopped(&self) {
        self.0.wait().await;
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
