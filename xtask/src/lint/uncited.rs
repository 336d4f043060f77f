//! Clauses that no part of the document cites.

use std::collections::BTreeSet;

use super::{Lint, Part, Rule, citations};
use crate::model::Citation;

pub(super) const RULE: Rule =
    Rule { id: "uncited-clause", rejects: "an observable clause that no part of the document cites", run };

fn run(lint: &mut Lint<'_>) {
    let mut cited = BTreeSet::new();
    for node in &lint.nodes {
        let citation = Citation::read(node.value).unwrap_or_default();
        cited.extend(citation.all().map(str::to_owned));
        let naming = citations::NAMING.iter().filter(|(part, _)| *part == node.part);
        cited.extend(naming.filter_map(|(_, keyword)| node.text(keyword)).map(str::to_owned));
    }
    for clause in lint.parts(Part::Clause) {
        let Some(id) = clause.text("id") else { continue };
        let observable = clause.value.get("observable") != Some(&serde_json::Value::Bool(false));
        if observable && !cited.contains(id) {
            let help = "add it to the `x-clause` of the operation or part that it is about";
            lint.report(&clause, clause.pointer.clone(), format!("clause `{id}` is not cited"), help);
        }
    }
}
