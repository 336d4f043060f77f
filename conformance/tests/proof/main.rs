//! The two-sided proof of the suite: every server that breaks a clause is caught by a check that cites the clause, and no
//! server that only decides what the contract leaves open ever fails. There are two worlds of faults: the lab in front of the
//! reference server, and a server that was written from the contract's prose alone. Each fault and each variation is a test by its
//! name: `cargo test --workspace --test proof -- fault::search.page`.
//!
//! Every day one of the faults of a clause that the same case notices is tried, and a quarter of the variations, the next ones on the
//! next day; `-- --include-ignored` tries all.
//!
//! Which case notices which fault stands in `src/detection/generated/matrix.txt`. A test of a fault runs the cheapest of these
//! cases, and more when it does not suffice. Other ways to run the program:
//!
//! - `… --test proof -- --record [TEXT,…]` runs all cases of the checks that cite the clause against the faults with that text in
//!   their id, and writes the file anew;
//! - `… -- --measure [full|production|token|production-token] [N] [TEXT]` runs the whole suite against one in N of these faults,
//!   and prints which are not caught;
//! - `… -- --serve [ID]` serves a fault, or the independent server without one, until standard input ends.

#![expect(
    clippy::expect_used,
    reason = "the harness of a test fails by panicking, and says what it expected"
)]
#![expect(clippy::print_stdout, reason = "recording takes minutes, and shows how far it is")]
#![expect(
    unreachable_pub,
    reason = "a test binary has no outside; `pub` marks what a module shows to the others"
)]

mod costs;
mod diagnosis;
mod explore;
mod independent;
mod judge;
mod record;
mod variations;
mod world;

use std::collections::BTreeSet;
use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use sallyport_conformance::contract::Clause;
use sallyport_conformance::detection::Matrix;
use sallyport_conformance::lab::{self, Row};
use sallyport_conformance::registry;

use judge::Judge;
use record::AT_ONCE;

/// Fewest faults; may only grow.
const FAULTS: usize = 2_438;

/// Fewest conforming variations of the lab and of the tester's knowledge; may only grow.
const VARIATIONS: usize = 134;

/// On so many days in a row each variation of the lab is tested once.
const DAYS: i64 = 4;

/// The variations of the independent server that are always tested: as it is, and two that decide everything otherwise at once.
const DAILY: [&str; 3] = ["conforming", "strict", "lenient"];

/// What the program does in place of testing, with its arguments.
type Command = fn(&[String]);

/// The work of a test that needs the servers.
type Whole = fn(&Judge) -> Result<(), Failed>;

/// The same for one of many faults or variations.
type Work = Box<dyn FnOnce(&Judge) -> Result<(), Failed> + Send>;

fn main() -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let commands: [(&str, Command); 3] =
        [("--record", record::record), ("--measure", record::measure), ("--serve", serve)];
    for (flag, command) in commands {
        if let Some(at) = given.iter().position(|argument| argument == flag) {
            command(&given[at + 1..]);
            return ExitCode::SUCCESS;
        }
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(AT_ONCE);
    let mut trials = vec![
        Trial::test("ids are unique and do not get fewer", || done(ids)),
        Trial::test("every clause with a check has a fault", || done(every_clause_has_a_fault)),
        Trial::test("every fault has a place in the independent server", || {
            done(independent::every_fault_has_a_place)
        }),
    ];
    // Runners list the tests of a binary first; no server is needed for that.
    let judge = if arguments.list { None } else { Some(Arc::new(Judge::start())) };
    let mut trial = |name: String, work: Work, is_daily: bool| {
        let judge = judge.clone();
        let trial = Trial::test(name, move || judge.map_or(Ok(()), |judge| work(&judge)));
        trials.push(trial.with_ignored_flag(!is_daily));
    };
    let whole: [(&str, Whole); 6] = [
        ("the matrix knows all faults and cases", record::is_current),
        ("the untampered server passes every check", Judge::untampered),
        ("a diagnosis names the fault", diagnosis::names_the_fault),
        ("an exploration finds nothing without a fault", explore::finds_nothing_without_a_fault),
        ("an exploration finds faults of combinations", explore::finds_faults_of_combinations),
        ("an exploration is replayed from a report", explore::is_replayed_from_a_report),
    ];
    for (name, work) in whole {
        trial(name.to_owned(), Box::new(work), true);
    }
    let today = jiff::Timestamp::now().as_second() / (24 * 60 * 60);
    for (number, together) in (today..).zip(variations::together()) {
        let name = format!("variation::{}", together.name());
        trial(name, Box::new(move |judge| judge.variations(&together)), number % DAYS == 0);
    }
    for variation in independent::variations() {
        let name = format!("variation::{}{}", independent::PREFIX, variation.id);
        let is_daily = DAILY.contains(&variation.id);
        trial(name, Box::new(move |judge| judge.independent_variation(&variation)), is_daily);
    }
    let matrix = Matrix::embedded().expect("the matrix");
    let mut tried = BTreeSet::new();
    for fault in matrix.faults().iter().filter(|fault| !fault.noticed_by.is_empty()) {
        let is_daily = tried.insert((fault.clause, fault.noticed_by.first()));
        trial(format!("fault::{}", fault.id), Box::new(move |judge| judge.fault(&fault.id)), is_daily);
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A test that panics fails by itself.
fn done(test: fn()) -> Result<(), Failed> {
    test();
    Ok(())
}

fn ids() {
    let faults = Matrix::embedded().expect("the matrix").faults();
    let ids: BTreeSet<_> = faults.iter().map(|fault| &fault.id).collect();
    assert_eq!(ids.len(), faults.len(), "two faults have one id");
    assert!(faults.len() >= FAULTS, "{} faults", faults.len());
    assert!(lab::faults().iter().all(|fault| fault.id.contains('/') && fault.breaks.ends_with('.')));

    let variations: Vec<_> = variations::all();
    let ids: BTreeSet<_> = variations.iter().map(|variation| variation.id).collect();
    assert_eq!(ids.len(), variations.len(), "two variations have one id");
    assert!(variations.len() >= VARIATIONS, "{} variations", variations.len());
}

fn every_clause_has_a_fault() {
    let broken: BTreeSet<_> = lab::faults().iter().map(Row::clause).collect();
    let checked: BTreeSet<_> = registry().iter().flat_map(|check| check.clauses.iter().copied()).collect();
    // The suite speaks plain http to loopback alone, so there is nothing here that could break this clause.
    let unproven: Vec<_> =
        checked.difference(&broken).filter(|clause| **clause != Clause::AllHttps).collect();
    assert!(unproven.is_empty(), "no fault breaks {unproven:?}");
}

/// Serves a fault, or the independent server without one, for other tools.
fn serve(arguments: &[String]) {
    let id = arguments.first().map_or("", String::as_str);
    let judge = Judge::start();
    let upstream = judge.find(id).map(|(world, fault)| world.serve(fault));
    assert!(id.is_empty() || upstream.is_some(), "unknown fault `{id}`");
    let upstream = upstream.unwrap_or_else(|| judge.independent.backend.upstream.clone());
    let proxy = judge.block_on(world::proxy(upstream, false));
    println!("{}", proxy.base_url());
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input ends");
}
