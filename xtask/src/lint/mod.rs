//! Rejects what a generator would drop, ignore or panic on. One rule per file; each checks the whole document.

mod bounds;
mod citations;
mod clause_order;
mod defaults;
mod deprecations;
mod enums;
mod examples;
mod extensions;
mod fits;
mod grammar;
mod large_integers;
mod misplaced;
mod missing;
mod names;
mod nullables;
mod objects;
mod openapi_version;
mod operation_ids;
mod parameters;
mod paths;
mod patterns;
mod prose;
mod references;
mod required;
mod responses;
mod retries;
mod security;
mod uncited;
mod unknown_keywords;
mod unsupported_keywords;
mod untyped;
mod unused;
mod users;
mod values;
mod words;

use crate::{document::Document, problem::Problem};

pub(crate) use grammar::{Node, Part, walk};

/// A rule that the document must follow.
pub(crate) struct Rule {
    /// Stable id of the rule.
    pub(crate) id: &'static str,
    /// What the rule rejects, in a few words.
    pub(crate) rejects: &'static str,
    run: fn(&mut Lint<'_>),
}

/// Every rule, sorted by id.
pub(crate) const RULES: &[Rule] = &[
    bounds::RULE,
    citations::RULE,
    clause_order::RULE,
    defaults::RULE,
    deprecations::RULE,
    enums::RULE,
    examples::RULE,
    extensions::RULE,
    large_integers::RULE,
    misplaced::RULE,
    missing::RULE,
    names::RULE,
    nullables::RULE,
    openapi_version::RULE,
    operation_ids::RULE,
    parameters::RULE,
    paths::RULE,
    patterns::RULE,
    prose::RULE,
    references::RULE,
    objects::RULE,
    required::RULE,
    responses::RULE,
    retries::RULE,
    security::RULE,
    uncited::RULE,
    unknown_keywords::RULE,
    unsupported_keywords::RULE,
    untyped::RULE,
    unused::RULE,
    values::RULE,
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
                problem.operation.or_else(|| users::operations(document, &lint.nodes, &problem.pointer));
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
        let own = |node: &&Node<'_>| node.part == part && node.value.get("$ref").is_none();
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
