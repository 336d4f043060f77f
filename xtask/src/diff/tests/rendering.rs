//! The forms of a report.

use serde_json::Value;

use super::*;
use crate::diff::render::{Format, RenderInput, changelog, render};

fn shown(format: Format) -> String {
    let text = edited_text(CONTRACT, "minimum: 1, maximum: «100→50» }");
    let text = edited_text(&text, "«Groups ascend by id→Groups: 100 %\\nascend | by id».");
    let diff = diff(&contract(), &Document::parse(&text).unwrap());
    let advice = version::advise(&diff, "0.1.0");
    let (old, new) = ("old.yaml", "new.yaml");
    render(RenderInput { diff: &diff, advice: &advice, old, new, has_witnesses: true, notes: &[] }, format)
}

#[test]
fn text_names_everything_that_a_reader_needs() {
    let text = shown(Format::Text);
    for part in [
        "extractProxies\n  breaking [request-limit-narrowed] request, query num: `maximum`: `100` → `50`",
        "old.yaml:",
        "new.yaml:",
        "extract.num-range",
        "may fail the new suite",
        "a request with query num = `51`",
        "1 breaking, 1 needs a decision",
        "major step: `info.version` 2.0.0 or higher; it is still `1.0.0`; crates 0.2.0",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn text_counts_accepted_changes_and_shows_the_others() {
    let mut diff = diff(&contract(), &edited("minimum: 1, maximum: «100→50» }"));
    diff.changes[0].accepted = Some("agreed".to_owned());
    let advice = version::advise(&diff, "0.1.0");
    let input = RenderInput {
        diff: &diff,
        advice: &advice,
        old: "old",
        new: "new",
        has_witnesses: false,
        notes: &[],
    };
    assert!(
        render(input, Format::Text).starts_with("no changes, and 1 accepted\n"),
        "{}",
        render(input, Format::Text)
    );
    assert!(render(input, Format::Md).contains("(accepted: agreed)"));
}

#[test]
fn markdown_keeps_its_cells() {
    let page = shown(Format::Md);
    let rows: Vec<_> = page.lines().filter(|line| line.starts_with("| **")).collect();
    assert_eq!(rows.len(), 2, "{page}");
    for row in rows {
        assert_eq!(row.replace("\\|", "").matches(" | ").count(), 7, "{row}");
    }
}

#[test]
fn json_is_an_object_with_the_fingerprints() {
    let report: Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    assert_eq!(report["schema_version"], 1);
    assert_eq!(report["step"], "major");
    assert_eq!(report["changes"][0]["fingerprint"].as_str().unwrap().len(), 12);
    assert_eq!(report["changes"][0]["new"]["value"], 50);
}

#[test]
fn github_gets_one_command_on_one_line_for_each_change() {
    let text = shown(Format::Github);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3, "{text}");
    assert!(lines[0].starts_with("::error file=openapi/openapi.yaml,line="), "{text}");
    assert!(lines[0].contains("title=breaking%3A request-limit-narrowed::"), "{text}");
    assert!(lines[1].starts_with("::warning") && lines[1].contains("100 %25"), "{text}");
}

#[test]
fn a_changelog_has_the_sections_and_leaves_out_texts() {
    let new = edited_text(CONTRACT, "minimum: 1, maximum: «100→50» }");
    let new = edited_text(&new, "description: «How many gateways to extract→Number».");
    let text = changelog(&diff(&contract(), &Document::parse(&new).unwrap()));
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(
        text.starts_with("### Changed\n- Contract: **Breaking.** `extractProxies`, request `query num`: "),
        "{text}"
    );
    assert!(changelog(&diff(&contract(), &contract())).contains("No change"));
}
