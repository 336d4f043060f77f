//! `conformance watch`: repeats runs, reports what changes, and serves the latest report and its metrics.

mod notify;
mod serve;

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use sallyport_conformance::config::{integer, time};
use sallyport_conformance::lab::{Proxy, ProxyOptions, Upstream};
use sallyport_conformance::report::{Format, plain, quantity};
use sallyport_conformance::run::Stopper;
use sallyport_conformance::watch::{Allowance, Changes, WatchFolder};
use sallyport_conformance::{Contract, Options, Report, Selection, SilentObserver, Suite, Target, Verdict};
use tokio::time::{MissedTickBehavior, interval};

use serve::Pages;

use super::arguments::{TargetArguments, loopback};
use super::output::print;
use super::run::with_target;
use super::setup::{AccountToken, Setup, select};
use super::signals::Signals;
use super::{UsageError, warn};

/// In seconds.
const WEEK: u64 = 7 * 24 * 60 * 60;

#[derive(Debug, Args)]
pub(crate) struct WatchArguments {
    #[command(flatten)]
    pub(crate) target: TargetArguments,
    /// Begin a run at this interval, for example 90s, 15m or 6h.
    #[arg(long, value_name = "TIME", default_value = "15m", value_parser = time(1, WEEK))]
    pub(crate) every: Duration,
    /// Keep what the next run is compared with, and reports of runs, in this folder, which one program at a time may use.
    #[arg(long, value_name = "FOLDER", default_value = "conformance-history")]
    pub(crate) history: PathBuf,
    /// Extract at most N gateways in any 24 hours, over all runs; once they are used up, runs skip extraction.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = integer::<u64>(0..=u64::MAX))]
    pub(crate) gateways_per_day: u64,
    /// Keep the latest N JSON reports of runs that did not pass, in the folder of the history, and remove older ones; 0 keeps none.
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = integer::<u16>(0..=1_000))]
    pub(crate) keep_reports: u16,
    /// Serve the page, /metrics and /healthz at this address of the loopback interface; port 0 chooses a free one.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9464", value_parser = loopback)]
    pub(crate) listen: SocketAddr,
    /// Run this program after each run with a change, without a shell and for at most 30 seconds, for example `./alert`. It reads
    /// the change as JSON from standard input: `new`, `fixed` and `unchanged` violated clauses, `verdict` and `verdict_before`.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) on_change: Option<PathBuf>,
    /// End after N runs, with the exit code of the last one [default: run until a signal].
    #[arg(long, value_name = "N", value_parser = integer::<NonZeroU32>(1..=u32::MAX.into()))]
    pub(crate) runs: Option<NonZeroU32>,
    #[command(flatten)]
    pub(crate) selection: Selection,
}

/// Runs until a signal, or for the requested number of runs. Then the verdict is that of the last run.
pub(crate) async fn run(arguments: WatchArguments) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let Setup { target, mut options, .. } = Setup::new(&arguments.target, AccountToken::Required)?;
    let is_embedded = target.is_none();
    select(&arguments.selection, &mut options)?;
    // Each run is one sample, so that an intermittent violation shows in the metrics.
    options.retries = Some(0);
    with_target(target, None, async |target| watch(contract, target, options, &arguments, is_embedded).await)
        .await
}

async fn watch(
    contract: &Contract,
    target: &Target,
    options: Options,
    arguments: &WatchArguments,
    is_embedded: bool,
) -> Result<Verdict, UsageError> {
    // The embedded server has a different port each time.
    let shown = match is_embedded {
        true => "the embedded server".to_owned(),
        false => target.redactor(&options.wire)?.redact(target.base().as_str()),
    };
    let folder = WatchFolder::open(&arguments.history, &shown)?;
    let pages = Pages::new(arguments.every, options.budget.wall);
    let address = arguments.listen;
    // A scraper and a browser need a few connections, and local readers that stall take none for long.
    let time = Duration::from_secs(10);
    let options_of_pages = ProxyOptions { address, connections: 32, time, ..ProxyOptions::default() };
    let listening = Proxy::start_with(Upstream::new(pages.clone()), options_of_pages).await;
    let server = listening.map_err(|error| format!("--listen {address}: {error}; choose another address"))?;
    print(&format!("{:>16} http://{}/, /metrics, /healthz\n", "serving", server.address()));

    let ending = Stopper::default();
    Signals::listen(ending.clone(), Signals::TIME, Verdict::Conforms)?;
    let mut watch = Watch { contract, target, options, arguments, folder, pages, ending, shown };
    watch.repeat().await
}

/// What the runs share.
struct Watch<'a> {
    contract: &'a Contract,
    target: &'a Target,
    options: Options,
    arguments: &'a WatchArguments,
    folder: WatchFolder,
    pages: Pages,
    ending: Stopper,
    /// The base URL without secrets.
    shown: String,
}

impl Watch<'_> {
    async fn repeat(&mut self) -> Result<Verdict, UsageError> {
        let mut ticks = interval(self.arguments.every);
        // After a run that takes longer than the interval, the next one starts at once; missed runs are not made up for.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut runs = 0_u32;
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.ending.stopped() => return Ok(Verdict::Conforms),
            }
            let begun = Timestamp::now();
            let Some(report) = self.run_once(begun).await? else { return Ok(Verdict::Conforms) };
            let changes = self.folder.add(&report, &self.shown, begun);
            print(&lines(&report, &changes));
            let most = usize::from(self.arguments.keep_reports);
            let mut is_kept = true;
            let kept = match report.verdict.exit_code() != 0 && most > 0 {
                true => {
                    let json = Format::Json.render(&report)?;
                    self.kept(self.folder.keep_report(begun, &json), &mut is_kept)
                }
                false => None,
            };
            self.kept(self.folder.prune_reports(most), &mut is_kept);
            if let Some(path) = &kept {
                print(&format!("{:>16} {}\n", "report", plain(&path.display().to_string())));
            }
            self.kept(self.folder.save(), &mut is_kept);
            self.pages.set(Format::Html.render(&report)?, Format::Prometheus.render(&report)?);
            if let Some(program) = self.arguments.on_change.as_ref().filter(|_| !changes.is_empty()) {
                tokio::select! {
                    () = notify::notify(program, &report, &changes, kept.as_deref()) => {}
                    () = self.ending.stopped() => {}
                }
            }
            runs += 1;
            if self.arguments.runs.is_some_and(|max| runs >= max.get()) {
                return Ok(if is_kept { report.verdict } else { report.verdict.if_not_written() });
            }
        }
    }

    /// Runs once, with the gateways that are left of the day. None when a signal ended it.
    async fn run_once(&mut self, begun: Timestamp) -> Result<Option<Report>, UsageError> {
        let mut options = self.options.clone();
        let (allowance, wanted) =
            (Allowance { per_day: self.arguments.gateways_per_day }, options.budget.gateways);
        options.budget.gateways = allowance.for_run(self.folder.extractions(), begun, wanted);
        let saved = self.saved(allowance, (begun, wanted), options.budget.gateways);
        // What a run took that is ended by force is not known: it counts as all that it was allowed.
        self.folder.note_extraction(begun, options.budget.gateways);
        self.kept(self.folder.save(), &mut true);
        let suite = Suite::new(self.contract, self.target, options)?;
        let stopper = suite.stopper.clone();
        let mut running = std::pin::pin!(suite.run(&SilentObserver));
        tokio::select! {
            report = &mut running => {
                if let Some(saved) = saved {
                    print(&format!("{:>16} {saved}\n", "no extraction"));
                }
                Ok(Some(report))
            }
            () = self.ending.stopped() => {
                stopper.stop("the run was interrupted");
                // Requests in flight end within a second. Of an interrupted run only what it took is kept.
                let gateways = running.await.usage.gateways;
                self.folder.note_extraction(begun, gateways);
                self.kept(self.folder.save(), &mut true);
                Ok(None)
            }
        }
    }

    /// Warns of what could not be kept. A full disk may be temporary; the next run tries again.
    fn kept<T>(&self, written: std::io::Result<T>, is_kept: &mut bool) -> Option<T> {
        written.inspect_err(|error| warn(&error.to_string())).inspect_err(|_| *is_kept = false).ok()
    }

    /// Why a run extracts fewer gateways than its profile allows, and so judges fewer clauses, and when that ends.
    fn saved(&self, allowance: Allowance, (now, wanted): (Timestamp, u64), allowed: u64) -> Option<String> {
        const LIMIT: &str = "--gateways-per-day";
        let Allowance { per_day } = allowance;
        if allowed == wanted {
            return None;
        }
        if allowed > 0 {
            return Some(format!("beyond {}: {LIMIT} {per_day}", quantity(allowed, "gateway")));
        }
        let next = allowance.next(self.folder.extractions(), now, wanted);
        let until = next.map(|at| format!("; the first run after {} extracts again", at.strftime("%FT%TZ")));
        let until = until.unwrap_or_default();
        Some(format!("in this run, which judges fewer clauses: {LIMIT} {per_day}{until}"))
    }
}

/// What a run came to, and a line for each change.
fn lines(report: &Report, changes: &Changes) -> String {
    let stopped = report.stopped.as_ref().map(|reason| format!("; {reason}")).unwrap_or_default();
    let run = format!(
        "{} {}; {}, {}, {:.1} s{stopped}",
        report.begun,
        report.conclusion,
        quantity(report.usage.requests, "request"),
        quantity(report.usage.gateways, "gateway"),
        report.elapsed_ms as f64 / 1000.0
    );
    let before = changes.verdict_before.iter();
    let verdict = before.map(|before| format!("the verdict was {before} and is {}", report.verdict.name()));
    let new = changes.new.iter().map(|clause| format!("{clause} is violated, and was not before"));
    let fixed = changes.fixed.iter().map(|clause| format!("{clause} is no longer violated"));
    let changed = verdict.chain(new).chain(fixed).map(|change| format!("{:>16} {change}\n", "changed"));
    format!("{}\n{}", plain(&run), changed.collect::<String>())
}
