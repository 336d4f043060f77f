//! The protocol, the reports, and commands that do not keep to either.

use std::ffi::OsString;

use libtest_mimic::{Failed, Trial};
use sallyport_conformance::Outcome;
use sallyport_conformance::Verdict;
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::client::{ClientCaseResult, ClientReport, ClientSuite};
use sallyport_conformance::report::Format;

use crate::{formats, run, run_weighed, this};

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("an operation that is not supported is skipped", skipped),
        Trial::test("a command that breaks the protocol has no verdict", broken),
        Trial::test("a crash after a request is a finding", crashed),
        Trial::test("a command that does not start is an error of usage", missing),
        Trial::test("a command that outlives its time is killed with its children", killed),
        Trial::test("a command that starts slowly or leaves a child is judged by its requests", slow),
        Trial::test("a command that writes without end is stopped", endless),
        Trial::test("a run that is interrupted keeps what it has", interrupted),
        Trial::test("a failure shows what the command was told and what it wrote", shown),
        Trial::test("what is inferred can be a warning", inferred),
        Trial::test("a mistake of many cases is counted once", folded),
        Trial::test("cases that pass by giving up are counted", gave_up),
        Trial::test("no report shows the token", secret),
    ]
}

fn shell(script: &str) -> Vec<OsString> {
    ["sh", "-c", script].map(OsString::from).to_vec()
}

fn ensure(holds: bool, report: &ClientReport) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(Failed::from(format!("{:?}\n{}", report.verdict, report.text()))) }
}

fn skipped() -> Result<(), Failed> {
    let report =
        run(shell("cat >/dev/null; exit 64"), &["client.limited-retries.*", "client.text-entries.*"])?;
    let has_findings = report.cases.iter().any(|case| !case.findings.is_empty());
    let is_skipped = report.totals.skipped == report.cases.len() && !has_findings;
    ensure(is_skipped && report.verdict == Verdict::Incomplete, &report)
}

/// Only findings on what the contract presupposes become warnings.
fn inferred() -> Result<(), Failed> {
    let only = ["client.tolerant.long-ids", "client.text-entries.lb-2"];
    let narrow = |inferred| run_weighed(this("has ids of 32 bits"), &only, inferred);
    let report = narrow(InferredClauses::Fail)?;
    ensure(report.verdict == Verdict::Findings && report.totals.failed == 1, &report)?;
    let report = narrow(InferredClauses::Warn)?;
    let totals = report.totals;
    ensure(report.verdict == Verdict::Conforms && (totals.warned, totals.passed) == (1, 1), &report)?;
    ensure(report.text().contains("1 passed, 1 with a warning"), &report)?;
    let junit = report.render(Format::Junit)?;
    ensure(junit.contains("client.tolerant.long-ids") && !junit.contains("<failure"), &report)?;
    let stated = ["client.both-codes.extract-success"];
    let stated = run_weighed(this("takes one"), &stated, InferredClauses::Warn)?;
    ensure(stated.verdict == Verdict::Findings && stated.totals.failed == 1, &stated)
}

/// What a plain call shows is no answer to the situations of other cases, and their duties are not violated by it.
fn folded() -> Result<(), Failed> {
    let only = [
        "client.both-codes.extract-success",
        "client.wait-throttled.extract-seconds",
        "client.tolerant.times.*",
    ];
    let report = run(this("takes more"), &only)?;
    let text = report.text();
    let same: Vec<_> =
        report.cases.iter().flat_map(|case| &case.findings).map(|it| it.same_as.as_deref()).collect();
    ensure(
        same.first() == Some(&None) && same.contains(&Some("client.both-codes.extract-success")),
        &report,
    )?;
    ensure(text.contains("1 duty violated: client.both-codes (") && text.contains("the same in"), &report)?;
    // The same text under another duty is another mistake.
    let only = [
        "client.wait-throttled.groups-seconds",
        "client.wait-throttled.search-*",
        "client.wait-shortage.status-*",
    ];
    let report = run(this("never waits"), &only)?;
    let words = "2 duties violated: client.wait-throttled, client.wait-shortage";
    ensure(report.text().contains(words), &report)?;
    // A command that cannot do anything says so once.
    let report = run(shell("echo no JSON"), &["client.both-codes.*"])?;
    ensure(report.text().matches("standard output is not one JSON object").count() == 1, &report)
}

fn gave_up() -> Result<(), Failed> {
    let failed = r#"cat >/dev/null; echo '{"error": {"class": "x", "message": "x"}}'"#;
    let report = run(shell(failed), &["client.paging.interrupted", "client.limited-retries.groups-500"])?;
    ensure(
        report.text().contains("2 passed (1 by giving up)")
            && report.cases.iter().filter(|case| case.gave_up).count() == 1,
        &report,
    )
}

fn broken() -> Result<(), Failed> {
    // Interpreters end with 1 when a program crashes.
    for script in
        ["cat >/dev/null; exit 7", "echo no JSON", "cat", "kill -9 $$", "exit 1", "echo '{}'; exit 1"]
    {
        let report = run(shell(script), &["client.limited-retries.groups-500"])?;
        let is_error = matches!(report.cases[0].outcome, Outcome::Error(_));
        ensure(report.verdict == Verdict::Incomplete && is_error, &report)?;
    }
    // A client may end with 1 as well as say that the call failed.
    let failed = r#"cat >/dev/null; echo '{"error": {"class": "x", "message": "x"}}'; exit 1"#;
    let report = run(shell(failed), &["client.limited-retries.groups-500"])?;
    ensure(report.verdict == Verdict::Conforms, &report)
}

/// What a response is like is open, so that a crash of the client says nothing of the duty that the case is about.
fn crashed() -> Result<(), Failed> {
    let crash = |inferred| run_weighed(this("dies of pages"), &["client.token-private.no-json"], inferred);
    let report = crash(InferredClauses::Fail)?;
    let finding = report.cases[0].findings.first();
    let is_named =
        finding.is_some_and(|it| it.duty.id() == "client.tolerant" && it.actual.contains("a crash"));
    ensure(report.verdict == Verdict::Findings && report.totals.failed == 1 && is_named, &report)?;
    let report = crash(InferredClauses::Warn)?;
    ensure(report.verdict == Verdict::Conforms && report.totals.warned == 1, &report)
}

/// An interpreter or a container starts slowly, and a program may leave something running that holds its output open.
fn slow() -> Result<(), Failed> {
    let start = |script: &str| {
        let ours = this("ours").into_iter();
        shell(script).into_iter().chain(ours).collect::<Vec<_>>()
    };
    let report = run(start("sleep 5; exec \"$0\" \"$@\""), &["client.time-limit.silence"])?;
    ensure(report.verdict == Verdict::Conforms, &report)?;
    let report = run(start("\"$0\" \"$@\"; sleep 60 &"), &["client.both-codes.groups-success"])?;
    ensure(report.verdict == Verdict::Conforms && report.cases[0].elapsed_ms < 10_000, &report)
}

fn missing() -> Result<(), Failed> {
    // It ends before it has sent anything, whatever the case asks for.
    let report = run(shell("exit 2"), &["client.both-codes.*"])?;
    let all_errors = report.cases.iter().all(|case| matches!(case.outcome, Outcome::Error(_)));
    ensure(report.verdict == Verdict::Incomplete && all_errors, &report)?;
    ensure(report.text().contains("in none of them did the command send"), &report)?;
    let command = vec![OsString::from("/no/such/program")];
    match run(command, &["client.limited-retries.groups-500"]) {
        Err(_) => Ok(()),
        Ok(report) => ensure(false, &report),
    }
}

fn killed() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("alive");
    // A child of the command that would write this file after the run.
    let script = format!("(sleep 16; touch '{}') & sleep 60", file.display());
    let report = run(shell(&script), &["client.time-limit.silence"])?;
    let is_named = matches!(&report.cases[0].outcome, Outcome::Error(reason) if reason.contains("before its first request"));
    ensure(is_named, &report)?;
    std::thread::sleep(std::time::Duration::from_secs(5));
    ensure(!file.exists(), &report)
}

fn endless() -> Result<(), Failed> {
    let report = run(shell("cat >/dev/null; yes"), &["client.paging.several-pages"])?;
    let case = &report.cases[0];
    let is_named = matches!(&case.outcome, Outcome::Error(reason) if reason.contains("1 MiB"));
    ensure(is_named && case.findings.is_empty() && case.elapsed_ms < 10_000, &report)
}

fn interrupted() -> Result<(), Failed> {
    let script = "case \"$(cat)\" in *'\"num\":3'*) sleep 60;; esac; echo '{\"groups\": []}'";
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let suite = ClientSuite { concurrency: 1, ..ClientSuite::new(shell(script)) };
    let stopped = async { tokio::time::sleep(std::time::Duration::from_secs(2)).await };
    let report = runtime.block_on(suite.run_until(stopped, |_| {}))?;
    let is_interrupted = |case: &&ClientCaseResult| matches!(&case.outcome, Outcome::Error(reason) if reason.contains("interrupted"));
    let count = report.cases.iter().filter(is_interrupted).count();
    ensure(count > 100 && count == report.totals.errors && report.verdict != Verdict::Conforms, &report)
}

fn shown() -> Result<(), Failed> {
    let script =
        r#"cat >/dev/null; printf 'first\nsecond' >&2; echo '{"error": {"class": "odd", "message": "x"}}'"#;
    let report = run(shell(script), &["client.both-codes.extract-success"])?;
    let text = report.text();
    for expected in [r#""operation":"extract""#, "exit code 0", r#""class": "odd""#, "standard error first\n"]
    {
        ensure(text.contains(expected), &report)?;
    }
    ensure(report.render(Format::Json)?.contains("\"standard_output\""), &report)
}

/// The token of this run is the one that a client logs; no report may show it.
fn secret() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("token");
    let script = format!(
        "cat >/dev/null; printf %s \"$SALLYPORT_API_KEY\" > '{}'; echo \"$SALLYPORT_API_KEY\" >&2; \
         echo '{{\"error\": {{\"class\": \"x\", \"message\": \"x\"}}}}'",
        file.display()
    );
    let report = run(shell(&script), &["client.limited-retries.groups-500"])?;
    ensure(report.verdict == Verdict::Findings, &report)?;
    forms(&report)?;
    let token = std::fs::read_to_string(&file)?;
    let rendered = Format::OF_CLIENTS.map(|format| report.render(format));
    for text in rendered.into_iter().chain([Ok(report.text()), Ok(format!("{report:?}"))]) {
        ensure(token.len() > 8 && !text?.contains(&token), &report)?;
    }
    // A bad client whose log has the whole URL.
    let report = run(this("logs URLs"), &["client.token-private.unreachable"])?;
    ensure(report.cases[0].standard_error.is_none() && report.verdict == Verdict::Findings, &report)
}

/// Reports show each finding with its case and its duty.
fn forms(report: &ClientReport) -> Result<(), Failed> {
    let case = &report.cases[0];
    let junit = report.render(Format::Junit)?;
    for text in [report.text(), junit.clone()] {
        ensure(text.contains(&case.id) && text.contains(case.findings[0].duty.id()), report)?;
    }
    formats::wrong_junit(&junit).map_or(Ok(()), |wrong| Err(Failed::from(wrong)))
}
