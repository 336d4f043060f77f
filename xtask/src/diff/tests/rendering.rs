//! The forms of a report.

use super::*;
use crate::diff::render::render;

fn shown(diff: &Diff, is_changelog: bool) -> String {
    render(diff, ["old.yaml", "new.yaml"], &[], is_changelog)
}

/// A breaking change, one that needs a decision and has what ends a cell or a command, an accepted one, and a text.
#[test]
fn each_form_shows_what_its_reader_needs() {
    let edits = [
        "minimum: 1, maximum: «100→50» }",
        "«Groups ascend by id→Groups: 100 %\\nascend | by id».",
        "default: «20→25»\n",
        "description: «How many gateways to extract→Number».",
    ];
    let text = edits.iter().fold(CONTRACT.to_owned(), |text, edit| edited_text(&text, edit));
    let mut diff = diff(&contract(), &Document::parse(&text).unwrap());
    let accepted = diff.changes.iter_mut().find(|change| change.rule.id == "default-changed");
    accepted.unwrap().accepted = Some("agreed".to_owned());
    insta::assert_snapshot!("text", shown(&diff, false));
    insta::assert_snapshot!("changelog", shown(&diff, true));
}

#[test]
fn a_report_without_changes_says_so() {
    let none = diff(&contract(), &contract());
    assert_eq!((none.worst(), shown(&none, false)), (None, "no changes\n".to_owned()));
    assert_eq!(shown(&none, true), "No change of the contract concerns callers or services.\n");
}
