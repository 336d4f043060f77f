use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::{Mutex, OnceCell};

use super::extraction::Transport;
use super::relation::Surveys;
use super::search::FirstSearches;
use crate::check::{Probe, Stop};
use crate::target::Fact;
use crate::wire::Exchange;

/// What the checks of a run find out once and share. The engine keeps it without knowing what it holds.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(super) surveys: Surveys,
    pub(super) first_searches: OnceCell<FirstSearches>,
    /// The control requests that some check of the run has seen accepted, by label. Locked while a control request is sent, so that
    /// concurrent checks do not send it twice.
    pub(super) controls: Mutex<BTreeMap<String, Exchange>>,
    /// The transport in which the service accepts the legacy credential, for JSON and for text; none if it accepts it in no transport.
    pub(super) link: [OnceCell<Option<Transport>>; 2],
    /// Whether a plain extraction from the empty region meets a shortage that says when to call again.
    pub(super) is_short: OnceCell<bool>,
    /// The same for regions of which no fact says whether they have gateways. Locked while one is asked.
    pub(super) short_regions: Mutex<BTreeMap<String, bool>>,
    /// Whether the empty region returned a gateway: a discovered one once, a supplied one to repeated plain extractions.
    pub(super) is_withdrawn: AtomicBool,
}

impl State {
    /// Notes that the empty region returned a gateway. A discovered one is withdrawn, which skips the case: it was short for a moment, or
    /// of gateways of one protocol, and nobody said that it has none.
    pub(super) fn note_gateway_of_empty_region(probe: &Probe<'_>) -> Result<(), Stop> {
        if probe.has_discovered(Fact::EmptyRegion) {
            Self::withdraw_empty_region(probe)?;
        }
        Self::check_empty_region(probe)
    }

    /// Notes that the region is not empty, so that no further gateway is spent on it.
    pub(super) fn withdraw_empty_region(probe: &Probe<'_>) -> Result<(), Stop> {
        probe.state::<Self>()?.is_withdrawn.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Skips when the region was withdrawn.
    pub(super) fn check_empty_region(probe: &Probe<'_>) -> Result<(), Stop> {
        if !probe.state::<Self>()?.is_withdrawn.load(Ordering::Relaxed) {
            return Ok(());
        }
        let variable = Fact::EmptyRegion.variable();
        Err(probe.skip(&match probe.has_discovered(Fact::EmptyRegion) {
            true => format!("the region that the run took for empty returned a gateway; supply {variable}"),
            false => {
                format!("the region of {variable} returned gateways; if it has some, correct {variable}")
            }
        }))
    }
}
