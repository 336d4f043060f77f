//! The history of repeated runs, as a page and as metrics.

use minijinja::{Value, context};

use super::template::render;
use super::{Exposition, quantity};
use crate::run::Verdict;
use crate::watch::{Change, ClauseTrend, Rate, RunRecord, trends};

/// Maximum number of runs that the page shows one by one. The rates cover all runs.
const MAX_CELLS: usize = 96;

/// The history of a target as one page for a browser: no other file, no network. Broken clauses come first. `saved` says why the
/// latest run extracted fewer gateways than its profile allows, and when that ends.
///
/// # Errors
/// When the page can't be rendered, which would be a bug of the suite.
pub fn history_page(
    target: &str,
    records: &[RunRecord],
    gateways_today: u64,
    saved: Option<&str>,
) -> Result<String, minijinja::Error> {
    let shown = &records[records.len().saturating_sub(MAX_CELLS)..];
    let title = |record: &RunRecord| format!("{}: {}", record.begun, record.words());
    let cell =
        |record: &RunRecord| context! { tone => verdict_tone(record.verdict()), title => title(record) };
    let cells = context! {
        titles => shown.iter().map(title).collect::<Vec<_>>(),
        verdicts => shown.iter().map(cell).collect::<Vec<_>>(),
    };
    let mut trends = trends(records);
    trends.sort_by_key(|trend| (!trend.is_broken_now, std::cmp::Reverse(trend.broken.seen), trend.clause));
    let clauses: Vec<Value> = trends.into_iter().map(|trend| clause_view(trend, shown)).collect();
    let latest = records.last();
    let reports: Vec<Value> = records.iter().rev().filter_map(report_view).collect();
    let time = |record: Option<&RunRecord>| {
        record.map_or_else(|| "none".to_owned(), |record| record.begun.to_string())
    };
    render(
        "history.html",
        include_str!("html/history.html"),
        context! {
            tone => verdict_tone(latest.and_then(RunRecord::verdict)),
            verdict => latest.map_or("no run yet", RunRecord::words),
            target => target,
            runs => quantity(records.len() as u64, "run"),
            first => time(records.first()),
            latest => time(latest),
            gateways => gateways_today,
            saved => saved,
            verdicts => verdict_counts(records),
            cells => cells,
            clauses => clauses,
            reports => reports,
        },
    )
}

/// A run whose report is kept.
fn report_view(record: &RunRecord) -> Option<Value> {
    let name = record.report.as_deref()?;
    let broken = record.broken.keys().cloned().collect::<Vec<_>>().join(", ");
    Some(
        context! { begun => record.begun.to_string(), verdict => record.words(), broken => broken, name => name },
    )
}

fn clause_view(trend: ClauseTrend<'_>, shown: &[RunRecord]) -> Value {
    let ClauseTrend { clause, broken, is_broken_now, accepted_until } = trend;
    let tone = |record: &RunRecord| match record.is_broken(clause) {
        Some(true) if record.accepted.contains_key(clause.id()) => "expected-failure",
        Some(true) => "failed",
        Some(false) => "passed",
        None => "",
    };
    let tones: Vec<_> = shown.iter().map(tone).collect();
    context! {
        id => clause.id(),
        rate => broken.to_string(),
        is_broken_now => is_broken_now,
        accepted_until => accepted_until,
        tones => tones,
    }
}

fn verdict_tone(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Conforms) => "passed",
        Some(Verdict::Accepted) => "expected-failure",
        Some(Verdict::Findings) => "failed",
        Some(_) => "inconclusive",
        None => "skipped",
    }
}

fn verdict_rate(records: &[RunRecord], verdict: Verdict) -> Rate {
    let seen = records.iter().filter(|record| record.verdict() == Some(verdict)).count();
    Rate { seen: seen as u64, runs: records.len() as u64 }
}

fn verdict_counts(records: &[RunRecord]) -> Vec<Value> {
    let rates = Verdict::ALL.map(|verdict| (verdict.name(), verdict_rate(records, verdict)));
    let seen = rates.into_iter().filter(|(_, rate)| rate.seen > 0);
    seen.map(|(name, rate)| context! { name => name, rate => rate.to_string() }).collect()
}

/// The history as metrics, beside those of the latest run.
#[must_use]
pub fn history_metrics(records: &[RunRecord], gateways_today: u64) -> String {
    let mut text = Exposition::default();
    let runs =
        |verdict: Verdict| (vec![("verdict", verdict.name())], verdict_rate(records, verdict).seen as f64);
    text.gauge("watch_runs", "Runs of the history, by verdict.", Verdict::ALL.map(runs));
    text.single("watch_gateways_day", "Gateways extracted in the last 24 hours.", gateways_today as f64);
    let trends = trends(records);
    type OfClause = fn(&ClauseTrend<'_>) -> f64;
    let rows: [(&str, &str, OfClause); 4] = [
        ("watch_clause_runs", "Runs of the history that judged the clause.", |trend| {
            trend.broken.runs as f64
        }),
        ("watch_clause_broken_runs", "Runs of the history in which the clause was violated.", |trend| {
            trend.broken.seen as f64
        }),
        (
            "watch_clause_broken_low",
            "Lower bound of the 95 % confidence interval of the share of runs that violated the clause.",
            |trend| trend.broken.interval().0,
        ),
        (
            "watch_clause_broken_high",
            "Upper bound of the 95 % confidence interval of the share of runs that violated the clause.",
            |trend| trend.broken.interval().1,
        ),
    ];
    for (name, help, value) in rows {
        let sample = |trend: &ClauseTrend<'_>| (vec![("clause", trend.clause.id())], value(trend));
        text.gauge(name, help, trends.iter().map(sample));
    }
    text.into_text()
}

/// What changed with the latest run, a line for each change, and the rate of each clause that is or was violated.
#[must_use]
pub fn history_text(records: &[RunRecord], changes: &[Change]) -> String {
    let mut text = String::new();
    for change in changes {
        let line = match change {
            Change::Verdict { from, to } => format!("the verdict was {from} and is {to}"),
            Change::Broken(clause) => format!("{clause} is violated, and was not before"),
            Change::Fixed(clause) => format!("{clause} is no longer violated"),
            Change::Suite { to } => format!("from this run on: {to}"),
        };
        text.push_str(&super::plain(&format!("{:>16} {line}", "changed")));
        text.push('\n');
    }
    for trend in trends(records).into_iter().filter(|trend| trend.broken.seen > 0) {
        let until = trend.accepted_until.map(|until| format!(", accepted until {until}")).unwrap_or_default();
        let line = format!("{}: violated in {}{until}", trend.clause, trend.broken);
        text.push_str(&super::plain(&format!("{:>16} {line}", "rate")));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(minute: u8, verdict: &str, broken: &[&str]) -> RunRecord {
        serde_json::from_value(serde_json::json!({
            "begun": format!("2026-01-01T00:{minute:02}:00Z"), "elapsed_ms": 5, "target": "https://a.invalid/",
            "suite": "suite <script>", "contract_sha256": "0", "verdict": verdict, "requests": 9, "gateways": 3,
            "judged": ["groups.order", "search.total", "clause.of-another-version"],
            "broken": broken.iter().map(|clause| ((*clause).to_owned(), 2)).collect::<std::collections::BTreeMap<_, _>>(),
        }))
        .expect("a record")
    }

    #[test]
    fn the_page_shows_each_clause_and_loads_nothing() {
        let records =
            [run(0, "conforms", &[]), run(1, "findings", &["groups.order"]), run(2, "<b>new</b>", &[])];
        let page =
            history_page("https://a.invalid/<script>", &records, 9, Some("until <noon>")).expect("a page");
        assert!(
            page.contains("violated in") && page.contains("1 of 3 runs, 95 % interval 6.1 % to 79.2 %"),
            "{page}"
        );
        assert!(page.contains("id=\"clause-groups.order\"") && page.contains("id=\"clause-search.total\""));
        assert!(page.contains("<dt>no extraction</dt><dd>until &lt;noon&gt;</dd>"), "{page}");
        assert!(!page.contains("<script>") && !page.contains("<b>new"), "text came through as markup");
        for loading in ["src=", "<link", "@import", "url(", "fetch("] {
            assert!(!page.contains(loading), "the page has {loading}");
        }
        assert!(history_page("x", &[], 0, None).expect("a page").contains("no run yet"));
        assert!(!page.contains("<h2>Reports"), "no report is kept");
        let kept = RunRecord { report: Some("report-1.json".to_owned()), ..records[1].clone() };
        let page = history_page("x", &[kept], 0, None).expect("a page");
        assert!(page.contains("groups.order</td><td><code>report-1.json</code>"), "{page}");
    }

    #[test]
    fn the_text_has_changes_and_rates() {
        let records = [run(0, "conforms", &[]), run(1, "findings", &["groups.order"])];
        let changes = crate::watch::changes(&records[..1], &records[1]);
        assert_eq!(
            history_text(&records, &changes),
            "         changed the verdict was conforms and is findings\n         \
             changed groups.order is violated, and was not before\n            \
             rate groups.order: violated in 1 of 2 runs, 95 % interval 9.5 % to 90.5 %\n"
        );
    }
}
