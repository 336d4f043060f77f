//! Rejects what a generator would drop, ignore or panic on: what the schema of the supported subset of OpenAPI does not allow,
//! and what a schema cannot express. Each rule checks the whole document. What Redocly and Spectral reject in `.ci/run` is not
//! checked again: examples that contradict their schemas, components that nothing uses, paths and parameters that do not fit.

mod rules;
mod subset;
mod texts;

use crate::{document::Document, model::Contract, problem::Problem};

/// Rules whose problems have others as a consequence, which are not reported beside them.
const CAUSES: [(&str, &[&str]); 4] = [
    ("citation", &["uncited-clause"]),
    ("contract", &["extension", "request-object", "response", "search"]),
    ("request-object", &["uncited-property"]),
    ("uncited-limit", &["text", "uncited-clause", "uncited-property"]),
];

/// The problems of all rules, sorted by position.
pub(crate) fn run(document: &Document) -> Vec<Problem> {
    sorted(findings(document))
}

fn sorted(found: Vec<(&'static str, Problem)>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = found.into_iter().map(|(_, problem)| problem).collect();
    Problem::sort(&mut problems);
    problems.dedup();
    problems
}

/// The problems of each rule, with the id of the rule: first of the schema, then of what it cannot express.
fn findings(document: &Document) -> Vec<(&'static str, Problem)> {
    let mut lint = Lint { document, rule: "", is_invalid: false, found: Vec::new() };
    subset::run(&mut lint);
    lint.is_invalid = !lint.found.is_empty();
    let contract = Contract::read(document);
    rules::run(&mut lint, contract.as_ref().ok());
    match contract {
        Ok(_) => texts::run(&mut lint),
        // Such as a `$ref` to nothing, where the schema of the subset allows it.
        Err(problems) if !lint.is_invalid => {
            lint.found.extend(problems.into_iter().map(|problem| ("contract", problem)));
        }
        Err(_) => {}
    }
    let Lint { mut found, .. } = lint;
    for (rule, problem) in &mut found {
        problem.message = format!("{} [{rule}]", problem.message);
    }
    let has = |id: &str| found.iter().any(|(rule, _)| *rule == id);
    let causes = CAUSES.iter().filter(|(cause, _)| has(cause));
    let consequences: Vec<&str> = causes.flat_map(|(_, rules)| rules.iter().copied()).collect();
    found.retain(|(rule, _)| !consequences.contains(rule));
    found
}

/// What a rule checks, and the problems that it reports.
struct Lint<'a> {
    document: &'a Document,
    /// The rule that runs.
    rule: &'static str,
    /// Whether the schema of the subset does not allow something.
    is_invalid: bool,
    found: Vec<(&'static str, Problem)>,
}

impl Lint<'_> {
    fn has_problem_at(&self, pointer: &str) -> bool {
        self.found.iter().any(|(_, problem)| problem.pointer == pointer)
    }

    /// Reports a problem of the rule that runs.
    fn report(&mut self, pointer: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push((self.rule, self.document.problem(pointer, message, help)));
    }
}

#[cfg(test)]
mod tests;
