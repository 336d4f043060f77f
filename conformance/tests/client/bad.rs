//! Bad clients, and the cases that catch each of them.

use std::collections::BTreeSet;

use libtest_mimic::Failed;
use sallyport_conformance::Contract;
use sallyport_conformance::Outcome;
use sallyport_conformance::client::{Expectation, cases};
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
    let cases: Vec<String> = patterns(cases).collect();
    let report = run(this(habits), &cases.iter().map(String::as_str).collect::<Vec<_>>())?;
    let missed = report.cases.iter().filter(|case| case.outcome != Outcome::Failed);
    let missed: Vec<String> =
        missed.map(|case| format!("{}: {:?} {:?}", case.id, case.outcome, case.requests)).collect();
    if missed.is_empty() {
        Ok(())
    } else {
        Err(Failed::from(format!("not caught by\n{}", missed.join("\n"))))
    }
}

/// Each case catches one of the bad clients, or is one of those that the two clients which do nothing show.
pub fn every_case_has_a_bad_client() -> Result<(), Failed> {
    let cases = cases(Contract::embedded()?, &["192.0.2.1".to_owned()]);
    let globs: Vec<Glob> = all().flat_map(|(_, cases)| patterns(cases)).map(Glob::new).collect();
    let uncaught: Vec<_> =
        cases.iter().filter(|case| !globs.iter().any(|glob| glob.matches(&case.id))).collect();
    let shown: BTreeSet<&str> = uncaught.iter().map(|case| case.id.as_str()).collect();
    // "always an error" is caught by each case that expects a result.
    let others: Vec<&str> = uncaught
        .iter()
        .filter(|case| case.expectation != Expectation::Result)
        .map(|case| case.id.as_str())
        .filter(|id| !id.starts_with("client.tolerant.http."))
        .collect();
    if !others.is_empty() {
        return Err(Failed::from(format!("no bad client for {}", others.join(", "))));
    }
    let globs: Vec<&str> = shown.into_iter().filter(|id| !id.starts_with("client.tolerant.http.")).collect();
    let report = run(this("always an error"), &globs)?;
    let missed: Vec<&str> = report
        .cases
        .iter()
        .filter(|case| case.outcome != Outcome::Failed)
        .map(|case| case.id.as_str())
        .collect();
    if missed.is_empty() { Ok(()) } else { Err(Failed::from(format!("not caught: {}", missed.join(", ")))) }
}
