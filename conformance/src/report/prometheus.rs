//! The text format of Prometheus, as the textfile collector of the node exporter reads it.

use std::fmt::Write as _;

use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::plain;
use crate::run::{Coverage, Expectation, FindingChange, Report, Totals, Verdict};

/// What every name begins with.
const PREFIX: &str = "sallyport_conformance";

/// The report as gauges: verdict, clauses, detection, cost and duration, and each clause by itself.
#[must_use]
pub fn prometheus(report: &Report) -> String {
    let mut text = Exposition::default();
    let Report { suite, target, contract, profile, implementation, coverage, detection, usage, .. } = report;
    let implementation = implementation.as_deref().unwrap_or_default();
    text.gauge(
        "info",
        "What was run against what; always 1.",
        [(
            vec![
                ("suite", suite.as_str()),
                ("contract", contract),
                ("target", target),
                ("profile", profile),
                ("implementation", implementation),
            ],
            1.0,
        )],
    );
    text.verdict(report.verdict);
    text.totals(report.totals);
    text.clauses(report);
    text.accepted(report);
    if let Some(since) = &report.since {
        let sample =
            |change: FindingChange| (vec![("change", change.words())], since.of(change).count() as f64);
        text.gauge(
            "findings_since",
            "Findings by what became of them since an earlier report.",
            FindingChange::ALL.map(sample),
        );
    }
    let broken = report.clauses.iter().filter(|clause| clause.failures > 0).count() as u64;
    let [exit_code, throttled] = [report.verdict.exit_code().into(), report.throttling.responses];
    for (name, help, value) in [
        ("exit_code", "Exit code of the run.", exit_code),
        ("clauses", "Clauses that responses can show.", coverage.clauses as u64),
        ("clauses_judged", "Clauses that were judged.", coverage.judged as u64),
        ("clauses_broken", "Clauses that are violated.", broken),
        ("known_faults", "Known faults of the suite.", detection.known as u64),
        ("known_faults_noticed", "Known faults that the run would have noticed.", detection.noticed as u64),
        ("requests", "Requests sent by the run.", usage.requests),
        ("gateways", "Gateways that the run was given.", usage.gateways),
        ("bytes", "Bytes of headers and bodies, sent and received.", usage.bytes),
        ("throttled_responses", "Responses by which the service throttled the run.", throttled),
    ] {
        text.single(name, help, value as f64);
    }
    text.single("duration_seconds", "Duration of the run.", report.elapsed_ms as f64 / 1000.0);
    // A report that was read again has no time that can't be parsed; another one is left out rather than wrong.
    if let Ok(begun) = report.begun.parse::<jiff::Timestamp>() {
        text.single("begun_timestamp_seconds", "When the run began.", begun.as_second() as f64);
    }
    text.0
}

/// Metrics in the text format, version 0.0.4.
#[derive(Debug, Default)]
struct Exposition(String);

impl Exposition {
    /// Adds a gauge with its samples, each with its labels. Names and help are ours; label values may be of others.
    fn gauge<'a>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Vec<(&'a str, &'a str)>, f64)>,
    ) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "# HELP {PREFIX}_{name} {help}\n# TYPE {PREFIX}_{name} gauge\n");
        for (labels, value) in samples {
            let labels: Vec<String> =
                labels.iter().map(|(label, value)| format!("{label}=\"{}\"", escaped(value))).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            let _ = writeln!(self.0, "{PREFIX}_{name}{labels} {value}");
        }
    }

    /// Adds a gauge with one sample and no labels.
    fn single(&mut self, name: &str, help: &str, value: f64) {
        self.gauge(name, help, [(Vec::new(), value)]);
    }

    fn verdict(&mut self, verdict: Verdict) {
        let sample =
            |other: Verdict| (vec![("verdict", other.name())], if other == verdict { 1.0 } else { 0.0 });
        self.gauge("verdict", "1 for the verdict of the run, 0 for the others.", Verdict::ALL.map(sample));
    }

    fn totals(&mut self, totals: Totals) {
        let Totals { passed, failed, warned, flaky, expected, skipped, inconclusive, errors } = totals;
        let counts = [
            ("passed", passed),
            ("failed", failed),
            ("warning", warned),
            ("flaky", flaky),
            ("expected failure", expected),
            ("skipped", skipped),
            ("inconclusive", inconclusive),
            ("error", errors),
        ];
        let sample = |(outcome, count): (&'static str, usize)| (vec![("outcome", outcome)], count as f64);
        self.gauge("checks", "Checks by outcome.", counts.map(sample));
    }

    /// Each clause by itself; those that no chosen check cites were not judged.
    fn clauses(&mut self, report: &Report) {
        let Coverage { not_judged, .. } = &report.coverage;
        let mut judged: Vec<(&str, f64)> = Vec::new();
        for clause in &report.clauses {
            judged.push((clause.id.id(), if clause.checked > 0 { 1.0 } else { 0.0 }));
        }
        for clause in not_judged.iter().flat_map(|reason| &reason.clauses) {
            if !judged.iter().any(|(known, _)| *known == clause.id()) {
                judged.push((clause.id(), 0.0));
            }
        }
        judged.sort_by_key(|(clause, _)| *clause);
        let sample = |(clause, value)| (vec![("clause", clause)], value);
        self.gauge("clause_judged", "1 if the clause was judged, by clause.", judged.into_iter().map(sample));
        // Without a sample of runs that did not judge a clause, an average over time is one of those that did.
        let judging = report.clauses.iter().filter(|clause| clause.checked > 0 || clause.failures > 0);
        let findings = judging.map(|clause| (vec![("clause", clause.id.id())], clause.failures as f64));
        self.gauge(
            "clause_findings",
            "Findings that violate the clause, without accepted ones, by judged clause.",
            findings,
        );
    }

    /// The violated clauses that the tester accepts, and when that ends: at midnight UTC after the last day.
    fn accepted(&mut self, report: &Report) {
        self.single(
            "clauses_accepted",
            "Violated clauses that are accepted.",
            report.accepted().count() as f64,
        );
        let end = |until: &str| {
            let next = until.parse::<Date>().ok()?.tomorrow().ok()?;
            Some(next.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp().as_second() as f64)
        };
        let samples = report.accepted().filter_map(|Expectation { clause, until, .. }| {
            Some((vec![("clause", clause.id())], end(until)?))
        });
        self.gauge(
            "clause_accepted_until_timestamp_seconds",
            "End of the time in which the violated clause is accepted, by clause.",
            samples,
        );
    }
}

/// A label value: backslash, quote and line feed are escaped as the format wants it, control characters as in other output.
fn escaped(value: &str) -> String {
    plain(value).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_value_cannot_end_its_label() {
        let mut text = Exposition::default();
        text.gauge("x", "Help.", [(vec![("a", "q\"}\n1 \\ \u{1b}"), ("b", "c")], 0.5)]);
        assert_eq!(
            text.0,
            "# HELP sallyport_conformance_x Help.\n# TYPE sallyport_conformance_x gauge\n\
             sallyport_conformance_x{a=\"q\\\"}\\\\u{a}1 \\\\ \\\\u{1b}\",b=\"c\"} 0.5\n"
        );
    }
}
