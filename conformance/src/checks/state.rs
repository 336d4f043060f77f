use std::collections::BTreeSet;

use tokio::sync::{Mutex, OnceCell};

use super::relation::Surveys;
use crate::check::{Probe, Stop};

/// What the checks of a run find out once and share. The engine keeps it without knowing what it holds.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(super) surveys: Surveys,
    pub(super) controls: SharedControls,
    /// Whether a plain extraction from the empty region meets a shortage that says when to call again.
    pub(super) is_short: OnceCell<bool>,
}

/// Labels of the control requests that some check of the run has seen accepted. Locked while a control request is sent, so
/// that concurrent checks do not send it twice.
#[derive(Debug, Default)]
pub(super) struct SharedControls(pub(super) Mutex<BTreeSet<String>>);

impl State {
    /// The state of the run that a probe belongs to.
    ///
    /// # Errors
    /// When the run was begun without it, which is a bug of the suite.
    pub(super) fn from_probe<'a>(probe: &Probe<'a>) -> Result<&'a Self, Stop> {
        probe.state()
    }
}
