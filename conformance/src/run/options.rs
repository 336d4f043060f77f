use std::num::NonZeroU32;
use std::time::Duration;

use super::{ExpectedFailure, Gates, Selection};
use crate::check::InferredClauses;
use crate::explore::Exploration;
use crate::names::names;
use crate::wire::{Budget, Request, ShortSecret, WireError, WireOptions};

/// The options of a run.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which checks and cases run.
    pub selection: Selection,
    /// Name of the profile, for the report.
    pub profile: Profile,
    /// Limits; default: those of [`Profile::Full`].
    pub budget: Budget,
    /// Timeouts, waits, proxy and trust.
    pub wire: WireOptions,
    /// Maximum number of retries of a failing case. One that then passes is flaky.
    pub retries: u32,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// Clauses that are expected to fail.
    pub expected: Vec<ExpectedFailure>,
    /// Gates: what the run must show before it conforms.
    pub gates: Gates,
    /// Severity of findings on clauses that the contract presupposes but does not state.
    pub inferred: InferredClauses,
    /// Name and version of the tested implementation, for the report.
    pub implementation: Option<String>,
    /// Options of curl for the way to the target, without secrets, for the commands of reports.
    pub curl_options: Vec<String>,
    /// Percentage of the known faults to notice; cases that are not needed for it are skipped.
    pub detect: Option<u8>,
    /// Whether to explore beyond the fixed cases.
    pub explore: Option<Exploration>,
    /// Requests that are sent after all others, for passive checks to judge.
    pub requests: Vec<Request>,
    /// Whether the report keeps every exchange, for [`Format::Har`](crate::report::Format::Har). Redacting each takes memory and time.
    pub keep_exchanges: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            selection: Selection::default(),
            profile: Profile::default(),
            budget: Budget::default(),
            wire: WireOptions::default(),
            retries: 1,
            fail_fast: false,
            expected: Vec::new(),
            gates: Gates::default(),
            inferred: InferredClauses::default(),
            implementation: None,
            curl_options: Vec::new(),
            detect: None,
            explore: None,
            requests: Vec::new(),
            keep_exchanges: false,
        }
    }
}

names! {
    /// How much load a run may put on a target: a set of limits, each of which can be overridden. The plan contains the most
    /// valuable cases within these limits. In order, from the smallest to the largest.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Profile {
        /// At most 60 requests, and no gateways.
        Smoke => "smoke",
        /// For production environments: at most 930 requests at 5 per second, and 25 gateways.
        Production => "production",
        /// Everything, as fast as the target responds.
        #[default]
        Full => "full",
    }
}

impl Profile {
    /// Its limits.
    pub fn budget(self) -> Budget {
        const MEBIBYTE: u64 = 1 << 20;
        match self {
            Self::Smoke => Budget {
                requests: 60,
                gateways: 0,
                bytes: 16 * MEBIBYTE,
                wall: Duration::from_secs(60),
                rate: NonZeroU32::new(10),
                concurrency: 2,
            },
            Self::Production => Budget {
                requests: 930,
                gateways: 25,
                bytes: 256 * MEBIBYTE,
                wall: Duration::from_secs(1_800),
                rate: NonZeroU32::new(5),
                concurrency: 2,
            },
            Self::Full => Budget::default(),
        }
    }
}

/// Why a run cannot start.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The HTTP client can't be set up.
    #[error(transparent)]
    Wire(#[from] WireError),
    /// A secret is too short to be kept out of reports.
    #[error(transparent)]
    Secret(#[from] ShortSecret),
    /// The texts that must never appear can't be searched for.
    #[error("cannot search for the canaries: {0}")]
    Canaries(#[from] aho_corasick::BuildError),
    /// The known faults cannot be parsed, which is a bug of the suite.
    #[error("cannot read the known faults: {0}")]
    Matrix(&'static str),
}
