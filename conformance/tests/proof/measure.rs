//! How many faults a run notices in other modes than the one that is recorded.

use futures::StreamExt as _;
use sallyport_conformance::run::Profile;
use sallyport_conformance::{Facts, Options, Report};

use crate::judge::{Judge, Proven, enough};
use crate::record::{AT_ONCE, Table, is_caught, print_table};
use crate::world::KnownFault;

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
    for proven in judge.worlds() {
        let faults = proven.world.faults().iter().filter(|fault| fault.id.contains(text)).step_by(each);
        let trials = faults.map(|fault| async move { (fault, trial(proven, fault, mode).await) });
        let reports = futures::stream::iter(trials).buffer_unordered(AT_ONCE).collect::<Vec<_>>();
        for (fault, report) in judge.block_on(reports) {
            if !is_caught(&mut table, fault, &report) {
                println!("{} ({}, {:?}): {}", fault.id, fault.clause, report.verdict, fault.breaks);
            }
        }
    }
    print_table(&table);
}

async fn trial(
    proven: &Proven,
    fault: &KnownFault,
    (_, profile, has_facts): (&str, Profile, bool),
) -> Report {
    let facts = if has_facts { proven.world.backend().facts.clone() } else { Facts::default() };
    let mut options = Options { profile, ..enough() };
    if profile != Profile::Full {
        // Loopback needs no slow pace.
        options.budget = sallyport_conformance::Budget { rate: None, ..profile.budget() };
    }
    proven.run(fault, facts, options).await
}
