use std::fs::File;
use std::path::PathBuf;

use clap::Args;
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::config::integer;
use sallyport_conformance::observe::{Archive, Traffic, observe};
use sallyport_conformance::report::{self, Detail, Format, plain, quantity};
use sallyport_conformance::run::Stopper;
use sallyport_conformance::{Contract, Report, Verdict};

use super::UsageError;
use super::arguments::inferred;
use super::reports::{ReportRequest, Reports};
use super::signals::Signals;

#[derive(Debug, Args)]
pub(crate) struct ObserveArguments {
    /// HTTP Archive (HAR), as browsers, proxies and `--report har=FILE` write it.
    pub(crate) file: PathBuf,
    /// Judge the calls to the service at this URL [default: the only one that the file has calls to].
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Read at most N bytes.
    #[arg(long, value_name = "N", default_value_t = Archive::MAX_BYTES, value_parser = integer::<u64>(1..=u64::MAX))]
    pub(crate) max_bytes: u64,
    /// Also write reports, as `run` does, in any format but har.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',', value_parser = ReportRequest::one_of(&Format::ALL))]
    pub(crate) report: Vec<ReportRequest>,
    /// Report findings on clauses that are inferred, not stated, as warnings (warn) or failures (fail) [default: fail].
    #[arg(long, value_name = "LEVEL", value_parser = inferred())]
    pub(crate) inferred: Option<InferredClauses>,
    /// Treat warnings as failures (exit code 1).
    #[arg(long)]
    pub(crate) fail_on_warning: bool,
    /// Also print all findings of a check, and the clauses that the traffic does not show.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// `conformance observe`. Nothing is sent.
pub(crate) fn run(arguments: &ObserveArguments) -> Result<Verdict, UsageError> {
    if arguments.report.iter().any(|request| request.format == Format::Har) {
        return Err(
            "--report har=FILE: expected another format, since the exchanges stand in the file that is read"
                .into(),
        );
    }
    // A signal leaves no report that is half written.
    let signals = Signals::listen(Stopper::default(), Signals::TIME, Verdict::Incomplete)?;
    let contract = Contract::embedded()?;
    let wrong = |error: String| format!("{}: {error}", arguments.file.display());
    let file = File::open(&arguments.file).map_err(|error| wrong(error.to_string()))?;
    let archive = Archive::read(file, arguments.max_bytes).map_err(wrong)?;
    let traffic = Traffic::from_archive(contract, archive, arguments.base_url.as_deref()).map_err(wrong)?;
    let reports = Reports::open(&arguments.report)?;
    let output = reports.output;
    let mut report = observe(contract, &traffic, arguments.inferred.unwrap_or_default());
    if arguments.fail_on_warning && report.totals.warned > 0 {
        report.conclude(Verdict::Findings);
    }

    signals.only_write(report.verdict);
    let detail = if arguments.verbose { Detail::Verbose } else { Detail::Normal };
    let screen = output.screen(detail);
    let mut text = report::failures(&report, &screen);
    text.push_str(&summary(&traffic, &report, arguments.verbose));
    text.push_str(&report::summary(&report, &screen));
    let resume = reports.without_commands();
    output.print(&text);
    output.print(&resume);
    reports.write(&report);
    Ok(report.verdict)
}

fn summary(traffic: &Traffic, report: &Report, is_verbose: bool) -> String {
    let exchanges = quantity(traffic.judged(), "exchange");
    let entries = quantity(traffic.entries, "entry");
    let mut text = format!("\n{:>16} {exchanges} of {entries}\n", "judged");
    for (reason, entries) in &traffic.left_out {
        text.push_str(&format!("{:>16} {entries}: {}\n", "left out", plain(reason)));
    }
    for (label, is_judged) in [("seen", true), ("not seen", false)] {
        let clauses = report.clauses.iter().filter(|clause| (clause.checked > 0) == is_judged);
        for clause in clauses.filter(|_| is_judged || is_verbose) {
            text.push_str(&format!("{label:>16} {}\n", plain(clause.id.id())));
        }
    }
    text
}
