use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

/// Ends a run before its end, from anywhere: what was done so far is kept, and the report says why.
#[derive(Debug, Clone, Default)]
pub struct Stopper(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    reason: OnceLock<String>,
    bell: Notify,
}

impl Stopper {
    /// Ends the run. The first reason counts.
    pub fn stop(&self, reason: impl Into<String>) {
        // A later reason adds nothing to the first one.
        let _ = self.0.reason.set(reason.into());
        self.0.bell.notify_waiters();
    }

    /// Why the run was ended, when it was.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        self.0.reason.get().map(String::as_str)
    }

    /// Waits until somebody ends the run.
    pub async fn stopped(&self) {
        loop {
            let mut rung = std::pin::pin!(self.0.bell.notified());
            // Listen first, look second: a bell between the two is heard.
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
