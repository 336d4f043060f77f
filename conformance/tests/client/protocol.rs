//! The protocol, the reports, and commands that do not keep to either: `protocol.txt`, and below what it does not say.

use std::ffi::OsString;

use libtest_mimic::{Failed, Trial};
use sallyport_conformance::Outcome;
use sallyport_conformance::Verdict;
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::client::{ClientCaseResult, ClientReport, ClientSuite};
use sallyport_conformance::report::Format;

use crate::{formats, run, run_weighed, this};

pub fn trials() -> Vec<Trial> {
    let scripts = include_str!("protocol.txt").split("\n## ").skip(1);
    let scripts = scripts.filter_map(|script| script.split_once('\n'));
    let scripts = scripts.map(|(title, rows)| Trial::test(title, || played(rows)));
    let others = [
        Trial::test("a command that does not start is an error of usage", missing),
        Trial::test("a command that outlives its time is killed with its children", killed),
        Trial::test("a run that is interrupted keeps what it has", interrupted),
        Trial::test("no report shows the token", secret),
    ];
    scripts.chain(others).collect()
}

/// Runs the commands of a script, each with the cases of the next indented line.
fn played(rows: &'static str) -> Result<(), Failed> {
    let mut commands = Vec::new();
    for row in rows.lines().filter(|row| !row.is_empty() && !row.starts_with("# ")) {
        let Some(row) = row.strip_prefix("    ") else {
            commands.push(row);
            continue;
        };
        let (cases, expected) = row.split_once(" => ").expect("cases, and what comes of them");
        let cases: Vec<String> = cases.split(' ').map(|case| format!("client.{case}")).collect();
        let cases: Vec<&str> = cases.iter().map(String::as_str).collect();
        for command in std::mem::take(&mut commands) {
            let warns = command.strip_prefix("warn ");
            let command = match warns.unwrap_or(command).split_once(' ') {
                Some(("sh", script)) => shell(script),
                // The script starts our client.
                Some(("start", script)) => shell(script).into_iter().chain(this("ours")).collect(),
                _ => this(warns.unwrap_or(command)),
            };
            let inferred = if warns.is_some() { InferredClauses::Warn } else { InferredClauses::Fail };
            expect(&run_weighed(command, &cases, inferred)?, expected)?;
        }
    }
    Ok(())
}

/// A verdict (`?` for any) and texts of the reports, of which one behind `!` must not be there, and one behind `1*` is there once for people.
fn expect(report: &ClientReport, expected: &str) -> Result<(), Failed> {
    let (verdict, texts) = expected.split_once(" | ").unwrap_or((expected, ""));
    ensure(verdict == "?" || verdict == format!("{:?}", report.verdict), report)?;
    let all = [report.text(), report.render(Format::Json)?, report.render(Format::Junit)?].concat();
    for text in texts.split(" | ").filter(|text| !text.is_empty()) {
        let text = text.replace("\\n", "\n");
        let holds = match (text.strip_prefix('!'), text.strip_prefix("1*")) {
            _ if text == "under 10 s" => report.cases[0].elapsed_ms < 10_000,
            (Some(absent), _) => !all.contains(absent),
            (None, Some(once)) => report.text().matches(once).count() == 1,
            (None, None) => all.contains(&text),
        };
        ensure(holds, report)
            .map_err(|failed| Failed::from(format!("{text:?}: {}", failed.message().unwrap_or_default())))?;
    }
    Ok(())
}

fn shell(script: &str) -> Vec<OsString> {
    ["sh", "-c", script].map(OsString::from).to_vec()
}

fn ensure(holds: bool, report: &ClientReport) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(Failed::from(format!("{:?}\n{}", report.verdict, report.text()))) }
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
