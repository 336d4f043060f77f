use std::sync::atomic::{AtomicU64, Ordering};

use super::relation::Surveys;
use crate::check::{Probe, Stop};

/// What the checks of one run find out once and share. The engine keeps it without knowing what it holds.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(super) surveys: Surveys,
    pub(super) known_forms: KnownForms,
}

/// Forms of an extraction, by number, that some check of the run has seen accepted.
#[derive(Debug, Default)]
pub(super) struct KnownForms(AtomicU64);

impl State {
    /// The state of the run that a probe belongs to.
    ///
    /// # Errors
    /// When the run was begun without it, which is a fault of the suite.
    pub(super) fn from_probe<'a>(probe: &Probe<'a>) -> Result<&'a Self, Stop> {
        probe.state()
    }
}

impl KnownForms {
    pub(super) fn has(&self, number: usize) -> bool {
        self.0.load(Ordering::Relaxed) & Self::bit(number) != 0
    }

    pub(super) fn add(&self, number: usize) {
        self.0.fetch_or(Self::bit(number), Ordering::Relaxed);
    }

    /// None for a number beyond those that fit, which is then never known.
    fn bit(number: usize) -> u64 {
        u32::try_from(number).ok().and_then(|number| 1_u64.checked_shl(number)).unwrap_or(0)
    }
}
