//! Rules about clauses: what cites them, and how they are listed.

use std::collections::BTreeSet;

use super::{Lint, Node};
use crate::{model::Citation, problem::suggestion};

/// The clause that a part names by another keyword than `x-clause`.
fn named<'a>(node: &Node<'a>) -> Option<(&'static str, &'a str)> {
    let keywords = ["x-credentials-agree", "x-aliases-agree", "clause"];
    keywords.into_iter().find_map(|keyword| Some((keyword, node.text(keyword)?)))
}

const HELP: &str = "cite an id of `x-clauses`, or add the clause there; cite an id of `x-unspecified` for a limit of this repository";

/// `x-clause` and the other keywords that cite clauses.
pub(super) fn citations(lint: &mut Lint<'_>) {
    let ids = |list| {
        let nodes = lint.listed(list);
        nodes.iter().filter_map(|node| node.text("id")).collect::<BTreeSet<&str>>()
    };
    let (known, open) = (ids("/x-clauses"), ids("/x-unspecified"));
    // A keyword that is misspelt is reported already.
    let is_invalid = lint.has_problem_of_schema();
    for node in lint.nodes.clone() {
        let at = node.at("x-clause");
        let citation = Citation::read(node.value);
        for id in citation.all().filter(|id| !known.contains(id) && !open.contains(id)) {
            let help = suggestion(id, known.iter().chain(&open).copied(), HELP);
            lint.report(&at, format!("unknown clause `{id}`"), help);
        }
        // Unspecified behaviour can only be the source of single limits, which are decisions of this repository.
        let mixed = citation.by_keyword.values().filter(|ids| ids.len() > 1).flatten();
        for id in citation.any.iter().chain(mixed).filter(|id| open.contains(id.as_str())) {
            let message = format!("unspecified behaviour `{id}` cannot be cited for a whole part");
            lint.report(&at, message, "cite it alone, for the keyword that this repository decides");
        }
        // A part also cites clauses for its schema and its parts, and a property for the `required` of its object.
        let schema = lint.schema(node.value);
        let is_known = |keyword: &str| {
            let is_part = matches!(keyword, "required" | "headers" | "content" | "security");
            is_part
                || is_invalid
                || node.has(keyword)
                || schema.is_some_and(|schema| schema.get(keyword).is_some())
        };
        for keyword in citation.by_keyword.keys().filter(|keyword| !is_known(keyword)) {
            let message = format!("unknown keyword `{keyword}` in `x-clause`");
            lint.report(&at, message, "use a keyword of this part or of its schema, or `any`");
        }
        if let Some((keyword, id)) = named(&node).filter(|(_, id)| !known.contains(id)) {
            let help = suggestion(id, known.iter().copied(), HELP);
            lint.report(node.at(keyword), format!("unknown clause `{id}`"), help);
        }
    }
}

/// Clauses or unspecified behaviours that are not sorted by a unique id.
pub(super) fn order(lint: &mut Lint<'_>) {
    for list in ["/x-clauses", "/x-unspecified"] {
        let nodes = lint.listed(list);
        for (before, node) in nodes.iter().zip(nodes.iter().skip(1)) {
            let (Some(first), Some(second)) = (before.text("id"), node.text("id")) else { continue };
            if first == second {
                let line = lint.line(&before.at("id"));
                let message = format!("duplicate id `{second}`, used first in line {line}");
                lint.report(node.at("id"), message, "give each a unique id");
            } else if first > second {
                let message = format!("`{second}` is listed after `{first}`");
                lint.report(node.at("id"), message, "sort the list by id");
            }
        }
    }
}

/// An observable clause that no part of the document cites.
pub(super) fn uncited(lint: &mut Lint<'_>) {
    let mut cited = BTreeSet::new();
    for node in &lint.nodes {
        let citation = Citation::read(node.value);
        cited.extend(citation.all().chain(named(node).map(|(_, id)| id)).map(str::to_owned));
    }
    for clause in lint.listed("/x-clauses").into_iter().filter(|clause| clause.is_true("observable")) {
        let Some(id) = clause.text("id").filter(|id| !cited.contains(*id)) else { continue };
        let help = "add it to the `x-clause` of the operation or part that it is about";
        lint.report(clause.pointer, format!("clause `{id}` is not cited"), help);
    }
}
