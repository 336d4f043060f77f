//! `x-clause` and its kin.

use std::collections::BTreeSet;

use super::{Lint, Part, Rule};
use crate::model::Citation;

pub(super) const RULE: Rule = Rule {
    id: "citation",
    refuses: "a cited clause that does not exist, or a citation for a keyword that is not there",
    run,
};

/// Keywords besides `x-clause` that name a clause.
pub(super) const NAMING: [(Part, &str); 3] =
    [(Part::Operation, "x-credentials-agree"), (Part::Parameter, "x-aliases-agree"), (Part::Rule, "clause")];

fn run(lint: &mut Lint<'_>) {
    let clauses = lint.parts(Part::Clause);
    let known: BTreeSet<&str> = clauses.iter().filter_map(|clause| clause.text("id")).collect();
    let silences = lint.parts(Part::Silence);
    let open: BTreeSet<&str> = silences.iter().filter_map(|silence| silence.text("id")).collect();
    for node in lint.nodes.clone() {
        let at = node.at("x-clause");
        match Citation::read(node.value) {
            None => {
                let help = "write one clause id, a list of ids, or a map from keyword to either";
                lint.refuse(&node, at, "x-clause has another shape than expected", help);
            }
            Some(citation) => {
                for id in citation.all().filter(|id| !known.contains(id) && !open.contains(id)) {
                    lint.refuse(&node, at.clone(), unknown(id), HELP);
                }
                // What is open binds nobody, so it can only be the source of single limits, which are then our own.
                let general = citation.any.iter().filter(|id| open.contains(id.as_str()));
                let mixed = citation.by_keyword.values().filter(|ids| ids.len() > 1).flatten();
                for id in general.chain(mixed.filter(|id| open.contains(id.as_str()))) {
                    let message = format!("`{id}` is left open, so it is not the clause of a whole part");
                    let help = "cite it alone, for the keyword that is this repository's own decision";
                    lint.refuse(&node, at.clone(), message, help);
                }
                for keyword in citation.by_keyword.keys().filter(|keyword| !is_known(&node, keyword)) {
                    let message = format!("x-clause speaks of `{keyword}`, which is no keyword here");
                    lint.refuse(
                        &node,
                        at.clone(),
                        message,
                        "name a keyword of this part or of its schema, or `any`",
                    );
                }
            }
        }
        for (_, keyword) in NAMING.iter().filter(|(part, _)| *part == node.part) {
            if let Some(id) = node.text(keyword).filter(|id| !known.contains(id)) {
                lint.refuse(&node, node.at(keyword), unknown(id), HELP);
            }
        }
    }
}

const HELP: &str = "cite an id of `x-clauses`, or add the clause there; cite an id of `x-unspecified` for a limit of our own";

fn unknown(id: &str) -> String {
    format!("the clause `{id}` does not exist")
}

/// A part also cites for the schema in it, and a property for the `required` of its object.
fn is_known(node: &super::Node<'_>, keyword: &str) -> bool {
    let own = node.part.keywords().iter();
    own.chain(Part::Schema.keywords()).any(|(name, _)| *name == keyword)
}
