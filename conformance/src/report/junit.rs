//! JUnit XML: what both kinds of reports say of a test.

use minijinja::value::Serde;
use minijinja::{Error, Value, context};
use serde::Serialize;

use super::cause::{headlines, same_reason};
use super::template::{render, template};
use super::terminal::check_failures;
use super::words::{inference, lines};
use super::{Detail, Screen};
use crate::check::{Outcome, Severity};
use crate::contract::Clause;
use crate::run::{CheckResult, Report};

/// Tests of one operation or duty.
#[derive(Serialize)]
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) tests: Vec<Test>,
}

/// A check, or a case of a client test, as a test.
#[derive(Default, Serialize)]
pub(crate) struct Test {
    pub(crate) id: String,
    /// The clauses or duties that it is about.
    pub(crate) about: String,
    /// Its element, or `passed`.
    pub(crate) status: &'static str,
    /// The violated clauses or duties, what was expected and found, and all of it. Empty for one that passed.
    pub(crate) kind: String,
    pub(crate) message: String,
    pub(crate) details: String,
    /// What stands beside the outcome.
    pub(crate) output: String,
    pub(crate) elapsed_ms: Option<u64>,
}

impl Test {
    /// With this outcome. `same` is the other test that has no result for the same reason.
    pub(crate) fn with(self, outcome: &Outcome, same: Option<String>) -> Self {
        let (status, message) = match outcome {
            Outcome::Passed | Outcome::Warning => ("passed", String::new()),
            Outcome::Failed => return Self { status: "failure", ..self },
            Outcome::Flaky(_) => return Self { status: "flakyFailure", ..self },
            Outcome::ExpectedFailure(reason) | Outcome::Skipped(reason) => ("skipped", reason.clone()),
            Outcome::Inconclusive(reason) | Outcome::Error(reason) => match same {
                Some(other) => ("skipped", format!("{}, {other}", outcome.name())),
                None => ("error", reason.clone()),
            },
        };
        Self { status, kind: outcome.name().to_owned(), message, ..self }
    }
}

pub(crate) fn document(
    name: &str,
    elapsed_ms: u64,
    properties: &[(&str, &str)],
    suites: &[Suite],
) -> Result<String, Error> {
    let tests: Vec<&Test> = suites.iter().flat_map(|suite| &suite.tests).collect();
    let (tests, suites) = (Value::from(Serde(tests)), Value::from(Serde(suites)));
    let properties = Value::from(Serde(properties));
    render(template!("templates/junit.xml"), context! { name, elapsed_ms, properties, tests, suites })
}

/// The report as JUnit XML: one suite for each operation, one case for each check. A broken clause is a `failure`; no
/// result, and a fault of ours or the network's, is an `error`, or `skipped` if another check shows why; a check that did not run is `skipped`; a flaky one carries
/// `flakyFailure`. A run that ended early has a case of its own, which is an `error`.
pub(super) fn junit(report: &Report) -> Result<String, Error> {
    let said = lines(report, false);
    let said = |wanted: &str| Some(&said.iter().find(|(label, _)| label == wanted)?.1);
    let judged = format!("{} of {} judged", report.coverage.judged, report.coverage.clauses);
    let diagnosis: Vec<String> = report.diagnosis.iter().flat_map(headlines).collect();
    let properties = [
        ("target", Some(&report.target)),
        ("suite", said("suite")),
        ("profile", said("profile")),
        ("implementation", report.implementation.as_ref()),
        ("verdict", Some(&report.conclusion)),
        ("clauses", Some(&judged)),
        ("detection", said("detection")),
        ("throttled", said("throttled")),
    ];
    let properties = properties.into_iter().chain(diagnosis.iter().map(|line| ("diagnosis", Some(line))));
    let properties: Vec<_> = properties.filter_map(|(name, value)| Some((name, value?.as_str()))).collect();
    let operation = |result: &CheckResult| result.id.split('.').next().unwrap_or_default();
    // Checks are sorted by id.
    let operations = report.checks.chunk_by(|one, other| operation(one) == operation(other));
    let mut suites: Vec<Suite> = operations
        .map(|results| Suite {
            name: results.first().map(operation).unwrap_or_default().to_owned(),
            tests: results.iter().map(|result| test(report, result)).collect(),
        })
        .collect();
    let mut add_error = |name: &str, id: &str, kind: &str, message: String| {
        let (id, kind) = (id.to_owned(), kind.to_owned());
        let test = Test { id, status: "error", kind, message, ..Test::default() };
        suites.push(Suite { name: name.to_owned(), tests: vec![test] });
    };
    if let Some(reason) = &report.stopped {
        let kind = if report.verdict.prevents_testing() { report.verdict.name() } else { "stopped" };
        add_error("run", "the run was completed", kind, reason.clone());
    }
    if !report.unmet.is_empty() {
        add_error("gates", "all gates are met", "not-shown", report.unmet.join("; "));
    }
    document("sallyport-conformance", report.elapsed_ms, &properties, &suites)
}

/// A report has every finding, and every command as a whole.
const WHOLE: Screen = Screen { detail: Detail::Verbose, ..Screen::PLAIN };

fn test(report: &Report, result: &CheckResult) -> Test {
    let details = match result.outcome {
        Outcome::Passed | Outcome::Skipped(_) => String::new(),
        _ => check_failures(report, result, &WHOLE),
    };
    let coverage = result.coverage().map(|cases| format!("coverage: {cases}\n")).unwrap_or_default();
    let warning = if result.outcome == Outcome::Warning { details.as_str() } else { "" };
    let finding = result.findings.iter().find(|finding| finding.severity == Severity::Fail);
    let message = finding.map(|finding| {
        format!("expected {}; found {}{}", finding.expected, finding.actual, inference(finding))
    });
    let mut violated: Vec<Clause> = result.findings.iter().map(|finding| finding.clause).collect();
    violated.sort_unstable();
    violated.dedup();
    let test = Test {
        id: result.id.to_owned(),
        about: joined(result.clauses),
        kind: joined(&violated),
        message: message.unwrap_or_else(|| result.title.to_owned()),
        output: format!("{coverage}{warning}"),
        details,
        elapsed_ms: Some(result.elapsed_ms),
        ..Test::default()
    };
    test.with(&result.outcome, same_reason(report, result))
}

fn joined(clauses: &[Clause]) -> String {
    clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>().join(" ")
}
