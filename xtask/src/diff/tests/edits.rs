//! Edits of the document, the changes that the comparison reports for each, and a witness for each breaking one.

use std::collections::BTreeSet;

use super::*;

/// Edits, and the changes of each with those of its reversal.
pub(super) fn edits() -> Vec<[String; 2]> {
    serde_saphyr::from_str(include_str!("../../../fixtures/diff.yaml")).unwrap()
}

#[test]
fn each_edit_is_reported_once_and_its_reversal_is_the_opposite() {
    let old = contract();
    for [edit, changes] in edits() {
        let new = edited(&edit);
        let [forth, back] = sides(&changes);
        assert_eq!(lines(&old, &new), forth.split("; ").collect::<Vec<_>>(), "{edit:?}");
        assert_eq!(lines(&new, &old), back.split("; ").collect::<Vec<_>>(), "reversal of {edit:?}");
    }
}

/// What each breaking change of the edits excludes: it fits the older document and not the newer one. None where it depends on more
/// than one value.
#[test]
fn breaking_changes_have_witnesses() {
    let mut witnesses = Vec::new();
    for [edit, _] in edits() {
        let new = edited(&edit);
        for diff in [diff(&contract(), &new), diff(&new, &contract())] {
            let breaking = diff.changes.iter().filter(|change| change.rule.verdict == Verdict::Breaking);
            let witness = |one: &Change| witness::witness(one).unwrap_or_else(|| "none".to_owned());
            witnesses.extend(breaking.map(|one| format!("{}: {}", one.rule.id, witness(one))));
        }
    }
    let without: BTreeSet<_> = witnesses.iter().filter_map(|line| line.strip_suffix(": none")).collect();
    let known = [
        "default-changed",
        "fallback-removed",
        "response-media-type-removed",
        "rule-added",
        "separator-changed",
    ];
    assert_eq!(without, BTreeSet::from(known));
    insta::assert_snapshot!(witnesses.join("\n"));
}

#[test]
fn another_meaning_of_a_search_breaks_its_callers() {
    let declared = |filters: &str| {
        let edit = format!("          clause: search.activated-order\n«→      x-filter: {{ {filters} }}\n»");
        edited(&edit)
    };
    let city = declared("cityCode: { match: equal, field: cityCode }");
    let both =
        declared("cityCode: { match: equal, field: cityCode }, orderNo: { match: equal, hidden: true }");
    let other = declared("cityCode: { match: equal, field: countryCode }");
    for (old, new, id) in [
        (&city, &both, "meaning-extended"),
        (&both, &city, "meaning-changed"),
        (&city, &other, "meaning-changed"),
    ] {
        assert_eq!(lines(old, new), [format!("{id} searchStaticInstances operation")]);
    }
}
