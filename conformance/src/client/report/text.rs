//! The report of a client test for a terminal.

use std::collections::BTreeSet;

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::ClientReport;
use crate::check::{Outcome, Severity};
use crate::client::duty::Duty;
use crate::client::result::ClientCaseResult;
use crate::report::{JunitTest, Template, render_lines, template};

/// Maximum number of lines of a command's output on a terminal and in JUnit.
const SHOWN_LINES: usize = 12;

/// Maximum number of cases with the same mistake that a terminal names.
const SHOWN_CASES: usize = 5;

impl ClientReport {
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
        let view = context! {
            report => Value::from(Serde(self)),
            counts => self.counts(),
            verdict => self.verdict.words(),
            broken => broken.into_iter().map(Duty::id).collect::<Vec<_>>(),
            mistakes => mistakes.count(),
            failing => self.cases.iter().filter(|case| !case.findings.is_empty()).count(),
            stopped => stopped.clone().next().and_then(|case| case.outcome.reason()),
            ended => self.cases.len() - stopped.count(),
        };
        cases.collect::<String>() + &labelled(template!("summary.txt"), &view)
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

    pub(super) fn test(&self) -> JunitTest {
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

    /// What was expected and found, and the cases that show the `same`; nothing for a case that passed, or that was not reached, which
    /// the sum counts.
    pub(super) fn details(&self, same: &[&str]) -> String {
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
        self.line() + &labelled(template!("details.txt"), &view)
    }
}
