//! Contract mutation: changes every keyword of the document, one at a time, and checks which generated code changes. The
//! ledger says which sides enforce a constraint; where the code of such a side stays the same, the mutant survives, and
//! needs a reason in `explained`.
//!
//! It takes minutes and is run by name: `cargo test -p xtask mutation -- --ignored --nocapture`.

mod explained;
mod mutants;

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use serde_json::Value;

use self::mutants::{Mutant, mutants};
use crate::{
    document::Document,
    emit,
    fixture::{bare, contract},
    ledger::place,
    lint,
    model::{Constraint, Contract},
};

/// A side whose generated code may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Server,
    Client,
    Suite,
}

const SIDES: [Side; 3] = [Side::Server, Side::Client, Side::Suite];

/// What is generated from a document for each side, without comments and texts.
struct Generated {
    by_side: BTreeMap<Side, String>,
    page: String,
}

/// What became of a mutant.
enum Outcome {
    /// These rules of the lint reject it.
    Lint(BTreeSet<&'static str>),
    /// A generator rejects it.
    Generator,
    /// The sides whose code changed, and those that the ledger names.
    Generated { changed: BTreeSet<Side>, expected: BTreeSet<Side>, has_page: bool },
}

fn generated(document: &Document) -> Option<Generated> {
    let artifacts = emit::code(document).ok()?;
    let of = |path: &str| artifacts.iter().find(|one| one.path == path).map(|one| one.contents.as_str());
    let code = |path: &str| of(path).and_then(|text| text.parse().ok()).map(bare).unwrap_or_default();
    let client = code("client/src/generated.rs") + &code("client/src/contract.rs");
    let index: Value =
        serde_json::from_str(of("conformance/src/contract/generated/contract.json")?).unwrap_or_default();
    let suite = format!("{} {}", index["document"], index["schemas"]);
    let by_side =
        [(Side::Server, code("server/src/api/generated.rs")), (Side::Client, client), (Side::Suite, suite)];
    let page = of("server/src/admin/generated/contract.html").unwrap_or_default().to_owned();
    Some(Generated { by_side: by_side.into(), page })
}

/// The sides that the ledger names for the constraints at a pointer or inside of it.
fn enforcing(document: &Document, pointer: &str) -> BTreeSet<Side> {
    let Ok(contract) = Contract::read(document) else { return BTreeSet::new() };
    let is_at = |constraint: &Constraint| {
        let place = place(document, constraint);
        place.is_some_and(|at| at == pointer || at.starts_with(&format!("{pointer}/")))
    };
    let mut sides = BTreeSet::new();
    for constraint in contract.constraints().iter().filter(|constraint| is_at(constraint)) {
        sides.extend(emit::server::enforces(constraint).map(|_| Side::Server));
        sides.extend(emit::client::enforces(constraint).map(|_| Side::Client));
        let is_checked = !constraint.clauses.is_empty() && !constraint.is_own_decision();
        sides.extend(is_checked.then_some(Side::Suite));
    }
    sides
}

fn tried(original: &Document, before: &Generated, mutant: &Mutant) -> Outcome {
    let document = original.with_root(mutant.root.clone());
    let mut rules: BTreeSet<&'static str> =
        lint::findings(&document).into_iter().map(|(rule, _)| rule).collect();
    // A text that still says the older number is no reason to stop here: the generators must notice by themselves.
    rules.remove("text");
    if !rules.is_empty() {
        return Outcome::Lint(rules);
    }
    let Some(after) = generated(&document) else { return Outcome::Generator };
    let changed = SIDES.into_iter().filter(|side| before.by_side[side] != after.by_side[side]).collect();
    // Where an entry of a list is gone, the next one has its place.
    let mut expected = enforcing(original, &mutant.pointer);
    if mutant.what != "dropped" {
        expected.extend(enforcing(&document, &mutant.pointer));
    }
    Outcome::Generated { changed, expected, has_page: before.page != after.page }
}

#[test]
#[ignore = "changes each keyword of the document, which takes minutes"]
fn each_keyword_changes_the_sides_that_the_ledger_names() {
    let original = contract();
    let before = generated(&original).unwrap();
    let all = mutants(&original);
    let (mut lint, mut generator, mut noticed, mut unchanged) = (BTreeMap::new(), 0, BTreeMap::new(), 0);
    let (mut faults, mut reasons) = (Vec::new(), BTreeMap::new());
    for mutant in &all {
        let outcome = catch_unwind(AssertUnwindSafe(|| tried(&original, &before, mutant)));
        let shown = format!("{} ({})", mutant.pointer, mutant.what);
        match outcome {
            Err(_) => faults.push(format!("{shown}: a generator panicked")),
            Ok(Outcome::Lint(rules)) => {
                rules.into_iter().for_each(|rule| *lint.entry(rule).or_insert(0) += 1)
            }
            Ok(Outcome::Generator) => generator += 1,
            Ok(Outcome::Generated { changed, expected, has_page }) => {
                for side in SIDES.into_iter().filter(|side| expected.contains(side)) {
                    let (of, seen) = noticed.entry(side).or_insert((0, 0));
                    *of += 1;
                    if changed.contains(&side) {
                        *seen += 1;
                    } else if let Some(reason) = explained::reason(mutant, side) {
                        *reasons.entry((side, reason)).or_insert(0) += 1;
                    } else {
                        faults.push(format!(
                            "{shown}: the ledger names the {side:?}, whose code does not change"
                        ));
                    }
                }
                if changed.is_empty() && !has_page {
                    unchanged += 1;
                    faults.push(format!("{shown}: no generated file changes"));
                }
            }
        }
    }
    let rejected: i32 = lint.values().sum();
    println!("{} mutants", all.len());
    println!("rejected by the lint, by rule ({rejected} times): {lint:?}");
    println!("rejected by a generator: {generator}");
    for (side, (expected, seen)) in &noticed {
        println!("{side:?}: {seen} of {expected} that the ledger names");
    }
    println!("without any change: {unchanged}");
    for ((side, reason), count) in &reasons {
        println!("survivors, explained: {side:?} {count} times: {reason}");
    }
    assert!(faults.is_empty(), "{} survivors without a reason:\n{}", faults.len(), faults.join("\n"));
}

/// A few mutants in each run of the tests, so that the bench does not break unnoticed.
#[test]
fn mutants_change_one_keyword_each_and_are_all_different() {
    let original = contract();
    let all = mutants(&original);
    assert!(all.len() > 500, "only {} mutants", all.len());
    let mut seen = BTreeSet::new();
    for mutant in &all {
        assert_ne!(&mutant.root, original.root(), "{} {}", mutant.pointer, mutant.what);
        assert!(
            seen.insert((mutant.pointer.clone(), mutant.what.clone())),
            "{} {}",
            mutant.pointer,
            mutant.what
        );
    }
    let before = generated(&original).unwrap();
    let limit = all.iter().find(|mutant| mutant.pointer.ends_with("/parameters/0/schema/maximum")).unwrap();
    let Outcome::Generated { changed, expected, .. } = tried(&original, &before, limit) else {
        panic!("a limit that is one larger is generated from")
    };
    assert_eq!((changed.len(), expected.len()), (3, 3));
}

#[test]
#[ignore = "net"]
fn dump_mutants() {
    let path = std::env::var("DUMP").unwrap();
    let mut text = String::new();
    for (name, original) in
        [("contract", contract()), ("library", Document::parse(crate::fixture::LIBRARY).unwrap())]
    {
        for mutant in mutants(&original) {
            let found = lint::findings(&original.with_root(mutant.root.clone()));
            text += &format!("=== {name} {} ({})\n", mutant.pointer, mutant.what);
            for (rule, problem) in found {
                text += &format!(
                    "{rule} {} {}: {}\n",
                    problem.place.unwrap().line,
                    problem.pointer,
                    problem.message
                );
            }
        }
    }
    std::fs::write(path, text).unwrap();
}
