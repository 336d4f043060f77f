//! The client suite: conforming clients of different habits pass every case, and each case catches a bad client.
//!
//! This program is a test, and with `--as-client HABITS` one of the clients.

#![expect(clippy::expect_used, reason = "a test that cannot go on has failed")]
#![expect(clippy::print_stdout, reason = "a client under test answers on standard output")]
#![expect(clippy::print_stderr, reason = "bad clients log what they should not")]
#![expect(
    unreachable_pub,
    reason = "a test binary has no outside; `pub` marks what a module shows to the others"
)]

#[path = "../../../client/examples/adapter.rs"]
#[allow(dead_code, reason = "its `main` is that of the example")]
mod adapter;
mod bad;
mod clients;
#[path = "../support/mod.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod support;

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use sallyport_conformance::Verdict;
use sallyport_conformance::client::{ClientReport, ClientSuite};
use sallyport_conformance::run::Glob;

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let [first, name] = given.as_slice()
        && first == "--as-client"
    {
        return clients::main(name);
    }
    let mut arguments = Arguments::from_args();
    // Most of a run is waiting.
    arguments.test_threads.get_or_insert(6);
    let mut trials = vec![
        Trial::test("our client passes every case in under 20 s", our_client),
        Trial::test("our blocking client passes every case", || conforms(this("blocking"))),
        Trial::ignorable_test("a client on Python's standard library passes every case", python),
        Trial::test("every case catches a bad client", bad::every_case_has_a_bad_client),
        Trial::test("every habit acts", every_habit_acts),
        Trial::test("Debug of a report shows no token", debug_shows_no_token),
    ];
    for session in support::session::sessions(include_str!("protocol.txt")) {
        let title = session.lines().next().unwrap_or_default().to_owned();
        trials.push(Trial::test(title, move || {
            let program = std::env::current_exe()?.display().to_string();
            support::session::Session::new(&[("client", program)]).play(&session);
            Ok(())
        }));
    }
    for name in clients::GOOD {
        trials.push(Trial::test(format!("good::{name}"), move || conforms(this(name))));
    }
    for (habits, cases) in bad::all() {
        trials.push(Trial::test(format!("bad::{habits}"), move || bad::is_caught(habits, cases)));
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// This program as a client.
pub fn this(habits: &str) -> Vec<OsString> {
    let program = std::env::current_exe().expect("this program has a path");
    vec![program.into(), "--as-client".into(), habits.into()]
}

/// Runs the chosen cases; all of them when there is no pattern.
pub fn run(command: Vec<OsString>, only: &[&str]) -> Result<ClientReport, Failed> {
    let only = only.iter().map(|glob| Glob::new(*glob)).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let suite = ClientSuite { only, ..ClientSuite::new(command) };
    Ok(runtime.block_on(suite.run(|_| {}))?)
}

fn conforms(command: Vec<OsString>) -> Result<(), Failed> {
    let report = run(command, &[])?;
    match report.verdict {
        Verdict::Conforms if report.totals.skipped == 0 => Ok(()),
        _ => Err(Failed::from(report.text())),
    }
}

fn python() -> Result<Completion, Failed> {
    if Command::new("python3").arg("--version").output().is_err() {
        return Ok(Completion::ignored_with("python3 is not installed"));
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/clients/client.py");
    conforms(vec!["python3".into(), script.into()]).map(|()| Completion::Completed)
}

fn our_client() -> Result<(), Failed> {
    let report = run(this("ours"), &[])?;
    println!("our client: {} cases in {} ms", report.cases.len(), report.elapsed_ms);
    // Three times the goal of 20 s: a machine that tests may build at the same time.
    match report.verdict {
        Verdict::Conforms if report.elapsed_ms <= 60_000 => Ok(()),
        _ => Err(Failed::from(report.text())),
    }
}

/// A habit that is misspelt where it acts would make a usual client.
fn every_habit_acts() -> Result<(), Failed> {
    let source = concat!(include_str!("clients.rs"), include_str!("clients/sending.rs"));
    let names = bad::all().map(|(name, _)| name).chain(clients::GOOD);
    // The list of the good ones names each once more.
    let acts = |name: &&str| {
        source.matches(&format!("\"{name}\"")).count() > usize::from(clients::GOOD.contains(name))
    };
    match names.filter(|name| *name != "usual").find(|name| !acts(name)) {
        None => Ok(()),
        Some(name) => Err(Failed::from(format!("`{name}` acts in no client"))),
    }
}

/// A client logs the token of its run, which the reports of `protocol.txt` do not show either.
fn debug_shows_no_token() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("token");
    let script = format!("cat >/dev/null; printf %s \"$SALLYPORT_API_KEY\" | tee '{}' >&2", file.display());
    let report =
        run(["sh", "-c", &script].map(OsString::from).into(), &["client.limited-retries.groups-500"])?;
    let (token, shown) = (std::fs::read_to_string(file)?, format!("{report:?}"));
    if token.len() > 8 && !shown.contains(&token) { Ok(()) } else { Err(Failed::from(report.text())) }
}
