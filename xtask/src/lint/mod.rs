//! Rejects what a generator would drop, ignore or panic on: what the schema of the supported subset of OpenAPI does not allow,
//! and what a schema cannot express. Each rule checks the whole document.

mod clauses;
mod examples;
mod names;
mod operations;
mod references;
mod schemas;
mod searches;
mod subset;
mod texts;

use serde_json::Value;

use crate::{document::Document, problem::Problem};

pub(crate) use subset::{Node, Part, walk};

/// Checks the whole document.
type Check = fn(&mut Lint<'_>);

/// The rules that a schema cannot express, by their ids. Problems with the schema have ids of their own.
const RULES: [(&str, Check); 20] = [
    // A lower bound above its upper bound.
    ("bounds", schemas::bounds),
    // An unknown clause, or a citation for a keyword that the part cannot have.
    ("citation", clauses::citations),
    // Clauses or unspecified behaviours that are not sorted by a unique id.
    ("clause-order", clauses::order),
    // An `example` or a `default` that its schema does not allow.
    ("example", examples::run),
    // An extension that names an unknown part.
    ("extension", operations::extensions),
    // A name that becomes that of another name or of an item of generated code.
    ("name", names::run),
    // `nullable: true` on anything but a property.
    ("nullable", schemas::nullables),
    // Two operations with one id.
    ("operation-id", operations::ids),
    // An unsupported or duplicate parameter, one of a path that the path does not have, or one that is required and replaceable.
    ("parameter", operations::parameters),
    // Two paths that a request could mean, or one without the prefix that a cited clause names.
    ("path", operations::paths),
    // A `pattern` that contradicts the `x-format` and `x-port` beside it.
    ("pattern", schemas::patterns),
    // A `$ref` or a security scheme that names an unknown part, or one of another kind.
    ("reference", references::references),
    // An object in a request that has no name, or is in a response as well.
    ("request-object", operations::objects),
    // An unknown property in `required`.
    ("required", schemas::required),
    // An operation without exactly one success response and one error schema.
    ("response", operations::responses),
    // An `x-page` or `x-filter` that names an unknown part, or one of another type, or says nothing of a property.
    ("search", searches::searches),
    // A limit, default or value of a request that the text of its clause does not say, or a number in a text that no keyword has.
    ("text", texts::run),
    // An observable clause that no part of the document cites.
    ("uncited-clause", clauses::uncited),
    // A limit, default or list of values of a request that cites no clause of its own.
    ("uncited-limit", texts::uncited_limits),
    // A component that no operation uses.
    ("unused-component", references::unused_components),
];

/// Rules whose problems have others as a consequence, which are not reported beside them.
const CAUSES: [(&str, &[&str]); 4] = [
    ("citation", &["uncited-clause"]),
    ("reference", &["extension", "search", "request-object", "response", "unused-component"]),
    ("response", &["unused-component"]),
    ("uncited-limit", &["text", "uncited-clause"]),
];

/// The problems of all rules, sorted by position.
pub(crate) fn run(document: &Document) -> Vec<Problem> {
    let mut problems: Vec<Problem> = findings(document).into_iter().map(|(_, problem)| problem).collect();
    Problem::sort(&mut problems);
    problems.dedup();
    problems
}

/// The problems of each rule, with the id of the rule.
pub(crate) fn findings(document: &Document) -> Vec<(&'static str, Problem)> {
    let mut lint = Lint { document, nodes: walk(document), rule: "", found: Vec::new() };
    subset::run(&mut lint);
    for (id, run) in RULES {
        lint.rule = id;
        run(&mut lint);
    }
    let Lint { mut found, nodes, .. } = lint;
    for (rule, problem) in &mut found {
        problem.message = format!("{} [{rule}]", problem.message);
        problem.operation = references::users(document, &nodes, &problem.pointer);
    }
    let has = |id: &str| found.iter().any(|(rule, _)| *rule == id);
    let causes = CAUSES.iter().filter(|(cause, _)| has(cause));
    let consequences: Vec<&str> = causes.flat_map(|(_, rules)| rules.iter().copied()).collect();
    found.retain(|(rule, _)| !consequences.contains(rule));
    found
}

/// What a rule checks, and the problems that it reports.
pub(crate) struct Lint<'a> {
    document: &'a Document,
    nodes: Vec<Node<'a>>,
    /// The rule that runs.
    rule: &'static str,
    found: Vec<(&'static str, Problem)>,
}

impl<'a> Lint<'a> {
    /// All nodes of one kind except those that are only a `$ref`.
    fn parts(&self, part: Part) -> Vec<Node<'a>> {
        let own = |node: &&Node<'_>| node.part == part && !node.has("$ref");
        self.nodes.iter().filter(own).cloned().collect()
    }

    /// The definitions of the parameters of an operation, with their pointers.
    fn parameters(&self, operation: &Node<'_>) -> Vec<(String, &'a Value)> {
        let items = self.document.items(&operation.at("parameters")).into_iter();
        items
            .map(|(at, item)| (self.document.definition(&at).to_owned(), self.document.resolve(item)))
            .collect()
    }

    /// The definition of the schema of a part.
    fn schema(&self, part: &'a Value) -> Option<&'a Value> {
        part.get("schema").map(|schema| self.document.resolve(schema))
    }

    /// The line of a pointer, for messages about another place.
    fn line(&self, pointer: &str) -> u64 {
        self.document.place(pointer).line
    }

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
