//! The forms of a report.

use super::*;
use crate::diff::render::{Format, RenderInput, render};

fn shown(diff: &Diff, format: Format) -> String {
    let advice = version::advise(diff, "0.1.0");
    let (old, new) = ("old.yaml", "new.yaml");
    render(RenderInput { diff, advice: &advice, old, new, has_witnesses: true, notes: &[] }, format)
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
    for format in [Format::Text, Format::Md, Format::Json, Format::Github, Format::Changelog] {
        insta::assert_snapshot!(format!("{format:?}").to_lowercase(), shown(&diff, format));
    }
}

#[test]
fn a_report_without_changes_says_so() {
    let none = diff(&contract(), &contract());
    assert_eq!(shown(&none, Format::Text), "no changes\n");
    assert_eq!(shown(&none, Format::Changelog), "No change of the contract concerns callers or services.\n");
}
