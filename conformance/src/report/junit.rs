//! JUnit XML: what both kinds of reports say of a test.

use std::time::Duration;

use quick_junit::{
    NonSuccessKind, Report as Document, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite,
};

use super::cause::{consequences, headlines, same_reason};
use super::terminal::failures;
use super::words::{inference, line};
use super::{Detail, Screen, plain};
use crate::check::{Outcome, Severity};
use crate::contract::Clause;
use crate::run::{CheckResult, Coverage, Report};

/// A check, or a case of a client test, as a test.
pub(crate) struct TestResult<'a> {
    pub(crate) id: &'a str,
    /// The clauses or duties that it is about.
    pub(crate) about: String,
    pub(crate) outcome: &'a Outcome,
    /// The violated clauses or duties, what was expected and found, and all of it. Empty for one that passed.
    pub(crate) violated: String,
    pub(crate) message: String,
    pub(crate) details: String,
    /// The other test that has no result for the same reason.
    pub(crate) same: Option<String>,
    /// What stands beside the outcome.
    pub(crate) output: String,
    pub(crate) elapsed_ms: u64,
}

/// Suites of tests, each with its name and properties, in the schema of Jenkins' xUnit plugin, which does not let all suites count
/// skipped tests.
pub(crate) fn document(
    name: &str,
    elapsed_ms: u64,
    suites: impl IntoIterator<Item = TestSuite>,
) -> Result<String, SerializeError> {
    let mut document = Document::new(name);
    document.set_time(Duration::from_millis(elapsed_ms));
    document.add_test_suites(suites);
    let attribute = format!(" skipped=\"{}\"", document.skipped);
    Ok(document.to_string()?.replacen(&attribute, "", 1))
}

impl TestResult<'_> {
    pub(crate) fn into_case(self) -> TestCase {
        let Self { id, about, outcome, violated, message, details, same, output, elapsed_ms } = self;
        let skipped = |reason: &str| {
            let mut status = TestCaseStatus::skipped();
            status.set_message(plain(reason));
            status
        };
        let status = match outcome {
            Outcome::Passed | Outcome::Warning => TestCaseStatus::success(),
            Outcome::Failed => {
                let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                status.set_type(violated).set_message(plain(&message)).set_description(details);
                status
            }
            Outcome::Flaky(_) => {
                let mut rerun = TestRerun::new(NonSuccessKind::Failure);
                rerun.set_type(violated).set_message(plain(&message)).set_description(details);
                let mut status = TestCaseStatus::success();
                status.add_rerun(rerun);
                status
            }
            Outcome::ExpectedFailure(reason) | Outcome::Skipped(reason) => skipped(reason),
            Outcome::Inconclusive(reason) | Outcome::Error(reason) => match same {
                Some(other) => skipped(&format!("{}, {other}", outcome.name())),
                None => error(outcome.name(), reason),
            },
        };
        let mut case = TestCase::new(id, status);
        case.set_classname(about);
        case.set_time(Duration::from_millis(elapsed_ms));
        if !output.is_empty() {
            case.set_system_out(output);
        }
        case
    }
}

/// The report as JUnit XML: one suite for each operation, one case for each check. A broken clause is a `failure`; no
/// result, and a fault of ours or the network's, is an `error`, or `skipped` if another check shows why; a check that did not run is `skipped`; a flaky one carries
/// `flakyFailure`. A run that ended early has a case of its own, which is an `error`.
pub(super) fn junit(report: &Report) -> Result<String, SerializeError> {
    let mut suites = Vec::new();
    let operation = |result: &CheckResult| result.id.split('.').next().unwrap_or_default();
    // Checks are sorted by id.
    for results in report.checks.chunk_by(|one, other| operation(one) == operation(other)) {
        let mut suite = TestSuite::new(results.first().map(operation).unwrap_or_default());
        suite.add_property(("target", &*plain(&report.target)));
        let said = |label| line(report, label).unwrap_or_default();
        suite.add_property(("suite", &*said("suite")));
        suite.add_property(("profile", &*said("profile")));
        if let Some(implementation) = &report.implementation {
            suite.add_property(("implementation", &*plain(implementation)));
        }
        suite.add_property(("verdict", &*plain(&report.conclusion)));
        let Coverage { judged, clauses, .. } = &report.coverage;
        suite.add_property(("clauses", &*format!("{judged} of {clauses} judged")));
        suite.add_property(("detection", &*said("detection")));
        if let Some(throttled) = line(report, "throttled") {
            suite.add_property(("throttled", &*throttled));
        }
        for line in report.diagnosis.iter().flat_map(headlines) {
            suite.add_property(("diagnosis", &*plain(&line)));
        }
        suite.add_test_cases(results.iter().map(|result| case(report, result)));
        suites.push(suite);
    }
    let mut add_error = |name: &str, test: &str, kind: &str, reason: &str| {
        let mut suite = TestSuite::new(name);
        suite.add_test_case(TestCase::new(test, error(kind, reason)));
        suites.push(suite);
    };
    if let Some(reason) = &report.stopped {
        let kind = if report.verdict.prevents_testing() { report.verdict.name() } else { "stopped" };
        add_error("run", "the run was completed", kind, reason);
    }
    if !report.unmet.is_empty() {
        add_error("gates", "all gates are met", "not-shown", &report.unmet.join("; "));
    }
    document("sallyport-conformance", report.elapsed_ms, suites)
}

/// A report has every finding, and every command as a whole.
const WHOLE: Screen = Screen { detail: Detail::Verbose, ..Screen::PLAIN };

fn error(kind: &str, reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind).set_message(plain(reason));
    status
}

fn case(report: &Report, result: &CheckResult) -> TestCase {
    let has_details = !matches!(result.outcome, Outcome::Passed | Outcome::Skipped(_));
    let details = match has_details {
        true => {
            let consequences = consequences(report, result.id).map(|text| format!("Consequence: {text}\n"));
            failures(&only(report, result), &WHOLE) + &consequences.unwrap_or_default()
        }
        false => String::new(),
    };
    let coverage = result.coverage().map(|cases| format!("coverage: {cases}\n")).unwrap_or_default();
    let warning = if result.outcome == Outcome::Warning { details.as_str() } else { "" };
    TestResult {
        id: result.id,
        about: joined(result.clauses),
        outcome: &result.outcome,
        violated: clauses(result),
        message: message(result),
        output: format!("{coverage}{warning}"),
        details,
        same: same_reason(report, result),
        elapsed_ms: result.elapsed_ms,
    }
    .into_case()
}

/// The clauses that the findings cite, each once.
fn clauses(result: &CheckResult) -> String {
    let mut clauses: Vec<Clause> = result.findings.iter().map(|finding| finding.clause).collect();
    clauses.sort_unstable();
    clauses.dedup();
    joined(&clauses)
}

fn joined(clauses: &[Clause]) -> String {
    clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>().join(" ")
}

fn message(result: &CheckResult) -> String {
    let finding = result.findings.iter().find(|finding| finding.severity == Severity::Fail);
    let message = finding.map(|finding| {
        format!("expected {}; found {}{}", finding.expected, finding.actual, inference(finding))
    });
    message.unwrap_or_else(|| result.title.to_owned())
}

fn only(report: &Report, result: &CheckResult) -> Report {
    let checks = vec![result.clone()];
    let (clauses, expectations, diagnosis) = (Vec::new(), Vec::new(), Vec::new());
    Report { checks, clauses, expectations, diagnosis, ..report.clone() }
}
