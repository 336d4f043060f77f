use std::fs::File;

use sallyport_conformance::contract::Clause;
use sallyport_conformance::observe::{Archive, LeftOut, Traffic, observe};
use sallyport_conformance::report::{self, Detail, Format, plain, quantity};
use sallyport_conformance::run::Stopper;
use sallyport_conformance::{Contract, Report, Verdict};

use super::UsageError;
use super::arguments::ObserveArguments;
use super::reports::{self, CommandGuard};
use super::signals::Signals;

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
    let path = arguments.file.display();
    let wrong = |error: &dyn std::fmt::Display| UsageError::from(format!("{path}: {error}"));
    let file = File::open(&arguments.file).map_err(|error| wrong(&error))?;
    let archive = Archive::read(file, arguments.max_bytes).map_err(|error| wrong(&error))?;
    let traffic = Traffic::from_archive(contract, archive, arguments.base_url.as_deref())
        .map_err(|error| wrong(&error))?;
    reports::open(&arguments.report)?;
    let inferred = arguments.inferred.unwrap_or_default();
    let mut report = observe(contract, &traffic, inferred);
    if arguments.fail_on_warning && report.totals.warned > 0 {
        report.conclude(Verdict::Findings);
    }

    signals.only_write(report.verdict);
    let output = reports::output_beside(&arguments.report);
    let detail = if arguments.verbose { Detail::Verbose } else { Detail::Normal };
    let screen = output.screen(detail);
    let mut text = report::failures(&report, &screen);
    text.push_str(&summary(&traffic, &report, arguments.verbose));
    text.push_str(&report::summary(&report, &screen));
    let guard = CommandGuard::new(&arguments.report, output);
    output.print(&text);
    guard.end(output);
    reports::write(&arguments.report, &report, output);
    Ok(report.verdict)
}

/// What was read, and the clauses that it shows.
fn summary(traffic: &Traffic, report: &Report, is_verbose: bool) -> String {
    let exchanges = quantity(traffic.judged(), "exchange");
    let entries = quantity(traffic.entries(), "entry");
    let mut text = format!("\n{:>16} {exchanges} of {entries}\n", "judged");
    for LeftOut { reason, entries } in traffic.left_out() {
        text.push_str(&format!("{:>16} {entries}: {}\n", "left out", plain(reason)));
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
