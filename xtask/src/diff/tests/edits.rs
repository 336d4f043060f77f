//! Edits of the document, the changes that the comparison reports for each, and a witness for each breaking one.

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

/// Every breaking change of the edits has a witness that fits the older document and not the newer one.
#[test]
fn breaking_changes_have_witnesses() {
    let mut without = Vec::new();
    for [edit, _] in edits() {
        let new = edited(&edit);
        for diff in [diff(&contract(), &new), diff(&new, &contract())] {
            for change in diff.changes.iter().filter(|change| change.rule.verdict == Verdict::Breaking) {
                if witness::witness(change).is_none() {
                    without.push(change.rule.id.clone());
                }
            }
        }
    }
    without.sort_unstable();
    without.dedup();
    // What these mean depends on more than one value.
    let known = [
        "default-changed",
        "fallback-removed",
        "response-media-type-removed",
        "rule-added",
        "separator-changed",
    ];
    assert!(without.iter().all(|id| known.contains(&id.as_str())), "{without:?}");
}

#[test]
fn the_witness_of_a_limit_is_the_value_next_to_it() {
    let witness = |edit: &str| {
        let changes = diff(&contract(), &edited(edit)).changes;
        let witness = witness::witness(&changes[0]).unwrap();
        witness.split_once(" = ").unwrap().1.to_owned()
    };
    assert_eq!(witness("minimum: 1, maximum: «100→50» }"), "`51`");
    assert_eq!(witness("minimum: «1→2», maximum: 100 }"), "`1`");
    assert_eq!(witness("x-max-utf8-bytes: «32→3» }"), "`xxxx`");
    assert_eq!(witness("maximum: «65535→1024» }"), "`192.0.2.1:1025`");
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
