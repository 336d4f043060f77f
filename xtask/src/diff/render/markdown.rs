//! A page in Markdown.

use std::fmt::Write;

use super::{RenderInput, services};

pub(super) fn render(shown: RenderInput<'_>) -> String {
    let mut page = format!(
        "# Changes of the contract\n\nFrom `{}` to `{}`: {}.\n",
        shown.old,
        shown.new,
        shown.verdict()
    );
    if let Some(step) = shown.step() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(page, "\nThe changes ask for a {step}.");
    }
    for operation in shown.operations() {
        let title = operation.map_or_else(|| "The document as a whole".to_owned(), |id| format!("`{id}`"));
        let _ = write!(
            page,
            "\n## {title}\n\n| verdict | where | change | clauses | services | what to do | lines | fingerprint |\n\
             |---|---|---|---|---|---|---|---|\n"
        );
        for change in shown.diff.changes.iter().filter(|change| change.operation.as_deref() == operation) {
            let accepted = change.accepted.as_ref().map(|reason| format!(" (accepted: {reason})"));
            let witness = shown.witness(change).map(|witness| format!(" Witness: {}", witness.text));
            let clauses: Vec<String> = change.clauses.iter().map(|clause| format!("`{clause}`")).collect();
            let cells = [
                format!("**{}**{}", change.rule.verdict.name(), accepted.unwrap_or_default()),
                format!("{}, `{}`", change.direction, change.at),
                format!("{} ({}){}", change.summary(), change.rule.means, witness.unwrap_or_default()),
                clauses.join(" "),
                services(change).to_owned(),
                change.rule.advice.to_owned(),
                shown.places(change),
                format!("`{}`", change.fingerprint()),
            ];
            let cells = cells.map(|cell| cell.replace('|', "\\|").replace(['\r', '\n'], " "));
            let _ = writeln!(page, "| {} |", cells.join(" | "));
        }
    }
    for note in shown.notes {
        let _ = writeln!(page, "\nAccepted changes, {note}.");
    }
    page
}
