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

const fn rule(id: &'static str, rejects: &'static str, run: fn(&mut Lint<'_>)) -> Rule {
    Rule { id, rejects, run }
}

/// Every rule, sorted by id.
pub(crate) const RULES: &[Rule] = &[
    rule("bounds", "a lower bound above its upper bound", schemas::bounds),
    rule(
        "citation",
        "an unknown clause, or a citation for a keyword that the part cannot have",
        references::citations,
    ),
    rule(
        "clause-order",
        "clauses or unspecified behaviours that are not sorted by a unique id",
        references::clause_order,
    ),
    rule("default", "a `default` outside its type, bounds or enum", schemas::defaults),
    rule(
        "deprecation",
        "a deprecated part without its dates, dates that contradict each other, or an unknown replacement",
        deprecations::run,
    ),
    rule("enum", "an `enum` that is empty, has duplicates or a value of another type", schemas::enums),
    rule("example", "an `example` that its schema does not allow", schemas::examples),
    rule(
        "extension",
        "an extension that names an unknown part, or lacks the extension that belongs to it",
        extensions::run,
    ),
    rule("large-integer", "an integer above 2^53, which emission would round", schemas::large_integers),
    rule(
        "misplaced-keyword",
        "a keyword that has no effect on its schema's type",
        schemas::misplaced_keywords,
    ),
    rule(
        "missing-keyword",
        "a part without a required keyword, or an unobservable clause without its reason",
        keywords::missing,
    ),
    rule(
        "name",
        "a name that makes no Rust identifier, or the same one as another name or as an item of generated code",
        names::run,
    ),
    rule(
        "nullable",
        "`nullable: true` on anything but a property that is neither an enum nor an object",
        schemas::nullables,
    ),
    rule("openapi-version", "a document of another version than OpenAPI 3.0", keywords::openapi_version),
    rule("operation-id", "an operation without a unique id", operations::ids),
    rule(
        "parameter",
        "an unsupported or duplicate parameter, one of a path that the path does not have, or one that is required and replaceable",
        requests::parameters,
    ),
    rule("path", "an invalid path, or one without the prefix that a cited clause names", paths::run),
    rule("pattern", "a `pattern` that contradicts the `x-format` and `x-port` beside it", patterns::run),
    rule("prose", "a text that contradicts a limit, default or value of the document", prose::run),
    rule(
        "reference",
        "a `$ref` to an unknown part or one of another kind, or with keywords beside it",
        references::references,
    ),
    rule(
        "request-object",
        "an object inside a request that has no name, or an object of a request that a response holds as well",
        requests::objects,
    ),
    rule("required", "an unknown property or a duplicate in `required`", schemas::required),
    rule(
        "response",
        "an operation without exactly one success response and one error schema, or a body where HTTP has none",
        operations::responses,
    ),
    rule(
        "retry",
        "an operation that does not say whether it may be repeated, or that cannot be repeated as it says",
        operations::retries,
    ),
    rule(
        "security",
        "an operation without a security scheme, or an unknown or unsupported scheme",
        operations::security,
    ),
    rule(
        "uncited-clause",
        "an observable clause that no part of the document cites",
        references::uncited_clauses,
    ),
    rule("unknown-keyword", "an unknown keyword or `x-` extension", keywords::unknown),
    rule(
        "unsupported-keyword",
        "a keyword of OpenAPI that a generator drops, panics on or does not enforce",
        keywords::unsupported,
    ),
    rule("untyped", "a schema without a supported type, or an array without items", schemas::untyped),
    rule("unused-component", "a component that no operation uses", references::unused_components),
    rule("wrong-value", "a value of another type than its keyword has", keywords::values),
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
