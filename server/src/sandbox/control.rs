use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};

use crate::{
    domain::clock::Clock,
    retention,
    store::{StoreError, sqlite::SqliteStore},
};

/// Why the clock was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// The time is outside of the calendar.
    #[error("the time must be from the year -9999 to 9999")]
    Range,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Controls the clock of a running sandbox.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) clock: Clock,
    pub(super) store: Arc<SqliteStore>,
    pub(super) retention: Option<Duration>,
}

impl Control {
    pub(super) async fn advance(&self, by: SignedDuration) -> Result<Timestamp, ClockError> {
        let time = self.clock.now().checked_add(by).map_err(|_| ClockError::Range)?;
        self.set(Some(time)).await?;
        Ok(time)
    }

    pub(super) async fn set(&self, time: Option<Timestamp>) -> Result<(), ClockError> {
        self.clock.set(time);
        if let Some(max_age) = self.retention {
            retention::delete_all_old(self.store.as_ref(), max_age, self.clock.now()).await?;
        }
        Ok(())
    }
}
