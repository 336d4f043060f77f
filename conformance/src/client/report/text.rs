//! The report of a client test for a terminal.

use std::fmt::Write as _;
use std::time::Duration;

use minijinja::value::Serde;
use minijinja::{Value, context};

use super::ClientReport;
use crate::check::Outcome;
use crate::client::result::ClientCaseResult;
use crate::report::{JunitTest, plain, quantity, render_lines, template};
use crate::run::Verdict;

/// Maximum number of lines of a command's output on a terminal and in JUnit.
const SHOWN_LINES: usize = 12;

/// Maximum number of cases with the same mistake that a terminal names.
const SHOWN_CASES: usize = 5;

impl ClientReport {
    /// Why cases were not run.
    fn stopped(&self) -> Option<&str> {
        self.cases.iter().find(|case| case.is_interrupted())?.outcome.reason()
    }

    /// The failed and the undecided cases, and the sum, for a terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for case in self.cases.iter().filter(|case| !case.is_known()) {
            text.push_str(&case.details());
            let same: Vec<&str> =
                self.cases.iter().filter(|other| other.is_as_in(&case.id)).map(|other| &*other.id).collect();
            if let [_, ..] = same.as_slice() {
                let shown = same.iter().take(SHOWN_CASES).copied().collect::<Vec<_>>().join(", ");
                let rest = if same.len() > SHOWN_CASES { ", …" } else { "" };
                let count = quantity(same.len(), "more case");
                let _ = writeln!(text, "{:>16} {count}: {shown}{rest}", "the same in");
            }
        }
        let _ = writeln!(text, "{:>16} {}: {}", "cases", self.cases.len(), self.counts());
        let _ =
            writeln!(text, "{:>16} {:.2} s", "time", Duration::from_millis(self.elapsed_ms).as_secs_f64());
        let _ = writeln!(text, "{:>16} {}: {}", "verdict", plain(&self.client), self.verdict_words());
        text
    }

    /// The verdict in words, which begin with its name.
    pub(super) fn verdict_words(&self) -> String {
        let broken = self.broken();
        let words = match self.verdict {
            Verdict::Conforms => {
                let judged = self.totals.passed + self.totals.warned;
                let warnings = match self.totals.warned {
                    0 => String::new(),
                    warnings => format!("; {}", quantity(warnings, "warning")),
                };
                format!("no duty of callers was violated in {}{warnings}", quantity(judged, "case"))
            }
            Verdict::Findings => format!(
                "{} violated: {}{}",
                quantity(broken.len(), "duty"),
                broken.iter().map(|duty| duty.id()).collect::<Vec<_>>().join(", "),
                self.mistakes()
            ),
            _ => {
                let all = quantity(self.cases.len(), "case");
                if let Some(reason) = self.stopped() {
                    let ended = self.cases.iter().filter(|case| !case.is_interrupted()).count();
                    format!("stopped after {ended} of {all}: {reason}")
                } else {
                    let without = self.totals.errors + self.totals.skipped;
                    format!("{without} of {all} ended without a result")
                }
            }
        };
        format!("{}: {words}", self.verdict.words())
    }

    /// The number of mistakes and of failing cases, where there are fewer mistakes.
    fn mistakes(&self) -> String {
        let distinct = self.findings().filter(|(_, finding)| finding.same_as.is_none()).count();
        let cases = self.cases.iter().filter(|case| !case.findings.is_empty()).count();
        if distinct >= cases {
            return String::new();
        }
        format!(" ({} in {})", quantity(distinct, "mistake"), quantity(cases, "case"))
    }
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
            details: self.details(),
            output: if self.outcome == Outcome::Warning { self.details() } else { String::new() },
            elapsed_ms: Some(self.elapsed_ms),
            ..JunitTest::default()
        };
        test.with(&self.outcome, None)
    }

    /// What was expected and found; nothing for a case that passed, or that was not reached, which the sum counts.
    pub(super) fn details(&self) -> String {
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
        };
        let lines = render_lines(template!("details.txt"), &view).into_iter();
        lines.fold(self.line(), |text, (label, line)| format!("{text}{label:>16} {line}\n"))
    }
}
