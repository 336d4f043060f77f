//! The clock that decisions use.

use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;

/// The source of the current time: the system's clock, or in a sandbox one that tests can set.
#[derive(Clone, Debug)]
pub(crate) struct Clock(Option<ClockHandle>);

impl Clock {
    /// The system's clock.
    pub(crate) const fn system() -> Self {
        Self(None)
    }

    /// A clock that can be set, and the handle that sets it. Only the sandbox makes one.
    pub(crate) fn settable() -> (Self, ClockHandle) {
        let handle = ClockHandle::default();
        (Self(Some(handle.clone())), handle)
    }

    /// The current time.
    pub(crate) fn now(&self) -> Timestamp {
        self.0.as_ref().and_then(ClockHandle::time).unwrap_or_else(Timestamp::now)
    }
}

/// Sets a clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockHandle(Arc<Mutex<Option<Timestamp>>>);

impl ClockHandle {
    /// The time at which the clock is stopped; `None` while it is the system's.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops the clock at this time, or returns to the system's clock for `None`.
    pub(crate) fn set(&self, time: Option<Timestamp>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = time;
    }
}
