//! Records which case notices which fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures::StreamExt as _;
use libtest_mimic::Failed;
use sallyport_conformance::contract::{Clause, OperationId};
use sallyport_conformance::detection::{CaseName, Detector, KnownFault, Matrix};
use sallyport_conformance::lab::Fault;
use sallyport_conformance::{Contract, Report, registry};

use crate::judge::{Judge, cites};

/// Faults and variations that are tried at the same time.
pub const AT_ONCE: usize = 4;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/detection/generated/proof.jsonl");

/// Runs the checks that cite the clause of each fault with one of these texts in its id, and writes which cases failed. The
/// texts stand apart by commas.
pub fn record(texts: &str) {
    let judge = Judge::start();
    let is_chosen = |fault: &&Arc<Fault>| texts.split(',').any(|text| fault.id.contains(text));
    let chosen: Vec<&Arc<Fault>> = judge.faults().iter().filter(is_chosen).collect();
    let stored = std::fs::read_to_string(FILE).unwrap_or_default();
    let old = Matrix::from_text(&stored).unwrap_or_default();
    let mut matrix = Matrix::default();
    for CaseName { check, label } in judge.cases() {
        matrix.add_case(&check, &label);
    }
    let known: BTreeSet<&str> = judge.faults().iter().map(|fault| fault.id).collect();
    for fault in old.faults().iter().filter(|fault| known.contains(fault.id.as_str())) {
        matrix.take_over(fault, &old);
    }
    let mut table: BTreeMap<Clause, (usize, usize)> = BTreeMap::new();
    let mut survivors = Vec::new();
    let all = chosen.len();
    judge.block_on(async {
        let trials = chosen.iter().map(|fault| async { (*fault, trial(&judge, fault).await) });
        let mut results = futures::stream::iter(trials).buffer_unordered(AT_ONCE).enumerate();
        while let Some((done, (fault, report))) = results.next().await {
            let (tried, caught) = table.entry(fault.clause()).or_default();
            *tried += 1;
            if cites(&report, fault) {
                *caught += 1;
            } else {
                survivors.push(format!("{}: {}", fault.id, fault.breaks));
            }
            let noticed_by = report
                .failing_cases()
                .map(|(judge, check, label)| (judge.to_owned(), matrix.add_case(check, label)))
                .collect::<BTreeSet<_>>();
            let noticed_by = noticed_by.into_iter().map(|(judge, case)| Detector { judge, case }).collect();
            let (id, breaks) = (fault.id.to_owned(), fault.breaks.to_owned());
            matrix.add_fault(KnownFault { id, clause: fault.clause(), breaks, noticed_by });
            if (done + 1).is_multiple_of(50) {
                println!("{} of {all} faults", done + 1);
            }
        }
    });
    let prices = judge.prices();
    matrix.keep_cheapest(|case| prices.get(case).copied().unwrap_or(u32::MAX));
    std::fs::write(FILE, matrix.to_text()).expect("the matrix can be written");
    println!("{:<34} faults caught", "clause");
    for (clause, (tried, caught)) in &table {
        println!("{clause:<34} {tried:>6} {caught:>6}");
    }
    println!("{:<34} {all:>6} {:>6}", "all", all - survivors.len());
    survivors.sort();
    survivors.iter().for_each(|survivor| println!("NOT CAUGHT {survivor}"));
}

/// The report of the checks that cite the clause of a fault. Passive ones need something to judge: the operations.
pub async fn trial(judge: &Judge, fault: &Arc<Fault>) -> Report {
    let clause = fault.clause();
    let citing: Vec<_> = registry().into_iter().filter(|check| check.clauses.contains(&clause)).collect();
    let mut only: Vec<String> = citing.iter().map(|check| check.id.to_owned()).collect();
    if citing.iter().any(|check| check.is_passive()) {
        only.extend(concerned(clause).map(|operation| operation.prefix().to_owned()));
        only.extend(concerned(clause).map(|operation| format!("{}.*", operation.prefix())));
    }
    judge.against(fault, &only).await
}

fn concerned(clause: Clause) -> impl Iterator<Item = OperationId> {
    let prefix = clause.id().split('.').next().unwrap_or_default().to_owned();
    let operations = Contract::embedded().into_iter().flat_map(Contract::operations);
    operations.map(|operation| operation.id).filter(move |id| prefix == "all" || id.prefix() == prefix)
}

/// The file must have the faults that there are, and have been recorded with the cases that there are.
pub fn is_current(judge: &Judge) -> Result<(), Failed> {
    let matrix = Matrix::from_text(&std::fs::read_to_string(FILE)?)?;
    let recorded: BTreeSet<CaseName> = matrix.cases().iter().cloned().collect();
    let cases: BTreeSet<CaseName> = judge.cases().into_iter().collect();
    let faults: BTreeSet<&str> = judge.faults().iter().map(|fault| fault.id).collect();
    let known: BTreeSet<&str> = matrix.faults().iter().map(|fault| fault.id.as_str()).collect();
    if recorded == cases && known == faults {
        return Ok(());
    }
    Err(Failed::from(format!(
        "cases that changed: {:?}; faults that changed: {:?}; run `cargo test --workspace --test proof -- --record`",
        recorded.symmetric_difference(&cases).take(9).collect::<Vec<_>>(),
        known.symmetric_difference(&faults).take(9).collect::<Vec<_>>(),
    )))
}
