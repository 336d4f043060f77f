use schemars::JsonSchema;
use serde::Serialize;

use crate::contract::{Clause, Unspecified};
use crate::wire::{Exchange, Redactor};

/// One way in which the target breaks a clause. Holds no secret: every text went through the redactor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// The clause.
    pub clause: Clause,
    /// The clause's own words.
    pub requirement: String,
    /// What a conforming service would have done here.
    pub expected: String,
    /// What this one did.
    pub actual: String,
    /// Whether it fails the check.
    pub severity: Severity,
    /// Numbers of the exchanges that show it, in the recording of its check.
    pub exchanges: Vec<usize>,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A stated clause is broken.
    Fail,
    /// Doubtful, but no clause forbids it.
    Warn,
}

/// How the target decided something that the contract leaves open. Never judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct Observation {
    /// What is left open.
    #[serde(rename = "silence")]
    pub unspecified: Unspecified,
    /// What was seen.
    pub text: String,
}

/// What came out of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", content = "reason", rename_all = "lowercase")]
pub enum Outcome {
    /// All as the contract says.
    Pass,
    /// A clause is broken.
    Fail,
    /// Doubtful.
    Warn,
    /// A clause was broken once, and kept when the check was run again; the text says how often.
    Flaky(String),
    /// A clause is broken, as the tester expects for the reason given.
    Expected(String),
    /// Not run; the text says what is missing and how to supply it.
    Skipped(String),
    /// Run without a result, for instance because the control was not accepted.
    Inconclusive(String),
    /// Our own fault or the network's.
    Error(String),
}

/// One exchange in brief, as proof of what a check did. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Evidence {
    /// Method and path with its query, cut when it is long.
    pub request: String,
    /// HTTP status, when an answer came.
    pub status: Option<u16>,
    /// Why none came.
    pub failure: Option<String>,
    /// In milliseconds.
    pub elapsed_ms: u64,
}

impl Outcome {
    /// Whether the check came to a result about the target.
    #[must_use]
    pub fn concluded(&self) -> bool {
        match self {
            Self::Pass | Self::Fail | Self::Warn | Self::Flaky(_) | Self::Expected(_) => true,
            Self::Skipped(_) | Self::Inconclusive(_) | Self::Error(_) => false,
        }
    }

    /// The reason of those that have one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Pass | Self::Fail | Self::Warn => None,
            Self::Flaky(reason)
            | Self::Expected(reason)
            | Self::Skipped(reason)
            | Self::Inconclusive(reason)
            | Self::Error(reason) => Some(reason),
        }
    }
}

impl Evidence {
    /// An exchange in brief.
    #[must_use]
    pub fn of(exchange: &Exchange, redactor: &Redactor) -> Self {
        const LONGEST: usize = 240;
        let request = format!("{} {}", exchange.request.method_name(), exchange.request.target());
        let failure = exchange.result.as_ref().err();
        Self {
            request: redactor.excerpt(&request, LONGEST),
            status: exchange.result.as_ref().ok().map(|answer| answer.status),
            failure: failure.map(|failure| redactor.excerpt(&failure.to_string(), LONGEST)),
            elapsed_ms: u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}
