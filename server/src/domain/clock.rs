//! The clock that decisions use.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

/// The source of the current time: the system's clock, or in a sandbox one that tests can set, with the time at which it is stopped.
#[derive(Clone, Debug)]
pub(crate) struct Clock(Option<Arc<Mutex<Option<Timestamp>>>>);

impl Clock {
    /// The system's clock, which nobody can set.
    pub(crate) const fn system() -> Self {
        Self(None)
    }

    /// A clock that can be set. Only the sandbox makes one.
    pub(crate) fn settable() -> Self {
        Self(Some(Arc::default()))
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.stopped_at().unwrap_or_else(Timestamp::now)
    }

    /// The time at which the clock is stopped; `None` while it is the system's.
    pub(crate) fn stopped_at(&self) -> Option<Timestamp> {
        *self.0.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops a clock that can be set at this time, or returns to the system's clock for `None`.
    pub(crate) fn set(&self, time: Option<Timestamp>) {
        if let Some(clock) = &self.0 {
            *clock.lock().unwrap_or_else(PoisonError::into_inner) = time;
        }
    }
}
