//! The text format of Prometheus, as the textfile collector of the node exporter reads it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use minijinja::value::Serde;
use minijinja::{Error, Value, context};

use super::plain;
use super::template::{render, template};
use crate::run::{Expectation, FindingChange, Report, Verdict};

/// The report as gauges: verdict, clauses, detection, cost and duration, and each clause by itself.
pub(super) fn prometheus(report: &Report) -> Result<String, Error> {
    let verdicts = Verdict::ALL.map(|verdict| (verdict.name(), u8::from(verdict == report.verdict)));
    // Clauses that no chosen check cites were not judged.
    let unjudged = report.coverage.not_judged.iter().flat_map(|reason| &reason.clauses);
    let mut judged: BTreeMap<&str, u8> = unjudged.map(|clause| (clause.id(), 0)).collect();
    judged.extend(report.clauses.iter().map(|clause| (clause.id.id(), u8::from(clause.checked > 0))));
    // Without a sample of runs that did not judge a clause, an average over time is one of those that did.
    let judging = report.clauses.iter().filter(|clause| clause.checked > 0 || clause.failures > 0);
    let findings: Vec<_> = judging.map(|clause| (clause.id.id(), clause.failures)).collect();
    let until =
        |entry: &Expectation| Some((entry.expected.clause.id(), midnight_after(entry.expected.until)?));
    let changes = report.since.as_ref().map(|since| {
        Value::from(Serde(FindingChange::ALL.map(|change| (change.name(), since.of(change).count()))))
    });
    render(
        template!("templates/metrics.prom"),
        context! {
            report => Value::from(Serde(report)),
            verdicts => Value::from(Serde(verdicts)),
            outcomes => Value::from(Serde(report.totals.named())),
            judged => Value::from(Serde(Vec::from_iter(judged))),
            findings => Value::from(Serde(findings)),
            accepted => report.accepted().count(),
            until => Value::from(Serde(report.accepted().filter_map(until).collect::<Vec<_>>())),
            changes => changes,
            exit_code => report.verdict.exit_code(),
            broken => report.clauses.iter().filter(|clause| clause.failures > 0).count(),
            duration => (report.elapsed_ms as f64 / 1000.0).to_string(),
            // A report that was read again has no time that can't be parsed; another one is left out rather than wrong.
            begun => report.begun.parse::<Timestamp>().ok().map(Timestamp::as_second),
        },
    )
}

/// When the last day on which a violated clause is accepted has ended, in UTC.
fn midnight_after(day: Date) -> Option<i64> {
    Some(day.tomorrow().ok()?.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp().as_second())
}

/// A label value: backslash, quote and line feed are escaped as the format wants it, control characters as in other output.
pub(super) fn label(value: &str) -> String {
    plain(value).replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
