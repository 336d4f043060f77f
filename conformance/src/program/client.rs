//! `conformance client`.

use sallyport_conformance::client::{ClientCaseResult, ClientSuite};
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::run::{Glob, Stopper};
use sallyport_conformance::{Contract, Verdict};

use super::UsageError;
use super::arguments::ClientArguments;
use super::output::print;
use super::reports::Reports;
use super::setup;
use super::signals::Signals;

pub(crate) async fn client(arguments: ClientArguments) -> Result<Verdict, UsageError> {
    if arguments.list {
        return list(&arguments.only).await;
    }
    let reports = Reports::open(&arguments.report)?;
    let output = reports.output;
    let suite = ClientSuite {
        only: arguments.only,
        concurrency: arguments.concurrency.get().into(),
        inferred: arguments.inferred.unwrap_or_default(),
        secrets: setup::secrets_of_environment(),
        ..ClientSuite::new(arguments.command)
    };
    let is_quiet = arguments.quiet;
    let stopper = Stopper::default();
    let signals = Signals::listen(stopper.clone(), Signals::TIME_WITH_REPORTS, Verdict::Incomplete)?;
    let finished = |result: &ClientCaseResult| {
        if !is_quiet {
            output.print(&result.line());
        }
    };
    let report = suite.run_until(stopper.stopped(), finished).await?;
    signals.only_write(report.verdict);
    output.print(&report.text());
    reports.write_rendered(|format, writer| writer.write_all(report.render(format)?.as_bytes()));
    Ok(report.verdict)
}

async fn list(only: &[Glob]) -> Result<Verdict, UsageError> {
    // Which addresses a search asks for is known to the embedded server alone.
    let reference = Reference::start().await?;
    let mut suite = ClientSuite::new(Vec::new());
    suite.only = only.to_vec();
    let cases = suite.cases(Contract::embedded()?, &reference.target().facts.own_addresses);
    reference.close().await;
    let cases = cases?;
    print(&cases.iter().map(|case| format!("{}  {}\n", case.id, case.title)).collect::<String>());
    Ok(Verdict::Conforms)
}
