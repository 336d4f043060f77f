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
