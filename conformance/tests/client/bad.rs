//! Bad clients, and the cases that catch each of them.

use libtest_mimic::Failed;
use sallyport_conformance::Contract;
use sallyport_conformance::Outcome;
use sallyport_conformance::client::{ClientCase, Expectation, cases};
use sallyport_conformance::run::Glob;

use crate::{run, this};

/// A bad habit in each line, and the cases that catch it.
const HABITS: &str = include_str!("bad.txt");

/// The habits, with the cases that catch each.
pub fn all() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = HABITS.lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once(": "))
}

fn patterns(cases: &str) -> impl Iterator<Item = String> {
    cases.split(' ').map(|case| format!("client.{case}"))
}

/// Every case that should catch a client does.
pub fn is_caught(habits: &str, cases: &str) -> Result<(), Failed> {
    all_fail(habits, &patterns(cases).collect::<Vec<_>>())
}

fn all_fail(habits: &str, cases: &[String]) -> Result<(), Failed> {
    let report = run(this(habits), &cases.iter().map(String::as_str).collect::<Vec<_>>())?;
    let missed = report.cases.iter().filter(|case| case.outcome != Outcome::Failed);
    let missed: Vec<String> =
        missed.map(|case| format!("{}: {:?} {:?}", case.id, case.outcome, case.requests)).collect();
    if missed.is_empty() { Ok(()) } else { Err(format!("not caught by\n{}", missed.join("\n")).into()) }
}

/// Each case catches one of the bad clients, or is one of those that the two clients which do nothing show.
pub fn every_case_has_a_bad_client() -> Result<(), Failed> {
    let globs: Vec<Glob> = all().flat_map(|(_, cases)| patterns(cases)).map(Glob::new).collect();
    let is_caught =
        |id: &str| globs.iter().any(|glob| glob.matches(id)) || id.starts_with("client.tolerant.http.");
    let cases = cases(Contract::embedded()?, &["192.0.2.1".to_owned()]);
    let uncaught = cases.into_iter().filter(|case| !is_caught(&case.id));
    // "always an error" is caught by each case that expects a result.
    let (shown, others): (Vec<_>, Vec<_>) =
        uncaught.partition(|case| case.expectation == Expectation::Result);
    let ids = |cases: Vec<ClientCase>| cases.into_iter().map(|case| case.id).collect::<Vec<_>>();
    match others.is_empty() {
        true => all_fail("always an error", &ids(shown)),
        false => Err(format!("no bad client for {}", ids(others).join(", ")).into()),
    }
}
