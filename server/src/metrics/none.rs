//! The metrics of a build without them.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{domain::ports::Repository, edge::responding::error_code::ErrorCode, store::Upkeep};

/// Counts nothing.
#[derive(Debug)]
pub(crate) struct Metrics;

impl Metrics {
    pub(crate) fn new(_: &[&'static str], _: &[u16]) -> Self {
        Self
    }

    /// Measures the time of a call for the log.
    pub(crate) fn begin(&self, _: &'static str) -> CallInFlight {
        CallInFlight(Instant::now())
    }

    /// An empty text in the format of OpenMetrics.
    pub(crate) async fn render(&self, _: &dyn Upkeep) -> Result<String, fmt::Error> {
        Ok("# EOF\n".to_owned())
    }

    pub(crate) fn connections_open(&self, _: usize) {}

    pub(crate) fn connection_timed_out(&self) {}
}

/// The repository itself.
pub(crate) fn measured(repository: Arc<dyn Repository>, _: Arc<Metrics>) -> Arc<dyn Repository> {
    repository
}

/// A call without response.
pub(crate) struct CallInFlight(Instant);

impl CallInFlight {
    /// The response is ready. Returns the time that it took.
    pub(crate) fn finish(&mut self, _: Option<ErrorCode>) -> Duration {
        self.0.elapsed()
    }

    /// When it started.
    pub(crate) fn started(&self) -> Instant {
        self.0
    }
}
