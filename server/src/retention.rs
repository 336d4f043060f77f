//! Retention: deletes old extractions that are stored under a request id, in small transactions.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio::task::JoinHandle;

use crate::{
    domain::clock::Clock,
    store::{Store, StoreError},
};

/// Interval at which old extractions are looked for.
const INTERVAL: Duration = Duration::from_secs(60);

/// Pause between two transactions, which gives the requests of callers precedence.
const PAUSE: Duration = Duration::from_millis(100);

/// Deletes old extractions until it is dropped.
#[derive(Debug)]
pub(crate) struct Retention(JoinHandle<()>);

impl Retention {
    /// Deletes extractions that are older than `max_age` by `clock`.
    pub(crate) fn start(store: Arc<dyn Store>, max_age: Duration, clock: Clock) -> Self {
        Self(tokio::spawn(async move {
            loop {
                let pause = match delete_old(store.as_ref(), max_age, clock.now()).await {
                    Ok(0) => INTERVAL,
                    Ok(_) => PAUSE,
                    Err(error) => {
                        tracing::warn!(%error, "cannot delete old request ids; retrying later");
                        INTERVAL
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

/// Deletes every extraction that is older than `max_age` at `now`.
pub(crate) async fn delete_all_old(
    store: &dyn Store,
    max_age: Duration,
    now: Timestamp,
) -> Result<(), StoreError> {
    while delete_old(store, max_age, now).await? > 0 {}
    Ok(())
}

async fn delete_old(store: &dyn Store, max_age: Duration, now: Timestamp) -> Result<u64, StoreError> {
    // With a retention that reaches before the calendar's first year nothing is deleted.
    let end = now.checked_sub(max_age).unwrap_or(Timestamp::MIN);
    store.delete_extractions(end).await
}
