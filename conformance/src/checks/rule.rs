//! The rules, which are texts, and the programs of their cases.

use std::sync::LazyLock;

use super::{all, extract, groups, search};
use crate::check::{Case, Check, ObservedExchange, PassiveFinding, Run, Scope};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

/// A rule is its id with the clauses that it is about and the facts that it needs, what a conforming service does, and what goes wrong
/// for users otherwise. README.md says more.
const TEXTS: [(Option<OperationId>, &str); 4] = [
    (None, include_str!("all/rules.txt")),
    (Some(OperationId::Extract), include_str!("extract/rules.txt")),
    (Some(OperationId::Groups), include_str!("groups/rules.txt")),
    (Some(OperationId::Search), include_str!("search/rules.txt")),
];

/// How the rule with this id is tested.
pub(super) struct Program {
    id: &'static str,
    run: Run,
}

/// The checks of the rules, sorted by id in each text. A test finds a rule that can't be read or has no program, and a program without
/// rule.
pub(super) static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let rules = TEXTS
        .into_iter()
        .flat_map(|(operation, text)| blocks(text).filter_map(move |block| check(operation, block)));
    rules.collect()
});

static PROGRAMS: &[&[&[Program]]] =
    &[all::PROGRAMS, extract::PROGRAMS, &[groups::PROGRAMS], search::PROGRAMS];

fn programs() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().copied().flatten().copied().flatten()
}

/// The text of each rule.
fn blocks(text: &'static str) -> impl Iterator<Item = &'static str> {
    let is_rule = |block: &&str| !block.is_empty() && !block.starts_with('#');
    text.split("\n\n").map(str::trim_end).filter(is_rule)
}

/// None when it has a mistake, or no program.
fn check(operation: Option<OperationId>, block: &'static str) -> Option<Check> {
    let mut lines = block.lines();
    let (id, rest) = lines.next()?.split_once(" [")?;
    let (clauses, needs) = rest.split_once(']')?;
    let clauses: Vec<Clause> = clauses.split(' ').map(Clause::from_id).collect::<Option<_>>()?;
    let needs = needs.strip_prefix(" needs ").unwrap_or(needs).split_terminator(' ');
    let needs: Vec<Fact> = needs.map(fact).collect::<Option<_>>()?;
    let (title, why) = (lines.next()?.trim_start(), lines.next()?.trim_start());
    let run = programs().find(|program| program.id == id).filter(|_| lines.next().is_none())?.run;
    let (clauses, needs) = (clauses.leak(), needs.leak());
    Some(Check { id, title, why, operation, clauses, needs, run })
}

/// The fact with this key in the configuration.
fn fact(key: &str) -> Option<Fact> {
    let variable = format!("SALLYPORT_{}", key.to_uppercase().replace('-', "_"));
    Fact::ALL.into_iter().find(|fact| fact.variable() == variable)
}

/// A rule that is tested by the requests of its cases.
pub(super) const fn active(id: &'static str, cases: fn(&Scope<'_>) -> Vec<Case>) -> Program {
    Program { id, run: Run::Cases(cases) }
}

/// A rule whose cases come before those of all others.
pub(super) const fn first(id: &'static str, cases: fn(&Scope<'_>) -> Vec<Case>) -> Program {
    Program { id, run: Run::FirstCases(cases) }
}

/// A rule that all exchanges are judged by.
pub(super) const fn passive(
    id: &'static str,
    judge: fn(&ObservedExchange<'_>) -> Option<Vec<PassiveFinding>>,
) -> Program {
    Program { id, run: Run::Passive(judge) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_one_program() {
        let ids =
            TEXTS.into_iter().flat_map(|(_, text)| blocks(text)).filter_map(|block| block.split(' ').next());
        let mut ids: Vec<_> = ids.collect();
        let mut programs: Vec<_> = programs().map(|program| program.id).collect();
        assert!(ids.is_sorted_by(|one, other| one < other), "the rules are not sorted by id");
        programs.sort_unstable();
        ids.sort_unstable();
        assert_eq!(ids, programs);
        assert_eq!(CHECKS.len(), ids.len(), "a rule can't be read");
    }
}
