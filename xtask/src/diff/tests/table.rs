//! A table of edits: what follows from each, which rules stop it, and what the comparison says of it.

use std::collections::BTreeSet;

use super::{edits::EDITS, *};
use crate::{emit, lint};

/// Edits in the table.
const ROWS: usize = 45;

/// The files that are generated from both documents and differ; `None` when a generator rejects the newer one.
fn moved(old: &Document, new: &Document) -> Option<Vec<&'static str>> {
    let (before, after) = (emit::code(old).ok()?, emit::code(new).ok()?);
    let pairs = before.iter().zip(&after).filter(|(one, other)| one.contents != other.contents);
    Some(pairs.map(|(one, _)| one.path.rsplit('/').next().unwrap_or(one.path)).collect())
}

#[test]
#[ignore = "prints a table: cargo test -p xtask table -- --ignored --nocapture"]
fn the_table_of_edits() {
    let old = contract();
    println!("| edit | what stops it | what follows | what `diff` says |\n|---|---|---|---|");
    for (edit, _) in EDITS.iter().take(ROWS) {
        let new = edited(edit);
        let rules: BTreeSet<&str> = lint::findings(&new).into_iter().map(|(rule, _)| rule).collect();
        let stops = if rules.is_empty() {
            "–".to_owned()
        } else {
            rules.into_iter().collect::<Vec<_>>().join(", ")
        };
        let follows = moved(&old, &new).map_or("a generator rejects it".to_owned(), |files| files.join(", "));
        let mut verdicts: Vec<String> = diff(&old, &new)
            .changes
            .iter()
            .map(|change| format!("{} ({})", change.rule.id, change.rule.verdict.name()))
            .collect();
        verdicts.dedup();
        let shown = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        let [from, to] = sides(edit);
        println!("| `{}` → `{}` | {stops} | {follows} | {} |", shown(&from), shown(&to), verdicts.join(", "));
    }
}
