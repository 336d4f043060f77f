use std::fs::File;
use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::observe::{Archive, LeftOut, Traffic, observe};
use sallyport_conformance::report::{self, Detail, Format, plain, quantity};
use sallyport_conformance::{Contract, Report, Verdict};

use super::UsageError;
use super::reports::{self, CommandGuard, ReportRequest};
use super::run::Reader;

#[derive(Debug, Args)]
pub(crate) struct ObserveArguments {
    /// HTTP Archive (HAR), as browsers, proxies and `--report har=FILE` write it.
    pub(crate) file: PathBuf,
    /// Judge the calls to the service at this URL [default: the only one that the file has calls to].
    #[arg(long, value_name = "URL")]
    pub(crate) base_url: Option<String>,
    /// Read at most N bytes.
    #[arg(long, value_name = "N", default_value_t = Archive::MAX_BYTES)]
    pub(crate) max_bytes: u64,
    /// Also write reports, as `run` does, in any format but har.
    #[arg(long, value_name = "FORMAT=FILE", value_delimiter = ',')]
    pub(crate) report: Vec<ReportRequest>,
    /// Report findings on clauses that are inferred, not stated, as warnings (warn) or failures (fail) [default: fail].
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(InferredClauses::NAMES))]
    pub(crate) inferred: Option<String>,
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
    let contract = Contract::embedded()?;
    let path = arguments.file.display();
    let wrong = |error: &dyn std::fmt::Display| UsageError::from(format!("{path}: {error}"));
    let file = File::open(&arguments.file).map_err(|error| wrong(&error))?;
    let archive = Archive::read(file, arguments.max_bytes).map_err(|error| wrong(&error))?;
    let traffic = Traffic::from_archive(contract, &archive, arguments.base_url.as_deref())
        .map_err(|error| wrong(&error))?;
    // The archive is as long as the file, and all that is judged of it was copied.
    drop(archive);
    reports::open(&arguments.report)?;
    let inferred = arguments.inferred.as_deref().and_then(InferredClauses::named).unwrap_or_default();
    let mut report = observe(contract, &traffic, inferred);
    if arguments.fail_on_warning && report.totals.warned > 0 {
        report.verdict = Verdict::Findings;
    }

    let is_stdout = arguments.report.iter().any(ReportRequest::is_stdout);
    let reader = if is_stdout { Reader::Stderr } else { Reader::Stdout };
    let detail = if arguments.verbose { Detail::Verbose } else { Detail::Normal };
    let screen = reader.screen(detail);
    let mut text = report::failures(&report, &screen);
    text.push_str(&summary(&traffic, &report, arguments.verbose));
    text.push_str(&report::summary(&report, &screen));
    let mut writer = reader.writer();
    let guard = CommandGuard::new(&arguments.report, &mut writer);
    // A closed pipe is not an error.
    let _ = writer.write_all(text.as_bytes());
    guard.end(&mut writer);
    reports::write(&arguments.report, &report, &mut writer)?;
    Ok(report.verdict)
}

/// What was read, and the clauses that it shows.
fn summary(traffic: &Traffic, report: &Report, is_verbose: bool) -> String {
    let exchanges = quantity(traffic.judged() as u64, "exchange");
    let entries = if traffic.entries() == 1 { "entry" } else { "entries" };
    let mut text = format!("\n{:>16} {exchanges} of {} {entries}\n", "judged", traffic.entries());
    for LeftOut { reason, entries } in traffic.left_out() {
        text.push_str(&format!("{:>16} {entries}: {reason}\n", "left out"));
    }
    let clauses = |is_judged: bool| -> Vec<Clause> {
        let of = report.clauses.iter().filter(|clause| (clause.checked > 0) == is_judged);
        of.map(|clause| clause.id).collect()
    };
    text.push_str(&listed("seen", &clauses(true)));
    if is_verbose {
        text.push_str(&listed("not seen", &clauses(false)));
    }
    text
}

fn listed(label: &str, clauses: &[Clause]) -> String {
    clauses.iter().map(|clause| format!("{label:>16} {}\n", plain(clause.id()))).collect()
}
