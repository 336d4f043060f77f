use std::fmt::Write as _;
use std::io::Write;
use std::sync::{Mutex, PoisonError};

use super::curl;
use crate::check::{Check, Finding, Outcome};
use crate::run::{CheckResult, Observer, Report, Verdict};

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text alone.
    Plain,
    /// With ANSI colours.
    Coloured,
}

#[derive(Debug, Clone, Copy)]
enum Tone {
    Good,
    Bad,
    Doubtful,
    Faint,
    Strong,
}

/// Writes one line for each check that ends.
#[derive(Debug)]
pub struct Terminal<W> {
    writer: Mutex<W>,
    style: Style,
}

impl<W: Write + Send> Terminal<W> {
    /// Progress on a writer.
    pub fn new(writer: W, style: Style) -> Self {
        Self { writer: Mutex::new(writer), style }
    }

    /// A pipe that nobody reads any more is no reason to end the run.
    fn line(&self, line: &str) {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writeln!(writer, "{line}");
    }
}

impl<W: Write + Send> Observer for Terminal<W> {
    fn begun(&self, checks: &[&'static Check]) {
        self.line(&format!("running {} checks\n", checks.len()));
    }

    fn check_ended(&self, result: &CheckResult) {
        self.line(&check_line(result, self.style));
    }
}

/// One check on one line, with the reason when there is no result.
#[must_use]
pub fn check_line(result: &CheckResult, style: Style) -> String {
    let (word, tone) = word(&result.outcome);
    let mut line = format!("{} {}  {}", style.paint(tone, &format!("{word:>12}")), result.id, result.title);
    if let Some(reason) = result.outcome.reason() {
        let _ = write!(line, "\n{:14}{}", "", style.paint(Tone::Faint, reason));
    }
    line
}

/// Every finding, with what was required, expected and found, and the command that shows it again.
#[must_use]
pub fn failures(report: &Report, style: Style) -> String {
    let mut text = String::new();
    for result in report.checks.iter().filter(|result| !result.findings.is_empty()) {
        let (word, tone) = word(&result.outcome);
        let _ = writeln!(text, "\n{} {}", style.paint(tone, word), style.paint(Tone::Strong, result.id));
        for finding in &result.findings {
            finding_text(&mut text, report, result, finding, style);
        }
    }
    text
}

/// Outcomes counted, broken clauses, cost and verdict.
#[must_use]
pub fn summary(report: &Report, style: Style) -> String {
    let mut text = String::from("\n");
    for clause in report.clauses.iter().filter(|clause| clause.failures > 0) {
        let findings = if clause.failures == 1 { "finding" } else { "findings" };
        let _ = writeln!(
            text,
            "{} {}  {} {findings}",
            style.paint(Tone::Bad, &format!("{:>12}", "broken")),
            clause.id,
            clause.failures
        );
    }
    let totals = report.totals;
    let counts = [
        (totals.passed, "passed"),
        (totals.failed, "failed"),
        (totals.warned, "warned"),
        (totals.skipped, "skipped"),
        (totals.inconclusive, "inconclusive"),
        (totals.errors, "errors"),
    ];
    let counts: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    let counts = if counts.is_empty() { "nothing ran".to_owned() } else { counts.join(", ") };
    let checked = report.clauses.iter().filter(|clause| clause.checked > 0).count();
    let _ = writeln!(text, "{:>12} {} checks: {counts}", "checks", totals.all());
    let _ = writeln!(text, "{:>12} {checked} of {} looked at", "clauses", report.clauses.len());
    let usage = report.usage;
    let _ = writeln!(
        text,
        "{:>12} {} requests, {} gateways, {:.2} s",
        "cost",
        usage.requests,
        usage.gateways,
        report.elapsed_ms as f64 / 1000.0
    );
    if let Some(reason) = &report.stopped {
        let _ = writeln!(text, "{} {reason}", style.paint(Tone::Doubtful, &format!("{:>12}", "stopped")));
    }
    let (words, tone) = match report.verdict {
        Verdict::Conforms => ("conforms to every clause that was checked", Tone::Good),
        Verdict::Findings => ("does not conform", Tone::Bad),
        Verdict::Unreachable => ("unreachable", Tone::Bad),
        Verdict::Incomplete => ("incomplete: no verdict", Tone::Doubtful),
    };
    let _ = writeln!(text, "{:>12} {} {}", "verdict", report.target, style.paint(tone, words));
    text
}

impl Style {
    fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Good => "32",
            Tone::Bad => "31;1",
            Tone::Doubtful => "33",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        match self {
            Self::Plain => text.to_owned(),
            Self::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

fn word(outcome: &Outcome) -> (&'static str, Tone) {
    match outcome {
        Outcome::Pass => ("pass", Tone::Good),
        Outcome::Fail => ("FAIL", Tone::Bad),
        Outcome::Warn => ("warn", Tone::Doubtful),
        Outcome::Skipped(_) => ("skipped", Tone::Faint),
        Outcome::Inconclusive(_) => ("inconclusive", Tone::Doubtful),
        Outcome::Error(_) => ("error", Tone::Doubtful),
    }
}

fn finding_text(text: &mut String, report: &Report, result: &CheckResult, finding: &Finding, style: Style) {
    let quoted = format!("\u{201c}{}\u{201d} ({})", finding.requirement, finding.clause);
    let _ = writeln!(text, "{} {quoted}", style.paint(Tone::Faint, &format!("{:>14}", "Requirement")));
    let _ = writeln!(text, "{:>14} {}", "Expected", finding.expected);
    let _ = writeln!(text, "{:>14} {}", "Actual", finding.actual);
    for index in &finding.exchanges {
        if let Some(exchange) = result.exchanges.iter().find(|exchange| exchange.index == *index) {
            let _ = writeln!(text, "{:>14} {}", "Reproduce", curl::command(&report.target, exchange));
        }
    }
}
