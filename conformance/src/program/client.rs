//! `conformance client`.

use sallyport_conformance::client::{ClientCase, ClientCaseResult, ClientSuite, Duty, Expectation};
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::report::quantity;
use sallyport_conformance::run::{Glob, Stopper};
use sallyport_conformance::{Contract, Verdict};

use super::UsageError;
use super::arguments::ClientArguments;
use super::output::print;
use super::reports;
use super::setup;
use super::signals::Signals;

/// Tests a client, or lists the cases.
pub(crate) async fn client(arguments: ClientArguments) -> Result<Verdict, UsageError> {
    if arguments.list {
        return list(&arguments.only).await;
    }
    reports::open(&arguments.report)?;
    let output = reports::output_beside(&arguments.report);
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
    reports::write_rendered(&arguments.report, output, |format, writer| {
        writer.write_all(report.render(format)?.as_bytes())
    });
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

/// The ids that [`explained`] knows, each with a sentence.
pub(crate) fn known() -> impl Iterator<Item = (String, String)> {
    let duties = Duty::ALL.into_iter().map(|duty| (duty.id().to_owned(), duty.text().to_owned()));
    duties.chain(cases().into_iter().map(|case| (case.id, case.title)))
}

fn cases() -> Vec<ClientCase> {
    // Without the embedded server a search has no addresses, which no text shows.
    Contract::embedded()
        .map(|contract| sallyport_conformance::client::cases(contract, &[]))
        .unwrap_or_default()
}

/// The text of `conformance explain` for a duty of callers or a case of it; none for another id.
pub(crate) fn explained(id: &str) -> Option<String> {
    if let Some(case) = cases().into_iter().find(|case| case.id == id) {
        let passes = match case.expectation {
            Expectation::Result => "the result that the service sends",
            Expectation::Error => "an error",
            Expectation::Either => "the result that the service sends, or an error where the client gives up",
        };
        return Some(format!(
            "{id}\n  {}\n\nThe command is told\n  {}\n\nThe service\n{}\nA conforming client reports\n  {passes}\n\nIts duty\n  {}  {}\n",
            case.title,
            case.call.operation.name(),
            case.stage_text(),
            case.duty,
            case.duty.text()
        ));
    }
    let duty = Duty::from_id(id)?;
    let mut text = format!("{duty} (section {})\n\n  \u{201c}{}\u{201d}\n\n", duty.section(), duty.text());
    if let Some(from) = duty.inferred_from() {
        text.push_str(&format!("It is inferred from {from}\n\n"));
    }
    let cases = cases();
    let cases: Vec<_> = cases.iter().filter(|case| case.duty == duty).collect();
    text.push_str(&format!(
        "What goes wrong\n  {}\n\nA duty of callers: no response of a service shows it; `conformance client` judges it\n\n{}\n",
        duty.why(),
        quantity(cases.len(), "case")
    ));
    for case in cases {
        text.push_str(&format!("  {}  {}\n", case.id, case.title));
    }
    Some(text)
}
