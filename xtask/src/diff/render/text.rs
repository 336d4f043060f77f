//! Lines for a terminal.

use std::fmt::Write;

use super::{RenderInput, services};

pub(super) fn render(shown: RenderInput<'_>) -> String {
    let mut text = String::new();
    for operation in shown.operations() {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "{}", operation.unwrap_or("the document as a whole"));
        for change in shown.diff.changes.iter().filter(|change| change.operation.as_deref() == operation) {
            let _ = writeln!(
                text,
                "  {} [{}] {}, {}: {}",
                change.rule.verdict.name(),
                change.rule.id,
                change.direction,
                change.at,
                change.summary()
            );
            let mut row = |name: &str, value: &str| {
                let _ = writeln!(text, "      {name:<12} {value}");
            };
            row("means", change.rule.means);
            row("at", &shown.places(change));
            if !change.clauses.is_empty() {
                row("clauses", &change.clauses.join(", "));
            }
            if let Some(witness) = shown.witness(change) {
                row("witness", &witness.text);
            }
            row("services", services(change));
            row("to do", change.rule.advice);
            row("fingerprint", &change.fingerprint());
            if let Some(reason) = &change.accepted {
                row("accepted", reason);
            }
        }
        text.push('\n');
    }
    for note in shown.notes {
        let _ = writeln!(text, "accepted changes, {note}");
    }
    let _ = writeln!(text, "{}", shown.verdict());
    if let Some(step) = shown.step() {
        let _ = writeln!(text, "{step}");
    }
    text
}
