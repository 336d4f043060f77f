use serde::Serialize;

/// One way in which the target breaks a clause. Holds no secret: every text went through the redactor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The clause.
    pub clause: String,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A stated clause is broken.
    Fail,
    /// Doubtful, but no clause forbids it.
    Warn,
}

/// How the target decided something that the contract leaves open. Never judged.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Observation {
    /// Id of the silence, `open.…`.
    pub silence: String,
    /// What was seen.
    pub text: String,
}

/// What came out of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "reason", rename_all = "lowercase")]
pub enum Outcome {
    /// All as the contract says.
    Pass,
    /// A clause is broken.
    Fail,
    /// Doubtful.
    Warn,
    /// Not run; the text says what is missing and how to supply it.
    Skipped(String),
    /// Run without a result, for instance because the control was not accepted.
    Inconclusive(String),
    /// Our own fault or the network's.
    Error(String),
}

impl Outcome {
    /// The reason of those that have one.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Pass | Self::Fail | Self::Warn => None,
            Self::Skipped(reason) | Self::Inconclusive(reason) | Self::Error(reason) => Some(reason),
        }
    }
}
