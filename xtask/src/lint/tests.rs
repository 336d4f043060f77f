//! Tests each rule with a document that breaks it, and with the document as it is.

use std::collections::BTreeSet;

use super::*;
use crate::fixture::{CONTRACT, edited, edited_text};

#[test]
fn the_document_is_clean() {
    let groups = "  /openapi/v1/static/groups:";
    assert!(CONTRACT.contains(groups));
    let paths = ["/openapi/v1/a-b_c.d~e", "/a/.b/..c"];
    for path in paths.into_iter().chain([groups.trim_matches([' ', ':'])]) {
        let text = CONTRACT.replacen(groups, &format!("  {path:?}:"), 1);
        let problems = run(&Document::parse(&text).unwrap());
        assert!(problems.is_empty(), "{path}: {}", Problem::list(&problems));
    }
}

/// Edits, the rules that reject the result, and the pointer of the problem. Every rule and each of its rows has one.
#[test]
fn each_change_is_rejected_by_exactly_its_rules_at_its_position() {
    let corpus: Vec<[String; 3]> = serde_saphyr::from_str(include_str!("../../fixtures/lint.yaml")).unwrap();
    let (mut wrong, mut all) = (Vec::new(), Vec::new());
    for [edit, rules, pointer] in &corpus {
        let document = edited(edit);
        let found = findings(&document);
        let said: Vec<_> = found.iter().map(|(_, problem)| problem.to_string()).collect();
        let mut by: BTreeSet<_> = found.iter().map(|(id, _)| *id).collect();
        // Most edits of a limit contradict the text of its clause as well.
        if !rules.contains("text") {
            by.remove("text");
        }
        if by != rules.split(' ').collect() {
            wrong.push(format!("{edit:?}: {said:#?}"));
        }
        if !found.iter().any(|(_, problem)| problem.pointer.contains(&**pointer)) {
            wrong.push(format!("{edit:?}: {pointer} in {said:#?}"));
        }
        for (_, problem) in &found {
            assert_eq!(problem.place, Some(document.place(&problem.pointer)), "{problem}");
            assert!(!problem.help.is_empty() && !problem.message.starts_with("cannot judge"), "{problem}");
        }
        all.extend(found.clone());
        let mut shown: Vec<String> = sorted(found).iter().map(ToString::to_string).collect();
        let count = shown.len();
        shown.dedup();
        assert_eq!(shown.len(), count, "duplicate problem of {edit:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let of_rust = [
        "missing-keyword",
        "unknown-keyword",
        "unsupported-keyword",
        "wrong-value",
        "contract",
        "text",
        "uncited-limit",
    ];
    for rule in of_rust {
        assert!(all.iter().any(|(id, _)| *id == rule), "no change for {rule}");
    }
    all.extend(searches().flat_map(|(_, document)| findings(&document)));
    let is_unbroken = |row: &&rules::Row| {
        // What stands between expressions.
        let words = row.message.split("{{").map(|part| part.rsplit("}}").next().unwrap());
        let is_of_row = |message: &str| words.clone().all(|part| message.contains(part));
        !all.iter().any(|(rule, problem)| *rule == row.rule && is_of_row(&problem.message))
    };
    let unbroken: Vec<_> = rules::ROWS.iter().filter(is_unbroken).map(|row| &row.message).collect();
    assert!(unbroken.is_empty(), "no change for {unbroken:#?}");
}

/// Edits of what the document declares of its search, and what is said of each.
fn searches() -> impl Iterator<Item = (String, Document)> {
    let rows: Vec<[String; 2]> =
        serde_saphyr::from_str(include_str!("../../fixtures/searches.yaml")).unwrap();
    let declared = include_str!("../../../openapi/openapi.yaml");
    rows.into_iter().map(|[edit, said]| (said, Document::parse(&edited_text(declared, &edit)).unwrap()))
}

#[test]
fn what_a_search_declares_is_held_against_its_schemas() {
    for (said, document) in searches() {
        let problems = Problem::list(&run(&document));
        assert!(problems.contains(&said) && !problems.contains("cannot judge"), "{said}: {problems}");
    }
}

/// Tools of others read the pattern in place of the format.
#[test]
fn the_pattern_of_an_address_says_what_its_format_says() {
    let document = Document::parse(include_str!("../../../openapi/openapi.yaml")).unwrap();
    let pattern = document.text("/components/schemas/AddressItem", "pattern").unwrap();
    let pattern = regex::Regex::new(pattern).unwrap();
    for row in include_str!("../../../openapi/src/addresses.txt").lines().skip(1) {
        let text = row.split(" → ").next().unwrap();
        let text = text.replace("\\n", "\n").replace("\\s", " ").replace("\\e", "");
        let is_valid = sallyport_contract::address::Address::parse(&text, &(1..=u16::MAX)).is_ok();
        assert_eq!(pattern.is_match(&text), is_valid, "{text:?}");
    }
}

#[test]
fn all_problems_are_reported_at_once_and_in_order() {
    let text = edited_text(CONTRACT, "«maximum→maximun»: 100 }");
    let problems = run(&Document::parse(&edited_text(&text, "enum: [«json, txt→»]")).unwrap());
    assert!(problems.len() >= 2);
    assert!(problems.is_sorted_by_key(|problem| problem.place));
}
