//! Rejects what a generator would drop, ignore or panic on: what the schema of the supported subset of OpenAPI does not allow,
//! and what a schema cannot express. Each rule checks the whole document. What Redocly and Spectral reject in `.ci/run` is not
//! checked again: examples that contradict their schemas, components that nothing uses, paths and parameters that do not fit.

mod clauses;
mod operations;
mod schemas;
mod searches;
mod subset;
mod texts;

use serde_json::Value;

use crate::{
    document::{Document, join},
    model::Contract,
    problem::Problem,
};

/// Checks the whole document.
type Check = fn(&mut Lint<'_>);

/// The rules that a schema cannot express, by their ids; their functions say what each rejects. Problems with the schema have ids of
/// their own.
const RULES: [(&str, Check); 14] = [
    ("bounds", schemas::bounds),
    ("citation", clauses::citations),
    ("clause-order", clauses::order),
    ("contract", contract),
    ("extension", operations::extensions),
    ("nullable", schemas::nullables),
    ("parameter", operations::parameters),
    ("request-object", operations::objects),
    ("required", schemas::required),
    ("response", operations::responses),
    ("search", searches::searches),
    ("text", texts::run),
    ("uncited-clause", clauses::uncited),
    ("uncited-limit", texts::uncited_limits),
];

/// Rules whose problems have others as a consequence, which are not reported beside them.
const CAUSES: [(&str, &[&str]); 3] = [
    ("citation", &["uncited-clause"]),
    ("contract", &["extension", "request-object", "response", "search"]),
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
    let mut lint = Lint { document, nodes: nodes(document, ""), rule: "", found: Vec::new() };
    subset::run(&mut lint);
    for (id, run) in RULES {
        lint.rule = id;
        run(&mut lint);
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

/// What cannot be read as a contract, such as a `$ref` to nothing, where the schema of the subset allows it.
fn contract(lint: &mut Lint<'_>) {
    if !lint.has_problem_of_schema()
        && let Err(problems) = Contract::read(lint.document)
    {
        for Problem { pointer, message, help, .. } in problems {
            lint.report(pointer, message, help);
        }
    }
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
    fn operations(&self) -> Vec<Node<'a>> {
        self.nodes.iter().filter(|node| node.text("operationId").is_some()).cloned().collect()
    }

    /// The entries of a list of the document, such as `/x-clauses`.
    fn listed(&self, list: &str) -> Vec<Node<'a>> {
        let is_entry =
            |node: &&Node<'_>| node.pointer.rsplit_once('/').is_some_and(|(around, _)| around == list);
        self.nodes.iter().filter(is_entry).cloned().collect()
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

    /// Whether the schema of the subset does not allow something: its rules have ids of their own.
    fn has_problem_of_schema(&self) -> bool {
        self.found.iter().any(|(rule, _)| RULES.iter().all(|(id, _)| id != rule))
    }

    fn has_problem_at(&self, pointer: &str) -> bool {
        self.found.iter().any(|(_, problem)| problem.pointer == pointer)
    }

    /// Reports a problem of the rule that runs.
    fn report(&mut self, pointer: impl Into<String>, message: impl Into<String>, help: impl Into<String>) {
        self.found.push((self.rule, self.document.problem(pointer, message, help)));
    }
}

/// A mapping of the document.
#[derive(Clone, Debug)]
struct Node<'a> {
    pointer: String,
    value: &'a Value,
}

impl<'a> Node<'a> {
    /// The pointer of one of its members.
    fn at(&self, keyword: &str) -> String {
        join(&self.pointer, keyword)
    }

    /// The text of one of its members.
    fn text(&self, keyword: &str) -> Option<&'a str> {
        self.value.get(keyword)?.as_str()
    }

    /// Whether it has the member.
    fn has(&self, keyword: &str) -> bool {
        self.value.get(keyword).is_some()
    }

    /// Whether the member is `true`.
    fn is_true(&self, keyword: &str) -> bool {
        self.value.get(keyword) == Some(&Value::Bool(true))
    }

    /// The items of one of its members; none when the member is not a list.
    fn items(&self, keyword: &str) -> &'a [Value] {
        self.value.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The entries of one of its members; none when the member is not a mapping.
    fn entries(&self, keyword: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let entries = self.value.get(keyword).and_then(Value::as_object);
        entries.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }
}

/// The mapping at `at` and every one inside of it, outer ones first, without examples, defaults and citations.
fn nodes<'a>(document: &'a Document, at: &str) -> Vec<Node<'a>> {
    let value = document.get(at).filter(|value| value.is_object());
    let own = value.map(|value| Node { pointer: at.to_owned(), value });
    let around = at.rsplit('/').next().unwrap_or_default();
    let has_names = matches!(around, "headers" | "parameters" | "properties" | "responses" | "x-filter");
    let is_value = |key: &str| !has_names && matches!(key, "default" | "enum" | "example" | "x-clause");
    let members = document.members(at).into_iter().filter(|(key, ..)| !is_value(key)).map(|(_, at, _)| at);
    let inner = members.chain(document.items(at).into_iter().map(|(at, _)| at));
    own.into_iter().chain(inner.flat_map(|at| nodes(document, &at))).collect()
}

#[cfg(test)]
mod tests;
