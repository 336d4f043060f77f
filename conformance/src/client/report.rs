//! The report of a client test: HTML, JSON, JUnit, SARIF, Markdown, and lines for a terminal. It holds no token.

mod html;
mod sarif;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use quick_junit::{NonSuccessKind, Report as Document, TestCase, TestCaseStatus, TestSuite};
use schemars::JsonSchema;
use serde::Serialize;

use super::case::ClientCase;
use super::duty::Duty;
use super::evidence::{Evidence, Problem};
use super::outcome::excerpt;
use super::protocol::Input;
use crate::check::{InferredClauses, Severity};
use crate::contract::Contract;
use crate::report::{Format, RenderError, plain, quantity};
use crate::run::Verdict;

/// So many lines of what a command wrote are shown on a terminal and in JUnit.
const SHOWN_LINES: usize = 12;

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
    /// The sentences that presuppose the duty, when the contract does not state it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inferred_from: Option<&'static str>,
}

impl ClientFinding {
    /// The finding of a problem; `inferred` says what counts that the contract does not state.
    pub(super) fn new(problem: Problem, inferred: InferredClauses) -> Self {
        let Problem { duty, expected, actual, inferred_from } = problem;
        let severity = match inferred {
            InferredClauses::Warn if inferred_from.is_some() => Severity::Warn,
            InferredClauses::Warn | InferredClauses::Fail => Severity::Fail,
        };
        Self { duty, requirement: duty.text(), expected, actual, severity, inferred_from }
    }
}

impl ClientReport {
    /// Version of the JSON report; it is increased when readers have to change.
    pub const VERSION: u32 = 1;

    /// The formats that it is written in.
    pub const FORMATS: [Format; 5] =
        [Format::Html, Format::Json, Format::Junit, Format::Sarif, Format::Markdown];

    pub(super) fn new(
        contract: &Contract,
        (client, source): (String, Option<String>),
        (begun, at): (Instant, jiff::Timestamp),
        cases: Vec<ClientCaseResult>,
    ) -> Self {
        let mut totals = ClientTotals::default();
        for case in &cases {
            match case.outcome {
                CaseOutcome::Passed => totals.passed += 1,
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

    /// The report in one of [`ClientReport::FORMATS`].
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

    /// The failed and the undecided cases, and the sum, for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for case in &self.cases {
            text.push_str(&case.details());
        }
        let _ = writeln!(text, "{:>16} {}: {}", "cases", self.cases.len(), self.totals);
        let _ =
            writeln!(text, "{:>16} {:.2} s", "time", Duration::from_millis(self.elapsed_ms).as_secs_f64());
        let _ = writeln!(text, "{:>16} {}: {}", "verdict", plain(&self.client), self.verdict_words());
        text
    }

    fn verdict_words(&self) -> String {
        let broken = self.broken();
        match self.verdict {
            Verdict::Conforms => {
                let judged = self.totals.passed + self.totals.warnings;
                let warnings = match self.totals.warnings {
                    0 => String::new(),
                    warnings => format!("; {}", quantity(warnings, "warning")),
                };
                format!("no duty of callers was violated in {}{warnings}", quantity(judged, "case"))
            }
            Verdict::Findings => format!(
                "{} violated: {}",
                quantity(broken.len(), "duty"),
                broken.iter().map(|duty| duty.id()).collect::<Vec<_>>().join(", ")
            ),
            _ => "none: a case has no result, or nothing ran".to_owned(),
        }
    }

    /// The duties that findings cite, each once.
    fn broken(&self) -> Vec<Duty> {
        let findings = self.cases.iter().flat_map(|case| &case.findings);
        let failures = findings.filter(|finding| finding.severity == Severity::Fail);
        let mut broken: Vec<Duty> = failures.map(|finding| finding.duty).collect();
        broken.sort_unstable();
        broken.dedup();
        broken
    }

    /// One suite for each duty, one case for each case.
    fn junit(&self) -> Result<String, quick_junit::SerializeError> {
        let mut document = Document::new("sallyport-client-conformance");
        document.set_time(Duration::from_millis(self.elapsed_ms));
        for duty in Duty::ALL {
            let of_duty: Vec<_> = self.cases.iter().filter(|case| case.duty == duty).collect();
            if of_duty.is_empty() {
                continue;
            }
            let mut suite = TestSuite::new(duty.id());
            suite.add_property(("client", &*plain(&self.client)));
            suite.add_property(("contract", &*self.contract));
            for case in of_duty {
                suite.add_test_case(case.junit());
            }
            document.add_test_suite(suite);
        }
        document.to_string()
    }

    fn markdown(&self) -> String {
        let mut text = format!(
            "## Client `{}`\n\nCases: {}; contract {}.\n\n| duty | passed | failed | other |\n|---|---|---|---|\n",
            cell(&self.client),
            self.totals,
            self.contract
        );
        for duty in Duty::ALL {
            let of_duty = || self.cases.iter().filter(|case| case.duty == duty);
            if of_duty().next().is_none() {
                continue;
            }
            let count = |outcome: &CaseOutcome| of_duty().filter(|case| case.outcome == *outcome).count();
            let (passed, failed) = (count(&CaseOutcome::Passed), count(&CaseOutcome::Failed));
            let _ = writeln!(
                text,
                "| `{duty}` | {passed} | {failed} | {} |",
                of_duty().count() - passed - failed
            );
        }
        let failing: Vec<_> = self.cases.iter().filter(|case| !case.findings.is_empty()).collect();
        if !failing.is_empty() {
            text.push_str("\n| case | expected | found |\n|---|---|---|\n");
        }
        for case in failing {
            for finding in &case.findings {
                let (expected, actual) = (cell(&finding.expected), cell(&finding.actual));
                let _ = writeln!(text, "| `{}` | {expected} | {actual} |", case.id);
            }
        }
        text
    }
}

impl std::fmt::Display for ClientTotals {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { passed, failed, warnings, skipped, errors } = *self;
        let warned = if warnings == 1 { "warning" } else { "warnings" };
        let parts = [
            (passed, "passed"),
            (failed, "failed"),
            (warnings, warned),
            (skipped, "skipped"),
            (errors, "without a result"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, what)| format!("{count} {what}")).collect();
        f.write_str(&if parts.is_empty() { "none".to_owned() } else { parts.join(", ") })
    }
}

/// Text of others in a cell of a table.
fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
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
            requests: Vec::new(),
            input: Input::new(case.call.clone(), case.limit),
            ending: None,
            standard_output: None,
            standard_error: None,
            elapsed_ms: 0,
        }
    }

    /// One line: outcome, id and title.
    #[must_use]
    pub fn line(&self) -> String {
        let outcome = match &self.outcome {
            CaseOutcome::Passed => "passed",
            CaseOutcome::Failed => "FAILED",
            CaseOutcome::Warning => "warning",
            CaseOutcome::Skipped(_) => "skipped",
            CaseOutcome::Error(_) => "ERROR",
        };
        format!("{outcome:>16} {}  {}\n", self.id, self.title)
    }

    /// What was expected and found; nothing for a case that passed.
    fn details(&self) -> String {
        let mut text = String::new();
        let reason = match &self.outcome {
            CaseOutcome::Passed => return text,
            CaseOutcome::Failed | CaseOutcome::Warning => None,
            CaseOutcome::Skipped(reason) | CaseOutcome::Error(reason) => Some(reason),
        };
        if matches!(self.outcome, CaseOutcome::Error(_)) && self.ending.is_none() {
            // It was not reached; the sum counts it.
            return text;
        }
        text.push_str(&self.line());
        if let Some(reason) = reason {
            let _ = writeln!(text, "{:>16} {}", "", plain(reason));
        }
        for finding in &self.findings {
            let from =
                finding.inferred_from.map(|from| format!(" (inferred from {from})")).unwrap_or_default();
            let _ = writeln!(text, "{:>16} {}: {}{from}", "", finding.duty, finding.requirement);
            let _ = writeln!(text, "{:>16} {}", "expected", plain(&finding.expected));
            let _ = writeln!(text, "{:>16} {}", "found", plain(&finding.actual));
        }
        for request in &self.requests {
            let _ = writeln!(text, "{:>16} {request}", "");
        }
        let mut labelled = |label: &str, value: &str| {
            for (number, line) in value.lines().take(SHOWN_LINES).enumerate() {
                let _ = writeln!(text, "{:>16} {}", if number == 0 { label } else { "" }, plain(line));
            }
            let more = value.lines().count().saturating_sub(SHOWN_LINES);
            if more > 0 {
                let _ = writeln!(text, "{:>16} and {}", "", quantity(more, "more line"));
            }
        };
        if self.ending.is_some() {
            labelled("input", &serde_json::to_string(&self.input).unwrap_or_default());
        }
        labelled("ended with", self.ending.as_deref().unwrap_or_default());
        labelled("standard output", self.standard_output.as_deref().unwrap_or_default());
        labelled("standard error", self.standard_error.as_deref().unwrap_or_default());
        text
    }

    fn junit(&self) -> TestCase {
        let non_success = |kind, name: &str, reason: &str| {
            let mut status = TestCaseStatus::non_success(kind);
            status.set_type(name).set_message(plain(reason));
            status
        };
        let status = match &self.outcome {
            CaseOutcome::Passed | CaseOutcome::Warning => TestCaseStatus::success(),
            CaseOutcome::Failed => {
                let first = self.findings.first();
                let message =
                    first.map(|finding| format!("expected {}; found {}", finding.expected, finding.actual));
                let duty = first.map_or(self.duty, |finding| finding.duty);
                let mut status =
                    non_success(NonSuccessKind::Failure, duty.id(), &message.unwrap_or_default());
                status.set_description(self.details());
                status
            }
            CaseOutcome::Skipped(reason) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(plain(reason));
                status
            }
            CaseOutcome::Error(reason) => non_success(NonSuccessKind::Error, "error", reason),
        };
        let mut case = TestCase::new(self.id.clone(), status);
        case.set_classname(self.duty.id());
        if self.outcome == CaseOutcome::Warning {
            case.set_system_out(self.details());
        }
        case.set_time(Duration::from_millis(self.elapsed_ms));
        case
    }
}
