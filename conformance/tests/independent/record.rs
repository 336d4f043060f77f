//! Records which case notices which fault.

use std::collections::{BTreeSet, HashMap};

use sallyport_conformance::check::{Scope, SharedControl};
use sallyport_conformance::contract::{Clause, Contract};
use sallyport_conformance::detection::{CaseName, Detector, KnownFault, Matrix};
use sallyport_conformance::registry;

use crate::driver::{EndOfRun, Mode, RunResult, facts, record_fault, run};
use crate::faults::{self, Fault};
use crate::measure::in_parallel;
use crate::server::behaviour::{Decisions, Size};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detection/generated/independent.jsonl");

/// Faults after which the file is written, so that a recording that is cut off can be continued.
const CHUNK: usize = 40;

/// Runs the checks of each fault's clause against it, and all checks when those show nothing, and writes which cases failed.
/// A fault that the file has is not run again, as long as the checks of its clause have the cases with which it was recorded.
pub(crate) fn record() {
    let mut matrix = Matrix::default();
    for (check, label) in run("", Decisions::default(), Mode::Full, &["*"], EndOfRun::EndOnce).cases {
        matrix.add_case(&check, &label);
    }
    let prices = prices();
    for control in prices.keys().filter(|name| name.check == SharedControl::SOURCE) {
        matrix.add_case(&control.check, &control.label);
    }
    let stored = std::fs::read_to_string(FILE).unwrap_or_default();
    let stored = Matrix::from_text(&stored).unwrap_or_default();
    keep_what_holds(&mut matrix, &stored);
    let recorded: BTreeSet<String> = matrix.faults().iter().map(|fault| fault.id.clone()).collect();
    let missing = faults::ALL.iter().filter(|fault| !recorded.contains(&id(fault)));
    let missing: Vec<&Fault> = missing.collect();
    println!("{} of {} faults are recorded", recorded.len(), faults::ALL.len());
    for chunk in missing.chunks(CHUNK) {
        for (fault, measured) in chunk.iter().zip(in_parallel(chunk, |fault| record_fault(fault))) {
            add(&mut matrix, fault, measured);
        }
        matrix.keep_cheapest(|case| prices.get(case).copied().unwrap_or(u32::MAX));
        std::fs::write(FILE, matrix.to_text()).expect("the matrix can be written");
        println!("{} of {} faults", matrix.faults().len(), faults::ALL.len());
    }
}

/// Takes over the faults whose recording other cases can't have changed: no check of their clause has other cases now. One
/// that nothing noticed is tried again when there is any other case.
fn keep_what_holds(matrix: &mut Matrix, stored: &Matrix) {
    let now: BTreeSet<CaseName> = matrix.cases().iter().cloned().collect();
    let then: BTreeSet<CaseName> = stored.cases().iter().cloned().collect();
    let changed: BTreeSet<&str> = now.symmetric_difference(&then).map(|case| case.check.as_str()).collect();
    let of_changed = registry().into_iter().filter(|check| changed.contains(check.id));
    let clauses: BTreeSet<Clause> = of_changed.flat_map(|check| check.clauses).copied().collect();
    for fault in stored.faults() {
        if clauses.contains(&fault.clause) || (fault.noticed_by.is_empty() && !changed.is_empty()) {
            continue;
        }
        matrix.take_over(fault, stored);
    }
}

fn id(fault: &Fault) -> String {
    format!("independent/{}", fault.id)
}

fn add(matrix: &mut Matrix, fault: &Fault, measured: RunResult) {
    // A clause that the document does not have is broken by nobody.
    let Some(clause) = Clause::from_id(fault.clause) else {
        println!("no clause {}: {}", fault.clause, fault.id);
        return;
    };
    let failing = measured.failing.into_iter();
    let noticed: BTreeSet<(String, usize)> =
        failing.map(|(judge, check, label)| (judge, matrix.add_case(&check, &label))).collect();
    if noticed.is_empty() {
        println!("not noticed: {}", fault.id);
    }
    let noticed_by = noticed.into_iter().map(|(judge, case)| Detector { judge, case }).collect();
    matrix.add_fault(KnownFault { id: id(fault), clause, breaks: fault.text.to_owned(), noticed_by });
}

/// Requests of each case, and of each control that the cases share in a run.
fn prices() -> HashMap<CaseName, u32> {
    let facts = facts(Size::default());
    let contract = Contract::embedded().expect("the contract is generated");
    let mut prices = HashMap::new();
    for check in registry() {
        for case in check.cases(&Scope { contract, facts: &facts }) {
            let name = CaseName { check: check.id.to_owned(), label: case.label().to_owned() };
            prices.insert(name, case.cost_alone().requests);
            for control in case.controls_in_run() {
                let (check, label) = (SharedControl::SOURCE.to_owned(), control.label.to_string());
                prices.insert(CaseName { check, label }, control.cost.requests);
            }
        }
    }
    prices
}
