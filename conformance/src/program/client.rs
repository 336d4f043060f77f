//! `conformance client`.

use sallyport_conformance::client::{ClientReport, ClientSuite, Duty};
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::report::quantity;
use sallyport_conformance::run::Glob;
use sallyport_conformance::{Contract, Verdict};

use super::UsageError;
use super::arguments::ClientArguments;
use super::reports::{self, ReportRequest};
use super::run::{Reader, print};
use super::signals::interrupted;

/// Tests a client, or lists the cases.
pub(crate) async fn client(arguments: ClientArguments) -> Result<Verdict, UsageError> {
    if arguments.list {
        return list(&arguments.only).await;
    }
    for request in &arguments.report {
        if !ClientReport::FORMATS.contains(&request.format) {
            let known = ClientReport::FORMATS.map(|format| format!("{}=FILE", format.name())).join(", ");
            return Err(format!("--report: expected {known}, found {}", request.format.name()).into());
        }
    }
    reports::open(&arguments.report)?;
    let reader =
        if arguments.report.iter().any(ReportRequest::is_stdout) { Reader::Stderr } else { Reader::Stdout };
    let suite = ClientSuite {
        only: arguments.only,
        concurrency: arguments.concurrency.get().into(),
        ..ClientSuite::new(arguments.command)
    };
    let is_quiet = arguments.quiet;
    let running = suite.run(|result| {
        if !is_quiet {
            reader.write(&result.line());
        }
    });
    // Commands that are still running are killed when they are dropped.
    let report = tokio::select! {
        report = running => report?,
        _ = interrupted() => {
            reader.write("interrupted: no verdict\n");
            return Ok(Verdict::Incomplete);
        }
    };
    reader.write(&report.text());
    reports::write_rendered(&arguments.report, &mut reader.writer(), |format| Ok(report.render(format)?))?;
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

/// The text of `conformance explain` for a duty of callers; none for another id.
pub(crate) fn explained(id: &str) -> Option<String> {
    let duty = Duty::from_id(id)?;
    let mut text = format!("{duty} (section {})\n\n  \u{201c}{}\u{201d}\n\n", duty.section(), duty.text());
    if let Some(from) = duty.inferred_from() {
        text.push_str(&format!("It is inferred from {from}\n\n"));
    }
    let cases = Contract::embedded()
        .map(|contract| sallyport_conformance::client::cases(contract, &[]))
        .unwrap_or_default();
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
