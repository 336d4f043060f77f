//! `conformance watch`: repeats runs, keeps a history, and serves it as a page and metrics.

mod notify;
mod pages;
mod serve;

use std::sync::Arc;

use jiff::Timestamp;
use sallyport_conformance::report::{self, Format, history_page, history_text, plain, quantity};
use sallyport_conformance::run::Stopper;
use sallyport_conformance::watch::{Allowance, History, RunRecord, changes};
use sallyport_conformance::{Contract, Options, Report, SilentObserver, Suite, Target, Verdict, files};
use tokio::time::{MissedTickBehavior, interval};

use pages::Pages;
use serve::Server;

use super::arguments::WatchArguments;
use super::output::print;
use super::run::with_target;
use super::setup::{Setup, select};
use super::signals::Signals;
use super::{UsageError, warn};

/// The page that is written beside the history.
const PAGE: &str = "index.html";

/// Runs until a signal, or for the requested number of runs. Then the verdict is that of the last run.
pub(crate) async fn run(arguments: WatchArguments) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let Setup { target, mut options, .. } = Setup::new(&arguments.target)?;
    select(&arguments.selection, &mut options)?;
    // Each run is one sample, so that an intermittent violation shows in the rates.
    options.retries = 0;
    with_target(target, async |target| watch(contract, target, options, &arguments).await).await
}

async fn watch(
    contract: &Contract,
    target: &Target,
    options: Options,
    arguments: &WatchArguments,
) -> Result<Verdict, UsageError> {
    let mut history =
        History::open(&arguments.history, arguments.keep, arguments.keep_reports, Timestamp::now())?;
    let redactor = target.redactor(&options.wire)?;
    let shown = redactor.redact(target.base().as_str());
    // The embedded server has a different port each time.
    if arguments.target.base_url.is_some() || arguments.target.config.is_some() {
        history.expect_target(&shown)?;
    }
    if history.skipped() > 0 {
        let lines = quantity(history.skipped() as u64, "line");
        warn(&format!("{}: left out {lines} of the history that cannot be read", history.folder().display()));
    }
    let pages = Arc::new(Pages::new(arguments.every, options.budget.wall));
    let server = Server::start(arguments.listen, Arc::clone(&pages)).await?;
    print(&format!("{:>16} http://{}/, /metrics, /healthz\n", "serving", server.address()));
    publish(&pages, &history, &shown, None)?;

    let ending = Stopper::default();
    Signals::listen(ending.clone(), Signals::TIME, Verdict::Conforms)?;
    let looped = repeat(contract, target, &options, arguments, &mut history, &pages, &ending, &shown).await;
    server.end().await;
    looped
}

#[expect(clippy::too_many_arguments, reason = "what one loop needs, each of it once")]
async fn repeat(
    contract: &Contract,
    target: &Target,
    options: &Options,
    arguments: &WatchArguments,
    history: &mut History,
    pages: &Pages,
    ending: &Stopper,
    shown: &str,
) -> Result<Verdict, UsageError> {
    let allowance = Allowance { per_day: arguments.gateways_per_day };
    let mut ticks = interval(arguments.every);
    // After a run that takes longer than the interval, the next one starts at once; missed runs are not made up for.
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut runs = 0_u32;
    loop {
        tokio::select! {
            _ = ticks.tick() => {}
            () = ending.stopped() => return Ok(Verdict::Conforms),
        }
        let mut options = options.clone();
        let (now, wanted) = (Timestamp::now(), options.budget.gateways);
        options.budget.gateways = allowance.for_run(history.records(), now, wanted);
        let saved = saved(allowance, history, (now, wanted), options.budget.gateways);
        let suite = Suite::new(contract, target, options)?;
        let stopper = suite.stopper();
        let report = {
            let mut running = std::pin::pin!(suite.run(&SilentObserver));
            tokio::select! {
                report = &mut running => report,
                () = ending.stopped() => {
                    stopper.stop("the run was interrupted");
                    // Requests in flight end within a second. An interrupted run is discarded.
                    running.await;
                    return Ok(Verdict::Conforms);
                }
            }
        };
        let Some(mut record) = RunRecord::new(&report) else {
            return Err("the report has no time; this is a bug of the suite".into());
        };
        record.target = shown.to_owned();
        let changes = changes(history.records(), &record);
        print(&line(&record, &report));
        if let Some(saved) = &saved {
            print(&format!("{:>16} {saved}\n", "no extraction"));
        }
        let mut kept = true;
        if report.verdict.exit_code() != 0 {
            kept &= keep_report(history, &mut record, &report)?;
        }
        kept &= is_kept(history.add(record.clone()));
        print(&history_text(history.records(), &changes));
        kept &= is_kept(publish(pages, history, shown, Some((&report, saved.as_deref()))));
        if let Some(program) = arguments.on_change.as_ref().filter(|_| !changes.is_empty()) {
            tokio::select! {
                () = notify::notify(program, &record, &changes, history.folder()) => {}
                () = ending.stopped() => {}
            }
        }
        runs += 1;
        if arguments.runs.is_some_and(|max| runs >= max.get()) {
            return Ok(if kept { report.verdict } else { report.verdict.if_not_written() });
        }
    }
}

/// Warns of what could not be kept. A full disk may be temporary; the next run tries again.
fn is_kept<E: std::fmt::Display>(kept: Result<(), E>) -> bool {
    kept.inspect_err(|error| warn(&error.to_string())).is_ok()
}

/// Keeps the report of a run that did not conform, and prints its path. Returns whether it is kept.
fn keep_report(history: &mut History, record: &mut RunRecord, report: &Report) -> Result<bool, UsageError> {
    let json = Format::Json.render(report)?;
    let is_kept = is_kept(history.keep_report(record, &json));
    if let Some(name) = &record.report {
        let path = history.folder().join(name).display().to_string();
        print(&format!("{:>16} {}\n", "report", plain(&path)));
    }
    Ok(is_kept)
}

/// Renders page and metrics, for the folder and for requests over HTTP.
fn publish(
    pages: &Pages,
    history: &History,
    target: &str,
    latest: Option<(&Report, Option<&str>)>,
) -> Result<(), UsageError> {
    let records = history.records();
    let gateways = gateways_today(records);
    let (report, saved) = latest.unzip();
    let page = history_page(target, records, gateways, saved.flatten())?;
    let file = history.folder().join(PAGE);
    let written = files::replace(&file, |beside| beside.write_all(page.as_bytes()));
    let written = written.map_err(|error| format!("{}: {error}", file.display()));
    let mut metrics = report.map(|report| Format::Prometheus.render(report)).transpose()?.unwrap_or_default();
    metrics.push_str(&report::history_metrics(records, gateways));
    pages.set(page, metrics, report.is_some());
    Ok(written?)
}

/// Why a run extracts fewer gateways than its profile allows, and so judges fewer clauses, and when that ends.
fn saved(
    allowance: Allowance,
    history: &History,
    (now, wanted): (Timestamp, u64),
    allowed: u64,
) -> Option<String> {
    const LIMIT: &str = "--gateways-per-day";
    let Allowance { per_day } = allowance;
    if allowed == wanted {
        return None;
    }
    if allowed > 0 {
        return Some(format!("beyond {}: {LIMIT} {per_day}", quantity(allowed, "gateway")));
    }
    let next = allowance.next(history.records(), now, wanted);
    let until = next.map(|next| format!("; the first run after {} extracts again", next.strftime("%FT%TZ")));
    Some(format!("in this run, which judges fewer clauses: {LIMIT} {per_day}{}", until.unwrap_or_default()))
}

fn gateways_today(records: &[RunRecord]) -> u64 {
    const DAY: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);
    let now = Timestamp::now();
    let today = records.iter().filter(|record| now.duration_since(record.begun) < DAY);
    today.map(|record| record.gateways).fold(0, u64::saturating_add)
}

fn line(record: &RunRecord, report: &Report) -> String {
    let stopped = report.stopped.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
    let text = format!(
        "{} {}; {}, {}, {:.1} s{stopped}",
        record.begun,
        record.words(),
        quantity(record.requests, "request"),
        quantity(record.gateways, "gateway"),
        record.elapsed_ms as f64 / 1000.0
    );
    format!("{}\n", plain(&text))
}
