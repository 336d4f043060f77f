//! Records which case notices which fault.

use std::collections::{BTreeSet, HashMap};

use sallyport_conformance::check::Scope;
use sallyport_conformance::contract::{Clause, Contract};
use sallyport_conformance::detection::{CaseName, Detector, KnownFault, Matrix};
use sallyport_conformance::registry;

use crate::driver::{EndOfRun, Mode, facts, record_fault, run};
use crate::faults::{self, Fault};
use crate::measure::in_parallel;
use crate::server::behaviour::{Decisions, Size};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detection/generated/independent.jsonl");

/// Runs the checks of each fault's clause against it, and all checks when those show nothing, and writes which cases failed.
pub(crate) fn record() {
    let mut matrix = Matrix::default();
    for (check, label) in run("", Decisions::default(), Mode::Full, &["*"], EndOfRun::EndOnce).cases {
        matrix.add_case(&check, &label);
    }
    let all: Vec<&Fault> = faults::ALL.iter().collect();
    for (fault, measured) in all.iter().zip(in_parallel(&all, |fault| record_fault(fault))) {
        // A clause that the document does not have is broken by nobody.
        let Some(clause) = Clause::from_id(fault.clause) else {
            println!("no clause {}: {}", fault.clause, fault.id);
            continue;
        };
        let failing = measured.failing.into_iter();
        let noticed: BTreeSet<(String, usize)> =
            failing.map(|(judge, check, label)| (judge, matrix.add_case(&check, &label))).collect();
        if noticed.is_empty() {
            println!("not noticed: {}", fault.id);
        }
        let noticed_by = noticed.into_iter().map(|(judge, case)| Detector { judge, case }).collect();
        let (id, breaks) = (format!("independent/{}", fault.id), fault.text.to_owned());
        matrix.add_fault(KnownFault { id, clause, breaks, noticed_by });
    }
    let prices = prices();
    matrix.keep_cheapest(|case| prices.get(case).copied().unwrap_or(u32::MAX));
    std::fs::write(FILE, matrix.to_text()).expect("the matrix can be written");
}

/// Requests of each case.
fn prices() -> HashMap<CaseName, u32> {
    let facts = facts(Size::default());
    let contract = Contract::embedded().expect("the contract is generated");
    let mut prices = HashMap::new();
    for check in registry() {
        for case in check.cases(&Scope { contract, facts: &facts }) {
            let name = CaseName { check: check.id.to_owned(), label: case.label().to_owned() };
            prices.insert(name, case.cost_alone().requests);
        }
    }
    prices
}
