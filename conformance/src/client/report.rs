//! The report of a client test: HTML, JSON, JUnit, SARIF, Markdown, and lines for a terminal. It holds no token.

mod html;
mod junit;
mod markdown;
mod sarif;
mod text;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;

use super::case::{ClientCase, Expectation, Place};
use super::duty::Duty;
use super::evidence::{Evidence, Problem};
use super::mistake::Mistake;
use super::outcome::excerpt;
use super::protocol::Input;
use crate::check::{InferredClauses, Severity};
use crate::contract::Contract;
use crate::report::{Format, RenderError, quantity};
use crate::run::Verdict;

/// The result of all cases.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClientReport {
    /// Version of this shape.
    pub schema_version: u32,
    /// Name and version of the suite.
    pub suite: String,
    /// The program that was tested, without its folder and its arguments.
    pub client: String,
    /// The client's file, if the command names one below the working folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
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

/// The result of one case.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClientCaseResult {
    /// The case.
    pub id: String,
    /// The duty that it is about.
    pub duty: Duty,
    /// What happens, and what a conforming client does.
    pub title: String,
    /// Its outcome.
    pub outcome: CaseOutcome,
    /// What was wrong.
    pub findings: Vec<ClientFinding>,
    /// The first case that has no result for the same reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_error_as: Option<String>,
    /// Whether it passed with an error where a result was possible: a client may give up.
    pub gave_up: bool,
    /// The requests that arrived, without any value: time, operation and response. A long list is cut.
    pub requests: Vec<String>,
    /// What the command was told: operation, arguments and time.
    pub input: Input,
    /// How its last execution ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ending: Option<String>,
    /// The beginning and the end of its standard output, unless it shows the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_output: Option<String>,
    /// The beginning and the end of standard error, unless it shows the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub standard_error: Option<String>,
    /// In milliseconds.
    pub elapsed_ms: u64,
}

/// The outcome of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CaseOutcome {
    /// The duty is kept.
    Passed,
    /// It is not.
    Failed,
    /// What the contract presupposes is not kept, and that counts as a warning.
    Warning,
    /// The command does not support the operation.
    Skipped(String),
    /// The command does not speak the protocol.
    Error(String),
}

/// A duty that is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ClientFinding {
    /// The duty; another one than that of the case where its requests or its output show it.
    pub duty: Duty,
    /// What a caller does.
    pub requirement: &'static str,
    /// What was expected.
    pub expected: String,
    /// What happened.
    pub actual: String,
    /// Whether it counts as a failure.
    pub severity: Severity,
    /// The case that shows the same mistake: a plain call, which says that the situation of this case is not its cause, or an
    /// earlier case for the same duty. The verdict counts a mistake once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The sentences that presuppose the duty, when the contract does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inferred_from: Option<&'static str>,
    #[serde(skip)]
    pub(super) mistake: Mistake,
}

impl ClientFinding {
    /// The findings of a case, each mistake of a duty once.
    pub(super) fn all(problems: Vec<Problem>, inferred: InferredClauses) -> Vec<Self> {
        let mut findings: Vec<(Self, usize)> = Vec::new();
        for problem in problems {
            let finding = Self::new(problem, inferred);
            let same = findings.iter_mut().find(|(first, _)| {
                (first.duty, first.mistake, first.severity)
                    == (finding.duty, finding.mistake, finding.severity)
            });
            match same {
                Some((_, more)) => *more += 1,
                None => findings.push((finding, 0)),
            }
        }
        let counted = |(finding, more): (Self, usize)| match more {
            0 => finding,
            _ => {
                Self { actual: format!("{}, and {}", finding.actual, quantity(more, "more time")), ..finding }
            }
        };
        findings.into_iter().map(counted).collect()
    }

    /// The finding of a problem; `inferred` says what counts that the contract does not state.
    fn new(problem: Problem, inferred: InferredClauses) -> Self {
        let mistake = Mistake::of(&problem);
        let Problem { duty, expected, actual, after, said: _, inferred_from } = problem;
        let actual = after.map_or_else(|| actual.clone(), |after| format!("{actual}, after {after}"));
        let severity = match inferred {
            InferredClauses::Warn if inferred_from.is_some() => Severity::Warn,
            InferredClauses::Warn | InferredClauses::Fail => Severity::Fail,
        };
        let requirement = duty.text();
        Self { duty, requirement, expected, actual, severity, same_as: None, mistake, inferred_from }
    }
}

impl ClientReport {
    /// Version of the JSON report; it is increased when readers have to change.
    pub const VERSION: u32 = 1;

    pub(super) fn new(
        contract: &Contract,
        (client, source): (String, Option<String>),
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
            source,
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
            Format::Sarif => Ok(crate::report::pretty_json(&sarif::log(self))?),
            Format::Markdown => Ok(self.markdown()),
            Format::Json => Ok(crate::report::pretty_json(self)?),
            Format::Comment | Format::Github | Format::Prometheus | Format::Har => {
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

impl ClientCaseResult {
    pub(super) fn new(
        case: &ClientCase,
        evidence: &Evidence,
        (outcome, findings): (CaseOutcome, Vec<ClientFinding>),
        elapsed: Duration,
    ) -> Self {
        let last = evidence.executions.last();
        let requests = evidence
            .requests
            .iter()
            .map(|recorded| format!("{:.3} s: {}", recorded.at.as_secs_f64(), recorded.line()));
        Self {
            gave_up: outcome == CaseOutcome::Passed
                && case.expectation == Expectation::Either
                && case.place == Place::Lab
                && evidence.executions.iter().any(|execution| !execution.has_result()),
            outcome,
            findings,
            requests: requests.take(50).collect(),
            ending: last.map(|execution| execution.exit.to_string()),
            standard_output: last.and_then(|execution| excerpt(&execution.stdout, &evidence.token)),
            standard_error: last.and_then(|execution| excerpt(&execution.stderr, &evidence.token)),
            elapsed_ms: u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX),
            ..Self::interrupted(case)
        }
    }

    /// A case that the end of the run left without a result.
    pub(super) fn interrupted(case: &ClientCase) -> Self {
        Self {
            id: case.id.clone(),
            duty: case.duty,
            title: case.title.clone(),
            outcome: CaseOutcome::Error("the run was interrupted".to_owned()),
            findings: Vec::new(),
            same_error_as: None,
            gave_up: false,
            requests: Vec::new(),
            input: Input::new(case.call.clone(), case.limit),
            ending: None,
            standard_output: None,
            standard_error: None,
            elapsed_ms: 0,
        }
    }
}
