//! The report of a client test: HTML, JSON, JUnit, Markdown, and lines for a terminal. It holds no token.

mod html;
mod junit;
mod markdown;
mod text;

use std::fmt::Write as _;
use std::time::Instant;

use serde::Serialize;

use super::duty::Duty;
use super::result::{CaseOutcome, ClientCaseResult, ClientFinding};
use crate::check::Severity;
use crate::contract::Contract;
use crate::report::{Format, RenderError};
use crate::run::Verdict;

/// The result of all cases.
#[derive(Debug, Clone, Serialize)]
pub struct ClientReport {
    /// Version of this shape.
    pub schema_version: u32,
    /// Name and version of the suite.
    pub suite: String,
    /// The program that was tested, without its folder and its arguments.
    pub client: String,
    /// Version of the contract.
    pub contract: String,
    /// SHA-256 of the contract's document, in hexadecimal digits.
    pub contract_sha256: String,
    /// When it began, RFC 3339.
    pub begun: String,
    /// In milliseconds.
    pub elapsed_ms: u64,
    /// What it comes to.
    pub verdict: Verdict,
    /// Number of cases by outcome.
    pub totals: ClientTotals,
    /// Each case, by duty.
    pub cases: Vec<ClientCaseResult>,
}

/// Number of cases by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ClientTotals {
    /// The duty is kept.
    pub passed: usize,
    /// How many of these passed with an error where a result was possible.
    pub gave_up: usize,
    /// It is not.
    pub failed: usize,
    /// What the contract presupposes is not kept, and that counts as a warning.
    pub warnings: usize,
    /// The command does not support the operation.
    pub skipped: usize,
    /// The command does not speak the protocol.
    pub errors: usize,
}

impl ClientReport {
    /// Version of the JSON report; it is increased when readers have to change.
    pub const VERSION: u32 = 1;

    pub(super) fn new(
        contract: &Contract,
        client: String,
        (begun, at): (Instant, jiff::Timestamp),
        cases: Vec<ClientCaseResult>,
    ) -> Self {
        let mut totals = ClientTotals::default();
        for case in &cases {
            match case.outcome {
                CaseOutcome::Passed => {
                    totals.passed += 1;
                    totals.gave_up += usize::from(case.gave_up);
                }
                CaseOutcome::Failed => totals.failed += 1,
                CaseOutcome::Warning => totals.warnings += 1,
                CaseOutcome::Skipped(_) => totals.skipped += 1,
                CaseOutcome::Error(_) => totals.errors += 1,
            }
        }
        let verdict = match totals {
            ClientTotals { failed: 1.., .. } => Verdict::Findings,
            ClientTotals { errors: 0, passed, warnings, .. } if passed + warnings > 0 => Verdict::Conforms,
            _ => Verdict::Incomplete,
        };
        Self {
            schema_version: Self::VERSION,
            suite: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            client,
            contract: contract.version.clone(),
            contract_sha256: contract.sha256.clone(),
            begun: at.to_string(),
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            verdict,
            totals,
            cases,
        }
    }

    /// The report in one of [`Format::OF_CLIENTS`].
    ///
    /// # Errors
    /// It has no such format, or can't be written, which would be a bug of the suite.
    pub fn render(&self, format: Format) -> Result<String, RenderError> {
        match format {
            Format::Html => Ok(html::page(self)?),
            Format::Junit => Ok(self.junit()?),
            Format::Markdown => Ok(self.markdown()),
            Format::Json => Ok(crate::report::pretty_json(self)?),
            Format::Sarif | Format::Comment | Format::Github | Format::Prometheus | Format::Har => {
                Err(RenderError::Unsupported(format.name()))
            }
        }
    }

    fn findings(&self) -> impl Iterator<Item = (&ClientCaseResult, &ClientFinding)> {
        self.cases.iter().flat_map(|case| case.findings.iter().map(move |finding| (case, finding)))
    }

    /// The duties that mistakes violate, each once.
    fn broken(&self) -> Vec<Duty> {
        let findings = self.findings().map(|(_, finding)| finding);
        let findings = findings.filter(|finding| finding.same_as.is_none());
        let failures = findings.filter(|finding| finding.severity == Severity::Fail);
        let mut broken: Vec<Duty> = failures.map(|finding| finding.duty).collect();
        broken.sort_unstable();
        broken.dedup();
        broken
    }
}

impl std::fmt::Display for ClientTotals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { passed, gave_up, failed, warnings, skipped, errors } = *self;
        let warned = if warnings == 1 { "warning" } else { "warnings" };
        let parts = [
            (passed, "passed"),
            (failed, "failed"),
            (warnings, warned),
            (skipped, "skipped"),
            (errors, "without a result"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        if gave_up > 0
            && let Some(passed) = parts.first_mut()
        {
            let _ = write!(passed, " ({gave_up} by giving up)");
        }
        f.write_str(&if parts.is_empty() { "none".to_owned() } else { parts.join(", ") })
    }
}
