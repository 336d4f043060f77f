//! The rules, which are texts, and the programs of their cases.

use std::sync::LazyLock;

use super::relation::Relation;
use super::row::{Row, cases, fact, read};
use super::search::searches::case;
use super::{all, extract, groups, plain, search, template};
use crate::check::{Case, Check, Cost, ObservedExchange, PassiveFinding, Run, Scope, Stop};
use crate::contract::{Clause, Contract, OperationId};
use crate::target::{Fact, Facts};

/// A rule is its id with the clauses that it is about and the facts that it needs, what a conforming service does, and what goes wrong
/// for users otherwise. Below it may stand rows that test it. README.md says more.
fn texts() -> impl Iterator<Item = (Option<OperationId>, &'static str)> {
    let texts = [
        (None, include_str!("all/rules.txt")),
        (Some(OperationId::Extract), include_str!("extract/rules.txt")),
        (Some(OperationId::Groups), include_str!("groups/rules.txt")),
        (Some(OperationId::Search), search::rules()),
    ];
    texts.into_iter()
}

/// The id of a rule, and how it is tested beside its rows.
pub(super) type Program = (&'static str, Run);

/// The checks of the rules, sorted by id in each text. A test finds a rule that can't be read or is not tested.
pub(super) static CHECKS: LazyLock<Vec<Check>> = LazyLock::new(|| {
    let rules =
        texts().flat_map(|(operation, text)| blocks(text).filter_map(move |block| check(operation, block)));
    rules.collect()
});

static PROGRAMS: &[&[&[Program]]] =
    &[all::PROGRAMS, extract::PROGRAMS, &[groups::PROGRAMS], search::PROGRAMS];

fn programs() -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().copied().flatten().copied().flatten()
}

/// The text of each rule.
pub(super) fn blocks(text: &'static str) -> impl Iterator<Item = &'static str> {
    let is_rule = |block: &&str| !block.is_empty() && !block.starts_with('#');
    text.split("\n\n").map(str::trim_end).filter(is_rule)
}

/// None when it or one of its rows has a mistake, or nothing tests it.
fn check(operation: Option<OperationId>, block: &'static str) -> Option<Check> {
    let id = block.split(' ').next()?;
    let program = programs().find(|(known, _)| *known == id).map(|(_, run)| *run);
    let scope = Scope { contract: Contract::embedded().ok()?, facts: &Facts::default() };
    let is_stated = !rows(operation, block, &scope)?.is_empty() | !searches(block)?.is_empty();
    tested(operation, block, program.or_else(|| is_stated.then_some(Run::STATED))?)
}

fn tested(operation: Option<OperationId>, block: &'static str, run: Run) -> Option<Check> {
    let mut lines = block.lines();
    let (id, rest) = lines.next()?.split_once(" [")?;
    let (clauses, needs) = rest.split_once(']')?;
    let clauses: Vec<Clause> = clauses.split(' ').map(Clause::from_id).collect::<Option<_>>()?;
    let needs = needs.strip_prefix(" needs ").unwrap_or(needs).split_terminator(' ');
    let needs: Vec<Fact> = needs.map(fact).collect::<Option<_>>()?;
    let (title, why) = (lines.next()?.trim_start(), lines.next()?.trim_start());
    let (clauses, needs) = (clauses.leak(), needs.leak());
    Some(Check { id, title, why, operation, clauses, needs, run, stated })
}

/// A rule that is no part of a plan. A test finds one that can't be read.
pub(crate) fn apart(operation: OperationId, id: &str, run: Run) -> Check {
    let mut rules = blocks(include_str!("apart.txt")).filter(|block| block.split(' ').next() == Some(id));
    rules.next().and_then(|block| tested(Some(operation), block, run)).unwrap_or(Check::TEMPLATE)
}

/// What stands below a rule; other lines are comments.
fn lines(text: &'static str) -> impl Iterator<Item = &'static str> {
    let lines = text.lines().map(str::trim_start);
    lines.filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// The text below a rule.
fn below(block: &'static str) -> &'static str {
    block.splitn(4, '\n').nth(3).unwrap_or_default()
}

fn is_of_searches(line: &str) -> bool {
    line.split(' ').next().and_then(Relation::of_rows).is_some()
}

/// The rows of the text of a rule; none when one of them has a mistake.
fn rows(operation: Option<OperationId>, block: &'static str, scope: &Scope<'_>) -> Option<Vec<Row>> {
    let rows = template::filled(below(block), scope).ok()?;
    read(operation, lines(rows).filter(|line| !is_of_searches(line)), scope.contract)
}

/// The cases of searches in the text of a rule; none when one of them has a mistake.
fn searches(block: &'static str) -> Option<Vec<Case>> {
    lines(below(block)).filter(|line| is_of_searches(line)).map(case).collect()
}

/// The cases of the rows below the rule of a check.
pub(super) fn stated(check: &Check, scope: &Scope<'_>) -> Vec<Case> {
    let is_of = |block: &&str| block.split(' ').next() == Some(check.id);
    let mut blocks = texts().flat_map(|(_, text)| blocks(text));
    let Some(block) = blocks.find(is_of).or_else(|| plain::rule(check)) else { return Vec::new() };
    let read = || Some((rows(check.operation, block, scope)?, searches(block)?));
    let Some((rows, searches)) = read() else {
        return vec![Case::from_closure("", Cost::default(), |_| Box::pin(async { Err(unreadable()) }))];
    };
    let rows = check.clauses.first().map(|clause| cases(*clause, rows));
    rows.into_iter().flatten().chain(searches).collect()
}

/// Rows may have values of facts, so that some can't be read in one run alone.
fn unreadable() -> Stop {
    Stop::Error("its rows can't be read with the facts of this run; this is a bug of the suite".to_owned())
}

/// A rule that is tested by the requests of its cases.
pub(super) const fn active(id: &'static str, cases: fn(&Scope<'_>) -> Vec<Case>) -> Program {
    (id, Run::Cases(cases))
}

/// A rule whose cases come before those of all others.
pub(super) const fn first(id: &'static str, cases: fn(&Scope<'_>) -> Vec<Case>) -> Program {
    (id, Run::FirstCases(cases))
}

/// A rule that all exchanges are judged by.
pub(super) const fn passive(
    id: &'static str,
    judge: fn(&ObservedExchange<'_>) -> Option<Vec<PassiveFinding>>,
) -> Program {
    (id, Run::Passive(judge))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::checks::extract::FLOWS;
    use crate::contract::{Input, Place, part};
    use crate::explore;
    use crate::target::{GatewayPool, RejectedToken, RejectionReason, Secret};

    #[test]
    fn each_rule_is_tested_and_each_program_has_one() {
        let ids = texts().flat_map(|(_, text)| blocks(text)).filter_map(|block| block.split(' ').next());
        let ids: Vec<_> = ids.collect();
        assert!(ids.is_sorted_by(|one, other| one < other), "the rules are not sorted by id");
        let mut known = BTreeSet::new();
        for (id, _) in programs() {
            assert!(ids.contains(id) && known.insert(id), "{id} has no rule of its own");
        }
        let scope = Scope { contract: Contract::embedded().expect("contract"), facts: &Facts::default() };
        let mut flows: BTreeSet<_> = FLOWS.iter().map(|(name, ..)| *name).collect();
        for (operation, block) in texts().flat_map(|(of, text)| blocks(text).map(move |block| (of, block))) {
            let rows =
                template::filled(below(block), &scope).unwrap_or_else(|error| panic!("{block}: {error:#}"));
            let mut common = "";
            for line in lines(rows).filter(|line| !is_of_searches(line)) {
                if line.starts_with("every row | ") {
                    common = line;
                } else {
                    flows.remove(line.split(' ').next().unwrap_or_default());
                    let rows = [common, line].into_iter().filter(|line| !line.is_empty());
                    assert!(read(operation, rows, scope.contract).is_some(), "the row can't be read: {line}");
                }
            }
        }
        assert!(flows.is_empty(), "no row begins with {flows:?}");
        let read = CHECKS.iter().map(|check| check.id);
        assert!(read.eq(ids), "a rule can't be read, or nothing tests it");
        let apart = [&*explore::RELATIONS, &extract::discovery::DISCOVERY, &search::discovery::DISCOVERY];
        assert!(apart.iter().all(|check| !check.id.is_empty()), "a rule of apart.txt can't be read");
    }

    /// Signs of rows and templates in values of facts are no such signs.
    #[test]
    fn each_rule_can_be_read_whatever_the_facts_are() {
        let contract = Contract::embedded().expect("contract");
        let counted = |behind: &str| -> Vec<Option<usize>> {
            let region = |region: &str| format!("{region}{behind}");
            let pool =
                GatewayPool { region: region("other"), protocol: "http".to_owned(), gateways: Vec::new() };
            let note = format!("note{behind}");
            let rejected =
                RejectedToken { token: Secret::new("A", "a"), reason: RejectionReason::Revoked, note };
            let facts = Facts {
                plentiful_region: Some(region("plentiful")),
                scarce_region: Some(region("scarce")),
                empty_region: Some(region("empty")),
                entitled_protocols: contract.extract.protocols.clone(),
                egress_ip: Some([203, 0, 113, 1].into()),
                known_gateways: vec![pool],
                rejected_tokens: vec![rejected],
                ..Facts::default()
            };
            let scope = Scope { contract, facts: &facts };
            let rules = texts().flat_map(|(of, text)| blocks(text).map(move |block| (of, block)));
            rules.map(|(of, block)| Some(rows(of, block, &scope)?.len())).collect()
        };
        let plain = counted("");
        assert!(plain.iter().all(Option::is_some));
        for odd in [" | a | b", "×2", "\r\nreject a | b", "{{ a }}", "\" |", "# a", "a: b"] {
            assert_eq!(counted(odd), plain, "{odd}");
        }
    }

    #[test]
    fn each_parameter_of_an_extraction_is_in_a_row() {
        let contract = Contract::embedded().expect("contract");
        let rows: Vec<_> = texts().map(|(_, text)| text).collect();
        let rows = rows.concat();
        let is_sent = |parameter: &&Input| match parameter.place {
            Place::Query => rows.contains(&format!(" {}=", parameter.name)),
            place => place == Place::Header && parameter.name == part::REQUEST_ID_HEADER,
        };
        let unsent = contract.extract.operation.parameters.iter().find(|parameter| !is_sent(parameter));
        assert!(unsent.is_none(), "no row sends {unsent:?}");
        // The inputs of a search are members of its body, for which the template makes rows.
        assert!(contract.search.operation.parameters.is_empty());
    }
}
