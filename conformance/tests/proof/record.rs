//! Records which case notices which fault, and measures how many faults a run notices in other modes than the one that is recorded.

use std::collections::{BTreeMap, BTreeSet};

use libtest_mimic::Failed;
use sallyport_conformance::contract::Clause;
use sallyport_conformance::detection::{CaseName, Detector, KnownFault, Matrix};
use sallyport_conformance::run::Profile;
use sallyport_conformance::{Budget, Facts, Options, Report};

use crate::judge::{Judge, cites, enough};

/// Faults and variations that are tried at the same time.
pub const AT_ONCE: usize = 4;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detection/generated/matrix.txt");

/// Faults after which the file is written, so that a recording that is cut off is not lost.
const CHUNK: usize = 100;

/// Runs the checks that cite the clause of each fault with one of the texts `A,B` in its id, and writes which cases failed.
pub fn record(arguments: &[String]) {
    let texts = arguments.first().map_or("", String::as_str);
    let judge = Judge::start();
    let is_chosen = |id: &str| texts.split(',').any(|text| id.contains(text));
    let old = Matrix::from_text(&std::fs::read_to_string(FILE).unwrap_or_default()).unwrap_or_default();
    let mut matrix = Matrix::default();
    for CaseName { check, label } in cases(&judge) {
        matrix.add_case(check, label);
    }
    let known: BTreeSet<&str> = judge.faults().map(|(_, fault)| &*fault.id).collect();
    for fault in old.faults().iter().filter(|fault| known.contains(&*fault.id)) {
        matrix.take_over(fault, &old);
    }
    let mut table = Table::new();
    let mut survivors = Vec::new();
    for world in [&judge.lab, &judge.independent] {
        let faults = world.faults.iter().filter(|fault| is_chosen(&fault.id)).collect::<Vec<_>>();
        for chunk in faults.chunks(CHUNK) {
            let trials = chunk.iter().map(|fault| async { (*fault, world.trial(fault).await) });
            for (fault, report) in judge.all(trials) {
                if !is_caught(&mut table, fault, &report) {
                    survivors.push(format!("{}: {}", fault.id, fault.breaks));
                }
                // Requests that look for facts are seen by passive checks, but are no cases.
                let failing = report.failing_cases().filter_map(|(judge, check, label)| {
                    matrix.number(check, label).map(|case| Detector { judge: judge.into(), case })
                });
                let noticed_by = failing.collect::<BTreeSet<_>>().into_iter().collect();
                matrix.add_fault(KnownFault { noticed_by, ..fault.clone() });
            }
            matrix.keep_cheapest(|case| world.costs.price(case));
            std::fs::write(FILE, matrix.to_text()).expect("the matrix can be written");
            println!("{} faults", table.values().map(|(tried, _)| tried).sum::<usize>());
        }
    }
    print_table(&table);
    survivors.sort();
    survivors.iter().for_each(|survivor| println!("NOT CAUGHT {survivor}"));
}

/// The modes to measure: profile, and whether the tester knows more than a token.
const MODES: [(&str, Profile, bool); 4] = [
    ("full", Profile::Full, true),
    ("production", Profile::Production, true),
    ("token", Profile::Full, false),
    ("production-token", Profile::Production, false),
];

/// Runs the whole suite against one in so many of the faults with a text in their ids, and prints which are not caught. The
/// arguments are a mode, that number, and the text, each of which may be left out.
pub fn measure(arguments: &[String]) {
    let judge = Judge::start();
    let (_, mut profile, mut has_facts) = MODES[0];
    let (mut each, mut text) = (1, "");
    for argument in arguments {
        match (MODES.iter().find(|(name, ..)| name == argument), argument.parse::<usize>()) {
            (Some(named), _) => (_, profile, has_facts) = *named,
            (None, Ok(number)) => each = number.max(1),
            (None, Err(_)) => text = argument,
        }
    }
    let faults = judge.faults().filter(|(_, fault)| fault.id.contains(text)).step_by(each);
    let trials = faults.map(async |(world, fault)| {
        let facts = if has_facts { world.backend.facts.clone() } else { Facts::default() };
        let mut options = Options { profile, ..enough() };
        if profile != Profile::Full {
            // Loopback needs no slow pace.
            options.budget = Budget { rate: None, ..profile.budget() };
        }
        (fault, world.run(fault, facts, options).await)
    });
    let mut table = Table::new();
    for (fault, report) in judge.all(trials) {
        if !is_caught(&mut table, fault, &report) {
            println!("{} ({}, {:?}): {}", fault.id, fault.clause, report.verdict, fault.breaks);
        }
    }
    print_table(&table);
}

/// The cases and control requests of both worlds.
fn cases(judge: &Judge) -> impl Iterator<Item = &CaseName> {
    judge.lab.costs.cases().chain(judge.independent.costs.cases())
}

/// How many faults of each clause were tried, and how many of them caught.
type Table = BTreeMap<Clause, (usize, usize)>;

/// Whether a report shows a fault, which is counted.
fn is_caught(table: &mut Table, fault: &KnownFault, report: &Report) -> bool {
    let (tried, caught) = table.entry(fault.clause).or_default();
    let is_caught = cites(report, fault);
    (*tried, *caught) = (*tried + 1, *caught + usize::from(is_caught));
    is_caught
}

fn print_table(table: &Table) {
    println!("{:<34} faults caught", "clause");
    for (clause, (tried, caught)) in table {
        println!("{clause:<34} {tried:>6} {caught:>6}");
    }
    let (tried, caught) = table.values().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
    println!("{:<34} {tried:>6} {caught:>6}", "all");
}

/// The file must have the faults that there are, and have been recorded with the cases that there are.
pub fn is_current(judge: &Judge) -> Result<(), Failed> {
    let matrix = Matrix::embedded()?;
    let recorded: BTreeSet<&CaseName> = matrix.cases().iter().collect();
    let cases: BTreeSet<&CaseName> = cases(judge).collect();
    let faults = judge.faults().map(|(_, fault)| (&*fault.id, fault.clause, &*fault.breaks));
    let faults: BTreeSet<_> = faults.collect();
    let known = matrix.faults().iter().map(|fault| (&*fault.id, fault.clause, &*fault.breaks));
    let known: BTreeSet<_> = known.collect();
    if recorded == cases && known == faults {
        return Ok(());
    }
    Err(Failed::from(format!(
        "cases that changed: {:?}; faults that changed: {:?}; run `cargo test --workspace --test proof -- --record`",
        recorded.symmetric_difference(&cases).take(9).collect::<Vec<_>>(),
        known.symmetric_difference(&faults).take(9).collect::<Vec<_>>(),
    )))
}
