//! Clauses, lines, fingerprints, removals and operations.

use super::{edits::edits, *};
use crate::{fixture::remove, lint};

#[test]
fn lines_clauses_and_values_of_both_documents_are_named() {
    let new = edited("minimum: 1, maximum: «100→50» }");
    let changes = diff(&contract(), &new).changes;
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    let line = 1 + CONTRACT.lines().position(|line| line.contains("maximum: 100 }")).unwrap();
    let [old, new] = [change.old.as_ref().unwrap(), change.new.as_ref().unwrap()];
    assert_eq!([old.line, new.line], [line as u64; 2]);
    assert_eq!(change.summary(), "`maximum`: `100` → `50`");
    assert_eq!(change.clauses, ["extract.num-range"]);
}

#[test]
fn a_fingerprint_survives_moved_lines_and_differs_between_changes() {
    let narrow = |text: &str| {
        let text = edited_text(text, "minimum: 1, maximum: «100→50» }");
        let changes = diff(&contract(), &Document::parse(&text).unwrap()).changes;
        changes.into_iter().find(|change| change.keyword == "maximum").unwrap().fingerprint()
    };
    assert_eq!(narrow(CONTRACT), narrow(&format!("\n\n\n{CONTRACT}")));
    let mut all = Vec::new();
    for [edit, _] in edits() {
        all.extend(diff(&contract(), &edited(&edit)).changes.iter().map(Change::fingerprint));
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn no_removal_from_the_document_passes_unnoticed_and_none_is_unclassified() {
    let old = contract();
    let mut all = old.pointers();
    // The first ones of each keyword stand for the others.
    const OF_EACH: usize = 6;
    let mut seen: std::collections::BTreeMap<String, usize> = std::collections::BTreeMap::new();
    all.retain(|at| {
        let count = seen.entry(at.rsplit('/').next().unwrap_or_default().to_owned()).or_default();
        *count += 1;
        *count <= OF_EACH
    });
    let mut compared = 0;
    // One entry of these lists is like another, and so is one member of an example.
    let is_repeated = |pointer: &str| {
        if pointer.contains("/example/") || pointer.contains("/x-clause/") {
            return true;
        }
        let rest = pointer.strip_prefix("/x-clauses/").or_else(|| pointer.strip_prefix("/x-unspecified/"));
        rest.is_some_and(|rest| !rest.starts_with("0"))
    };
    for pointer in all.iter().filter(|at| !at.starts_with("/info/version") && !is_repeated(at)) {
        let mut new = old.clone();
        remove(&mut new.root, pointer);
        let Ok(forth) = compare(&old, &new) else { continue };
        let back = compare(&new, &old).unwrap();
        for (way, diff) in [("removed", forth), ("added", back)] {
            let unknown = diff.changes.iter().find(|change| change.rule.id == "unclassified");
            if diff.changes.is_empty() || unknown.is_some() {
                // A document that breaks a rule of the lint is never compared.
                assert!(!lint::run(&new).is_empty(), "{pointer} {way} passes unnoticed: {unknown:?}");
            }
        }
        compared += 1;
    }
    assert!(compared > 100, "only {compared} documents were compared");
}

#[test]
fn a_part_in_place_of_a_reference_is_no_change_of_the_contract() {
    let new = edited(
        "schema: { «$ref: \"#/components/schemas/ReturnType\"→type: string, enum: [json, txt], default: json» }",
    );
    let changes = diff(&contract(), &new).changes;
    assert!(changes.iter().all(|change| change.rule.verdict == Verdict::Documentation), "{changes:?}");
    assert!(!changes.is_empty());
}

/// The document without what stands from one text to another.
fn without(from: &str, to: &str) -> Document {
    let [start, end] = [from, to].map(|text| CONTRACT.find(text).unwrap());
    Document::parse(&format!("{}{}", &CONTRACT[..start], &CONTRACT[end..])).unwrap()
}

/// Two operations use the parameter, whose problem is one.
#[test]
fn a_problem_of_a_shared_part_is_reported_once() {
    let broken = edited("    ApiKey:\n      name: api_key\n      in: «query→cookie»");
    let [_, problems] = compare(&contract(), &broken).unwrap_err();
    assert_eq!(problems.len(), 1, "{problems:?}");
}

#[test]
fn an_operation_that_comes_or_goes_is_one_change() {
    let gone = without("  /openapi/v1/static/groups:", "  /openapi/v1/static/instances/search:");
    assert_eq!(lines(&contract(), &gone), ["operation-removed listStaticGroups operation"]);
    assert_eq!(lines(&gone, &contract()), ["operation-added listStaticGroups operation"]);
}
