//! The two-sided proof of the suite: every server that breaks a clause is caught by a check that cites the clause, and no
//! server that only decides what the contract leaves open ever fails. Each fault and each variation is a test by its name:
//! `cargo test --workspace --test proof -- fault::search.page`.
//!
//! Which case notices which fault stands in `src/detection/generated/proof.jsonl`. A test of a fault runs the cheapest of its
//! cases for each check that cites the clause, and all of them when that does not suffice. `… --test proof -- --record [TEXT,…]` runs all cases of those checks against the
//! faults with that text in their id, and writes the file anew.

#![expect(
    clippy::expect_used,
    reason = "the harness of a test fails by panicking, and says what it expected"
)]
#![expect(clippy::print_stdout, reason = "recording takes minutes, and shows how far it is")]
#![expect(
    unreachable_pub,
    reason = "a test binary has no outside; `pub` marks what a module shows to the others"
)]

mod diagnosis;
mod explore;
mod judge;
mod record;
mod variations;
mod world;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use sallyport_conformance::contract::Clause;
use sallyport_conformance::lab::{self, Fault};
use sallyport_conformance::registry;

use judge::Judge;
use record::AT_ONCE;

/// Fewest faults; may only grow.
const FAULTS: usize = 1_139;

/// Fewest conforming variations; may only grow.
const VARIATIONS: usize = 133;

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at) = given.iter().position(|argument| argument == "--record") {
        record::record(given.get(at + 1).map_or("", String::as_str));
        return ExitCode::SUCCESS;
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let mut trials = vec![
        Trial::test("ids are unique and do not get fewer", || done(ids)),
        Trial::test("every clause with a check has a fault", || done(every_clause_has_a_fault)),
    ];
    // Runners list the tests of a binary first; no server is needed for that.
    let judge = if arguments.list { None } else { Some(Arc::new(Judge::start())) };
    let mut trial = |name: String, work: fn(&Judge, &str) -> Result<(), Failed>, id: &'static str| {
        let judge = judge.clone();
        trials.push(Trial::test(name, move || judge.map_or(Ok(()), |judge| work(&judge, id))));
    };
    trial("the matrix knows all faults and cases".to_owned(), |judge, _| record::is_current(judge), "");
    trial("the untampered server passes every check".to_owned(), |judge, _| judge.untampered(), "");
    trial("a diagnosis names the fault".to_owned(), |judge, _| diagnosis::names_the_fault(judge), "");
    let without = "an exploration finds nothing without a fault";
    trial(without.to_owned(), |judge, _| explore::finds_nothing_without_a_fault(judge), "");
    let combinations = "an exploration finds faults of combinations";
    trial(combinations.to_owned(), |judge, _| explore::finds_faults_of_combinations(judge), "");
    let replayed = "an exploration is replayed from a report";
    trial(replayed.to_owned(), |judge, _| explore::is_replayed_from_a_report(judge), "");
    for variation in variations::all() {
        trial(format!("variation::{}", variation.id), Judge::variation, variation.id);
    }
    for fault in lab::faults() {
        trial(format!("fault::{}", fault.id), Judge::fault, fault.id);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test that panics fails by itself.
fn done(test: fn()) -> Result<(), Failed> {
    test();
    Ok(())
}

fn ids() {
    let faults = lab::faults();
    let ids: BTreeSet<_> = faults.iter().map(|fault| fault.id).collect();
    assert_eq!(ids.len(), faults.len(), "two faults have one id");
    assert!(faults.iter().all(|fault| fault.id.contains('/') && fault.breaks.ends_with('.')));
    assert!(faults.len() >= FAULTS, "{} faults", faults.len());

    let variations = variations::all();
    let ids: BTreeSet<_> = variations.iter().map(|variation| variation.id).collect();
    assert_eq!(ids.len(), variations.len(), "two variations have one id");
    assert!(variations.len() >= VARIATIONS, "{} variations", variations.len());
}

fn every_clause_has_a_fault() {
    let broken: BTreeSet<_> = lab::faults().iter().map(Fault::clause).collect();
    let checked: BTreeSet<_> = registry().iter().flat_map(|check| check.clauses.iter().copied()).collect();
    // The suite speaks plain http to loopback alone, so there is nothing here that could break this clause.
    let unproven: Vec<_> =
        checked.difference(&broken).filter(|clause| **clause != Clause::AllHttps).collect();
    assert!(unproven.is_empty(), "no fault breaks {unproven:?}");
}
