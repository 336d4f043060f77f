use std::time::Duration;

use quick_junit::{
    NonSuccessKind, Report as Document, SerializeError, TestCase, TestCaseStatus, TestRerun, TestSuite,
};

use super::cause::{consequences, headlines, same_reason};
use super::terminal::failures;
use super::words::{detected, inferred_from, profile_and_budget, suite_and_contract, throttled};
use super::{Detail, Screen, plain};
use crate::check::{Outcome, Severity};
use crate::contract::Clause;
use crate::run::{CheckResult, Coverage, Report};

/// The report as JUnit XML: one suite for each operation, one case for each check. A broken clause is a `failure`; no
/// result, and a fault of ours or the network's, is an `error`, or `skipped` if another check shows why; a check that did not run is `skipped`; a flaky one carries
/// `flakyFailure`. A run that ended early has a case of its own, which is an `error`.
///
/// # Errors
/// When the document can't be written, which would be a bug of the suite.
pub fn junit(report: &Report) -> Result<String, SerializeError> {
    let mut document = Document::new("sallyport-conformance");
    document.set_time(Duration::from_millis(report.elapsed_ms));
    let operation = |result: &CheckResult| result.id.split('.').next().unwrap_or_default();
    // Checks are sorted by id.
    for results in report.checks.chunk_by(|one, other| operation(one) == operation(other)) {
        let mut suite = TestSuite::new(results.first().map(operation).unwrap_or_default());
        suite.add_property(("target", &*plain(&report.target)));
        suite.add_property(("suite", &*suite_and_contract(report)));
        suite.add_property(("profile", &*profile_and_budget(report)));
        if let Some(implementation) = &report.implementation {
            suite.add_property(("implementation", &*plain(implementation)));
        }
        suite.add_property(("verdict", &*plain(&report.conclusion)));
        let Coverage { judged, clauses, .. } = &report.coverage;
        suite.add_property(("clauses", &*format!("{judged} of {clauses} judged")));
        suite.add_property(("detection", &*detected(&report.detection, "would have noticed")));
        if let Some(throttled) = throttled(report) {
            suite.add_property(("throttled", &*throttled));
        }
        for line in report.diagnosis.iter().flat_map(headlines) {
            suite.add_property(("diagnosis", &*plain(&line)));
        }
        suite.add_test_cases(results.iter().map(|result| case(report, result)));
        document.add_test_suite(suite);
    }
    let mut add_error = |name: &str, test: &str, kind: &str, reason: &str| {
        let mut suite = TestSuite::new(name);
        suite.add_test_case(TestCase::new(test, error(kind, reason)));
        document.add_test_suite(suite);
    };
    if let Some(reason) = &report.stopped {
        let kind = if report.verdict.prevents_testing() { report.verdict.name() } else { "stopped" };
        add_error("run", "the run was completed", kind, reason);
    }
    if !report.unmet.is_empty() {
        add_error("gates", "all gates are met", "not-shown", &report.unmet.join("; "));
    }
    text(&document)
}

/// A document as text, in the schema of Jenkins' xUnit plugin, which does not let all suites count skipped cases.
pub(crate) fn text(document: &Document) -> Result<String, SerializeError> {
    let attribute = format!(" skipped=\"{}\"", document.skipped);
    Ok(document.to_string()?.replacen(&attribute, "", 1))
}

/// A report has every finding, and every command as a whole.
const WHOLE: Screen = Screen { detail: Detail::Verbose, ..Screen::PLAIN };

fn error(kind: &str, reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(kind).set_message(plain(reason));
    status
}

fn case(report: &Report, result: &CheckResult) -> TestCase {
    let details = || {
        let consequences = consequences(report, result.id).map(|text| format!("Consequence: {text}\n"));
        failures(&only(report, result), &WHOLE) + &consequences.unwrap_or_default()
    };
    let status = match &result.outcome {
        Outcome::Passed | Outcome::Warning => TestCaseStatus::success(),
        Outcome::Failed => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            status.set_type(clauses(result)).set_message(message(result)).set_description(details());
            status
        }
        Outcome::Flaky(_) => {
            let mut rerun = TestRerun::new(NonSuccessKind::Failure);
            rerun.set_type(clauses(result)).set_message(message(result)).set_description(details());
            let mut status = TestCaseStatus::success();
            status.add_rerun(rerun);
            status
        }
        Outcome::ExpectedFailure(reason) | Outcome::Skipped(reason) => {
            let mut status = TestCaseStatus::skipped();
            status.set_message(plain(reason));
            status
        }
        Outcome::Inconclusive(reason) | Outcome::Error(reason) => match same_reason(report, result) {
            Some(other) => {
                let mut status = TestCaseStatus::skipped();
                status.set_message(format!("{}, {other}", result.outcome.name()));
                status
            }
            None => error(result.outcome.name(), reason),
        },
    };
    let mut case = TestCase::new(result.id, status);
    case.set_classname(joined(result.clauses));
    case.set_time(Duration::from_millis(result.elapsed_ms));
    let coverage = result.coverage().map(|cases| format!("coverage: {cases}\n"));
    let warning = (result.outcome == Outcome::Warning).then(details);
    if coverage.is_some() || warning.is_some() {
        case.set_system_out([coverage, warning].into_iter().flatten().collect::<String>());
    }
    case
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
        let inferred = inferred_from(finding).map(|from| format!(" ({from})")).unwrap_or_default();
        format!("expected {}; found {}{inferred}", finding.expected, finding.actual)
    });
    plain(&message.unwrap_or_else(|| result.title.to_owned())).into_owned()
}

fn only(report: &Report, result: &CheckResult) -> Report {
    let checks = vec![result.clone()];
    let (clauses, expectations, diagnosis) = (Vec::new(), Vec::new(), Vec::new());
    Report { checks, clauses, expectations, diagnosis, ..report.clone() }
}
