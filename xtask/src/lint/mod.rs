//! Rejects what a generator would drop, ignore or panic on. Each rule checks the whole document.

mod deprecations;
mod extensions;
mod grammar;
mod keywords;
mod names;
mod operations;
mod paths;
mod patterns;
mod prose;
mod references;
mod requests;
mod schemas;
mod words;

use serde_json::Value;

use crate::{document::Document, problem::Problem};

pub(crate) use grammar::{Node, Part, walk};

/// A rule that the document must follow.
pub(crate) struct Rule {
    /// Stable id of the rule.
    pub(crate) id: &'static str,
    /// What the rule rejects, for RULES.md.
    pub(crate) rejects: &'static str,
    run: fn(&mut Lint<'_>),
}

macro_rules! rules {
    ($($id:literal, $run:path, $rejects:literal;)*) => {
        /// Every rule, sorted by id.
        pub(crate) const RULES: &[Rule] = &[$(Rule { id: $id, rejects: $rejects, run: $run }),*];
    };
}

rules! {
    "bounds", schemas::bounds, "a lower bound above its upper bound";
    "citation", references::citations, "an unknown clause, or a citation for a keyword that the part cannot have";
    "clause-order", references::clause_order, "clauses or unspecified behaviours that are not sorted by a unique id";
    "default", schemas::defaults, "a `default` outside its type, bounds or enum";
    "deprecation", deprecations::run, "a deprecated part without its dates, dates that contradict each other, or an unknown replacement";
    "enum", schemas::enums, "an `enum` that is empty, has duplicates or a value of another type";
    "example", schemas::examples, "an `example` that its schema does not allow";
    "extension", extensions::run, "an extension that names an unknown part, or lacks the extension that belongs to it";
    "large-integer", schemas::large_integers, "an integer above 2^53, which emission would round";
    "misplaced-keyword", schemas::misplaced_keywords, "a keyword that has no effect on its schema's type";
    "missing-keyword", keywords::missing, "a part without a required keyword, or an unobservable clause without its reason";
    "name", names::run, "a name that is not a Rust identifier, or becomes that of another name or of an item of generated code";
    "nullable", schemas::nullables, "`nullable: true` on anything but a property that is neither an enum nor an object";
    "openapi-version", keywords::openapi_version, "a document of another version than OpenAPI 3.0";
    "operation-id", operations::ids, "an operation without a unique id";
    "parameter", requests::parameters, "an unsupported or duplicate parameter, one of a path that the path does not have, or one that is required and replaceable";
    "path", paths::run, "an invalid path, or one without the prefix that a cited clause names";
    "pattern", patterns::run, "a `pattern` that contradicts the `x-format` and `x-port` beside it";
    "prose", prose::run, "a text that contradicts a limit, default or value of the document";
    "reference", references::references, "a `$ref` to an unknown part or one of another kind, or with keywords beside it";
    "request-object", requests::objects, "an object inside a request that has no name, or an object of a request that a response holds as well";
    "required", schemas::required, "an unknown property or a duplicate in `required`";
    "response", operations::responses, "an operation without exactly one success response and one error schema, or a body where HTTP has none";
    "retry", operations::retries, "an operation without a valid `x-retry`, or `idempotency-key` without a parameter that carries the key";
    "security", operations::security, "an operation without a security scheme, or an unknown or unsupported scheme";
    "uncited-clause", references::uncited_clauses, "an observable clause that no part of the document cites";
    "uncited-limit", prose::uncited_limits, "a limit, default or list of values of a request that cites no clause of its own";
    "unknown-keyword", keywords::unknown, "an unknown keyword or `x-` extension";
    "unsupported-keyword", keywords::unsupported, "a keyword of OpenAPI that a generator drops, panics on or does not enforce";
    "untyped", schemas::untyped, "a schema without a supported type, or an array without items";
    "unused-component", references::unused_components, "a component that no operation uses";
    "wrong-value", keywords::values, "a value of another type than its keyword has";
}

/// Rules whose problems have others as a consequence, which are not reported beside them.
const CAUSES: [(&str, &[&str]); 5] = [
    ("citation", &["uncited-clause"]),
    ("reference", &["extension", "request-object", "response", "unused-component"]),
    ("response", &["unused-component"]),
    ("security", &["unused-component"]),
    ("uncited-limit", &["prose", "uncited-clause"]),
];

/// The problems of all rules, sorted by position.
pub(crate) fn run(document: &Document) -> Vec<Problem> {
    let mut problems: Vec<Problem> = findings(document).into_iter().map(|(_, problem)| problem).collect();
    Problem::sort(&mut problems);
    // Several rules may find the same, such as a missing part of an operation.
    problems.dedup();
    problems
}

/// The problems of each rule, with the id of the rule.
pub(crate) fn findings(document: &Document) -> Vec<(&'static str, Problem)> {
    let mut lint = Lint { document, nodes: grammar::walk(document), problems: Vec::new() };
    let mut found = Vec::new();
    for rule in RULES {
        (rule.run)(&mut lint);
        for mut problem in std::mem::take(&mut lint.problems) {
            problem.message = format!("{} [{}]", problem.message, rule.id);
            problem.operation =
                problem.operation.or_else(|| references::users(document, &lint.nodes, &problem.pointer));
            found.push((rule.id, problem));
        }
    }
    let has = |id: &str| found.iter().any(|(rule, _)| *rule == id);
    let causes = CAUSES.iter().filter(|(cause, _)| has(cause));
    let consequences: Vec<&str> = causes.flat_map(|(_, rules)| rules.iter().copied()).collect();
    found.retain(|(rule, _)| !consequences.contains(rule));
    found
}

/// What a rule checks, and the problems that it reports.
pub(crate) struct Lint<'a> {
    pub(crate) document: &'a Document,
    pub(crate) nodes: Vec<Node<'a>>,
    problems: Vec<Problem>,
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

    /// The line of a pointer, for messages about another place.
    fn line(&self, pointer: &str) -> u64 {
        self.document.place(pointer).line
    }

    /// Reports a problem at `pointer`, in or below `node`.
    fn report(
        &mut self,
        node: &Node<'_>,
        pointer: impl Into<String>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let mut problem = self.document.problem(pointer, message, help);
        problem.operation = node.operation.map(str::to_owned);
        self.problems.push(problem);
    }
}

#[cfg(test)]
mod tests;
