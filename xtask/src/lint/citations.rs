//! `x-clause` and other keywords that cite clauses.

use std::collections::BTreeSet;

use super::{Lint, Part, Rule};
use crate::model::Citation;

pub(super) const RULE: Rule = Rule {
    id: "citation",
    rejects: "an unknown clause, or a citation for a keyword that the part cannot have",
    run,
};

/// Keywords besides `x-clause` that name a clause.
pub(super) const NAMING: [(Part, &str); 3] =
    [(Part::Operation, "x-credentials-agree"), (Part::Parameter, "x-aliases-agree"), (Part::Rule, "clause")];

fn run(lint: &mut Lint<'_>) {
    let clauses = lint.parts(Part::Clause);
    let known: BTreeSet<&str> = clauses.iter().filter_map(|clause| clause.text("id")).collect();
    let unspecified = lint.parts(Part::Unspecified);
    let open: BTreeSet<&str> = unspecified.iter().filter_map(|entry| entry.text("id")).collect();
    for node in lint.nodes.clone() {
        let at = node.at("x-clause");
        match Citation::read(node.value) {
            None => {
                let help = "write one clause id, a list of ids, or a map from keyword to either";
                lint.report(&node, at, "invalid `x-clause`", help);
            }
            Some(citation) => {
                for id in citation.all().filter(|id| !known.contains(id) && !open.contains(id)) {
                    lint.report(&node, at.clone(), unknown(id), HELP);
                }
                // Unspecified behaviour can only be the source of single limits, which are decisions of this repository.
                let general = citation.any.iter().filter(|id| open.contains(id.as_str()));
                let mixed = citation.by_keyword.values().filter(|ids| ids.len() > 1).flatten();
                for id in general.chain(mixed.filter(|id| open.contains(id.as_str()))) {
                    let message = format!("unspecified behaviour `{id}` cannot be cited for a whole part");
                    let help = "cite it alone, for the keyword that this repository decides";
                    lint.report(&node, at.clone(), message, help);
                }
                for keyword in citation.by_keyword.keys().filter(|keyword| !is_known(&node, keyword)) {
                    let message = format!("unknown keyword `{keyword}` in `x-clause`");
                    lint.report(
                        &node,
                        at.clone(),
                        message,
                        "use a keyword of this part or of its schema, or `any`",
                    );
                }
            }
        }
        for (_, keyword) in NAMING.iter().filter(|(part, _)| *part == node.part) {
            if let Some(id) = node.text(keyword).filter(|id| !known.contains(id)) {
                lint.report(&node, node.at(keyword), unknown(id), HELP);
            }
        }
    }
}

const HELP: &str = "cite an id of `x-clauses`, or add the clause there; cite an id of `x-unspecified` for a limit of this repository";

fn unknown(id: &str) -> String {
    format!("unknown clause `{id}`")
}

/// A part also cites clauses for its schema, and a property for the `required` of its object.
fn is_known(node: &super::Node<'_>, keyword: &str) -> bool {
    let own = node.part.keywords().iter();
    own.chain(Part::Schema.keywords()).any(|(name, _)| *name == keyword)
}
