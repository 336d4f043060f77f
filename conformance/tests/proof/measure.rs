//! How many faults a run notices in other modes than the one that is recorded.

use sallyport_conformance::run::Profile;
use sallyport_conformance::{Facts, Options, Report};

use crate::judge::{Judge, enough};
use crate::record::{Table, is_caught, print_table};
use crate::world::{KnownFault, World};

/// The modes: profile, and whether the tester knows more than a token.
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
    let mut mode = MODES[0];
    let (mut each, mut text) = (1, "");
    for argument in arguments {
        match (MODES.iter().find(|(name, ..)| name == argument), argument.parse::<usize>()) {
            (Some(named), _) => mode = *named,
            (None, Ok(number)) => each = number.max(1),
            (None, Err(_)) => text = argument,
        }
    }
    let mut table = Table::new();
    let faults = judge.faults().filter(|(_, fault)| fault.id.contains(text)).step_by(each);
    let trials = faults.map(|(world, fault)| async move { (fault, trial(world, fault, mode).await) });
    for (fault, report) in judge.all(trials) {
        if !is_caught(&mut table, fault, &report) {
            println!("{} ({}, {:?}): {}", fault.id, fault.clause, report.verdict, fault.breaks);
        }
    }
    print_table(&table);
}

async fn trial(world: &World, fault: &KnownFault, (_, profile, has_facts): (&str, Profile, bool)) -> Report {
    let facts = if has_facts { world.backend.facts.clone() } else { Facts::default() };
    let mut options = Options { profile, ..enough() };
    if profile != Profile::Full {
        // Loopback needs no slow pace.
        options.budget = sallyport_conformance::Budget { rate: None, ..profile.budget() };
    }
    world.run(fault, facts, options).await
}
