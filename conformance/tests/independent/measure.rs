//! The table: how many faults of each clause the suite shows, and which not.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use sallyport_conformance::Verdict;

use crate::driver::{EndOfRun, Mode, RunResult, run, run_fault};
use crate::faults::{self, Fault};
use crate::variations::{self, Variation};

/// Where the known misses of the full mode stand.
pub(crate) const MISSED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/independent/missed.txt");
/// Suite and server wait for each other, so that a few runs share two cores well.
const WORKERS: usize = 4;

/// Which faults and variations are measured.
pub(crate) struct Sample {
    /// Those with this text in their ids.
    pub(crate) text: String,
    /// One in so many of them.
    pub(crate) each: NonZeroUsize,
}

impl Sample {
    fn of<T>(&self, all: &'static [T], id: fn(&T) -> &str) -> Vec<&'static T> {
        let named = all.iter().filter(|entry| id(entry).contains(&self.text));
        named.step_by(self.each.get()).collect()
    }
}

/// Measures a sample of the faults and variations.
pub(crate) fn measure(mode: Mode, sample: &Sample, write: bool) {
    let begun = Instant::now();
    let wanted: Vec<&Fault> = sample.of(&faults::ALL, |fault| fault.id);
    let results = in_parallel(&wanted, |fault| {
        let measured = run_fault(fault, mode);
        if !measured.is_caught(fault) {
            println!("missed: {} (reached {}, {:?})", fault.id, measured.reached, measured.verdict);
        }
        if !sample.text.is_empty() {
            println!("{}:\n{}", fault.id, describe(&measured));
        }
        measured
    });
    let mut clauses: BTreeMap<&str, (usize, usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for (fault, measured) in wanted.iter().zip(&results) {
        let row = clauses.entry(fault.clause).or_default();
        let caught = measured.is_caught(fault);
        row.0 += usize::from(caught);
        row.1 += 1;
        row.2 += usize::from(caught && measured.cites(fault.clause));
        if !caught {
            missed.push((*fault, measured));
        }
    }
    println!("| clause | caught | of | citing it |\n|---|---|---|---|");
    for (clause, (caught, all, cited)) in &clauses {
        println!("| {clause} | {caught} | {all} | {cited} |");
    }
    let sum = |part: fn(&(usize, usize, usize)) -> usize| clauses.values().map(part).sum::<usize>();
    println!("| all | {} | {} | {} |", sum(|row| row.0), sum(|row| row.1), sum(|row| row.2));
    println!("\nNot caught:");
    for (fault, measured) in &missed {
        let kind = if fault.is_inferred { "inferred" } else { "stated" };
        let unsettled = measured.unsettled.first().map_or(String::new(), |text| format!("; {text}"));
        println!(
            "- {} ({}, {kind}, reached {}, {:?}): {}{unsettled}",
            fault.id, fault.clause, measured.reached, measured.verdict, fault.text
        );
    }
    if write && mode == Mode::Full && wanted.len() == faults::ALL.len() {
        let mut ids: Vec<&str> = missed.iter().map(|(fault, _)| fault.id).collect();
        ids.sort_unstable();
        std::fs::write(MISSED, ids.iter().map(|id| format!("{id}\n")).collect::<String>())
            .expect("a writable list");
    }
    measure_variations(mode, sample);
    println!("\n{} s in all", begun.elapsed().as_secs());
}

fn measure_variations(mode: Mode, sample: &Sample) {
    let wanted: Vec<&Variation> = sample.of(variations::ALL, |variation| variation.id);
    let results =
        in_parallel(&wanted, |variation| run("", variation.decisions(), mode, &["*"], EndOfRun::End));
    println!(
        "\n| variation | verdict | failures | warnings | requests | gateways | ms |\n|---|---|---|---|---|---|---|"
    );
    for (variation, measured) in wanted.iter().zip(&results) {
        let RunResult { verdict, failures, warnings, requests, gateways, elapsed, .. } = measured;
        println!(
            "| {} | {verdict:?} | {} | {} | {requests} | {gateways} | {} |",
            variation.id,
            failures.len(),
            warnings.len(),
            elapsed.as_millis()
        );
    }
    for (variation, measured) in wanted.iter().zip(&results) {
        let settled = measured.verdict == Verdict::Conforms && measured.failures.is_empty();
        if !settled {
            println!(
                "\n{} ({}): {:?}, {:?}",
                variation.id, variation.text, measured.verdict, measured.stopped
            );
            println!("{}", describe(measured));
        }
    }
}

/// Findings and unsettled checks, one a line.
pub(crate) fn describe(measured: &RunResult) -> String {
    let line = |kind: &str, (check, clause, text): &(String, String, String)| {
        format!("  {kind} {check} [{clause}]: {text}\n")
    };
    let mut text: String = measured.failures.iter().map(|entry| line("failure", entry)).collect();
    text.extend(measured.unsettled.iter().map(|entry| format!("  unsettled {entry}\n")));
    text.extend(measured.warnings.iter().map(|entry| line("warning", entry)));
    text
}

pub(crate) fn in_parallel<T: Sync, R: Send>(inputs: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = inputs.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(input) = inputs.get(at) else { return };
                    let result = work(input);
                    *results[at].lock().expect("no worker panics with a result") = Some(result);
                }
            });
        }
    });
    results
        .into_iter()
        .map(|slot| slot.into_inner().expect("not poisoned").expect("every input was worked on"))
        .collect()
}
