//! Extractions that are kept under request ids are forgotten after a time, a few at once, while nobody waits for it.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::task::JoinHandle;

use crate::store::{Store, StoreError};

/// How often it is looked whether there is something to forget.
const EVERY: Duration = Duration::from_secs(60);

/// Between one change and the next, so that callers come first.
const PAUSE: Duration = Duration::from_millis(100);

/// Forgets until it is dropped.
#[derive(Debug)]
pub(crate) struct Retention(JoinHandle<()>);

impl Retention {
    /// Forgets what was kept longer ago than `kept_for`.
    pub(crate) fn start(store: Arc<dyn Store>, kept_for: Duration) -> Self {
        Self(tokio::spawn(async move {
            loop {
                let pause = match forget(store.as_ref(), kept_for).await {
                    Ok(0) => EVERY,
                    Ok(_) => PAUSE,
                    Err(error) => {
                        tracing::warn!(%error, "old request ids could not be forgotten; they are tried again");
                        EVERY
                    }
                };
                tokio::time::sleep(pause).await;
            }
        }))
    }
}

impl Drop for Retention {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn forget(store: &dyn Store, kept_for: Duration) -> Result<u64, StoreError> {
    // Nothing is older than time itself.
    let end = Timestamp::now().checked_sub(kept_for).unwrap_or(Timestamp::MIN);
    store.forget(end).await
}
