//! The report of a client test: JSON, JUnit, and lines for a terminal. It holds no token.

use std::collections::BTreeSet;
use std::io;
use std::time::Instant;

use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use super::duty::Duty;
use super::result::ClientCaseResult;
use crate::check::{Outcome, Severity};
use crate::contract::Contract;
use crate::report::{
    Format, JunitSuite, JunitTest, Template, counted, junit_document, render_lines, template,
};
use crate::run::{Totals, Verdict};

/// Maximum number of lines of a command's output on a terminal and in JUnit.
const SHOWN_LINES: usize = 12;

/// Maximum number of cases with the same mistake that a terminal names.
const SHOWN_CASES: usize = 5;

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
    pub totals: Totals,
    /// Each case, by duty.
    pub cases: Vec<ClientCaseResult>,
}

impl ClientReport {
    /// Version of the JSON report; it is increased when readers have to change.
    pub const VERSION: u32 = 2;

    pub(super) fn new(
        contract: &Contract,
        client: String,
        (begun, at): (Instant, jiff::Timestamp),
        cases: Vec<ClientCaseResult>,
    ) -> Self {
        let totals = Totals::from_outcomes(cases.iter().map(|case| &case.outcome));
        Self {
            schema_version: Self::VERSION,
            suite: concat!(env!("CARGO_PKG_NAME"), " ", env!("CARGO_PKG_VERSION")).to_owned(),
            client,
            contract: contract.version.clone(),
            contract_sha256: contract.sha256.clone(),
            begun: at.to_string(),
            elapsed_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
            verdict: Verdict::from_totals(totals, false),
            totals,
            cases,
        }
    }

    /// The report in one of [`Format::OF_CLIENTS`].
    ///
    /// # Errors
    /// It has no such format, or can't be written, which would be a bug of the suite.
    pub fn render(&self, format: Format) -> io::Result<String> {
        match format {
            Format::Junit => self.junit().map_err(io::Error::other),
            Format::Json => Ok(crate::report::pretty_json(self)?),
            other => {
                Err(io::Error::other(format!("the report of a client can't be written as {}", other.name())))
            }
        }
    }

    /// One suite for each duty, one test for each case.
    fn junit(&self) -> Result<String, minijinja::Error> {
        let properties = [("client", self.client.as_str()), ("contract", self.contract.as_str())];
        let suite = |duty: Duty| JunitSuite {
            name: duty.to_string(),
            tests: self.cases.iter().filter(|case| case.duty == duty).map(ClientCaseResult::test).collect(),
        };
        let suites = Duty::ALL.into_iter().map(suite).filter(|suite| !suite.tests.is_empty());
        let suites: Vec<JunitSuite> = suites.collect();
        junit_document("sallyport-client-conformance", self.elapsed_ms, &properties, &suites)
    }

    /// The failed and the undecided cases, and the sum, for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let cases = self.cases.iter().filter(|case| !case.is_known()).map(|case| {
            let same = self.cases.iter().filter(|other| other.is_as_in(&case.id));
            case.details(&same.map(|other| &*other.id).collect::<Vec<_>>())
        });
        let mistakes = self.cases.iter().flat_map(|case| &case.findings).filter(|it| it.same_as.is_none());
        let failures = mistakes.clone().filter(|finding| finding.severity == Severity::Fail);
        let broken: BTreeSet<Duty> = failures.map(|finding| finding.duty).collect();
        let stopped = self.cases.iter().filter(|case| case.is_interrupted());
        let mut counts = counted(self.totals);
        let gave_up = self.cases.iter().filter(|case| case.gave_up).count();
        if gave_up > 0 {
            counts = counts.replacen(" passed", &format!(" passed ({gave_up} by giving up)"), 1);
        }
        let view = context! {
            report => Value::from(Serde(self)),
            counts => counts,
            verdict => self.verdict.words(),
            broken => broken.into_iter().map(Duty::id).collect::<Vec<_>>(),
            mistakes => mistakes.count(),
            failing => self.cases.iter().filter(|case| !case.findings.is_empty()).count(),
            stopped => stopped.clone().next().and_then(|case| case.outcome.reason()),
            ended => self.cases.len() - stopped.count(),
        };
        cases.collect::<String>() + &labelled(template!("report/summary.txt"), &view)
    }
}

/// The lines of a template behind their labels.
fn labelled(template: Template, view: &Value) -> String {
    render_lines(template, view).iter().map(|(label, line)| format!("{label:>16} {line}\n")).collect()
}

impl ClientCaseResult {
    /// One line: outcome, id and title.
    #[must_use]
    pub fn line(&self) -> String {
        let outcome = match &self.outcome {
            Outcome::Passed if self.gave_up => "gave up",
            Outcome::Passed => "passed",
            Outcome::Failed => "FAILED",
            Outcome::Warning => "warning",
            Outcome::Skipped(_) => "skipped",
            _ => "ERROR",
        };
        format!("{outcome:>16} {}  {}\n", self.id, self.title)
    }

    /// Whether the end of the run left it without a result.
    fn is_interrupted(&self) -> bool {
        matches!(self.outcome, Outcome::Error(_)) && self.ending.is_none()
    }

    /// Whether other cases show all that is wrong.
    fn is_known(&self) -> bool {
        let mistakes = &self.findings;
        self.same_error_as.is_some()
            || !mistakes.is_empty() && mistakes.iter().all(|finding| finding.same_as.is_some())
    }

    /// Whether it shows a mistake of that case again.
    fn is_as_in(&self, id: &str) -> bool {
        let mut same = self.findings.iter().map(|finding| &finding.same_as).chain([&self.same_error_as]);
        same.any(|same| same.as_deref() == Some(id))
    }

    fn test(&self) -> JunitTest {
        let first = self.findings.first();
        let message = first.map(|finding| format!("expected {}; found {}", finding.expected, finding.actual));
        let test = JunitTest {
            id: self.id.clone(),
            about: self.duty.to_string(),
            kind: first.map_or(self.duty, |finding| finding.duty).to_string(),
            message: message.unwrap_or_default(),
            details: self.details(&[]),
            output: if self.outcome == Outcome::Warning { self.details(&[]) } else { String::new() },
            elapsed_ms: Some(self.elapsed_ms),
            ..JunitTest::default()
        };
        test.with(&self.outcome, None)
    }

    /// What was expected and found, and the cases that show the `same`; nothing for a case that passed or was not reached.
    fn details(&self, same: &[&str]) -> String {
        if self.outcome == Outcome::Passed || self.is_interrupted() {
            return String::new();
        }
        let input = self.ending.as_ref().and_then(|_| serde_json::to_string(&self.input).ok());
        let view = context! {
            case => Value::from(Serde(self)),
            reason => self.outcome.reason(),
            is_known => self.is_known(),
            input => input,
            shown => SHOWN_LINES,
            same => Value::from(Serde(same)),
            shown_cases => SHOWN_CASES,
        };
        self.line() + &labelled(template!("report/details.txt"), &view)
    }
}
