//! Lists who enforces each constraint of the document, or why nobody does.

mod page;
mod raw;
mod waivers;

use crate::{
    artifact::Artifact,
    document::{Document, join},
    model::{Check, Constraint, Contract, Side},
    problem::Problem,
};

const PATH: &str = "openapi/LEDGER.md";

/// A constraint and who enforces it.
#[derive(Debug)]
struct Entry {
    constraint: Constraint,
    server: Enforcement,
    client: Enforcement,
    /// Ids of the checks that cite one of its clauses and run for its operation.
    checks: Vec<String>,
}

/// Who enforces a constraint, on one side.
#[derive(Debug, PartialEq, Eq)]
enum Enforcement {
    /// This generated or called item.
    Item(String),
    /// Nobody, for this reason.
    Waived(&'static str),
    /// Nobody, without a reason.
    Nobody,
}

/// The generated or called item that enforces a constraint, if there is one.
type Enforcer = fn(&Constraint) -> Option<String>;

/// The ledger as a page. `enforcers` are those of the server and of the client.
///
/// Fails when a keyword of the document belongs to no operation, when a constraint is neither enforced nor waived, and when
/// a waiver covers nothing.
pub(crate) fn emit(
    document: &Document,
    contract: &Contract,
    checks: &[Check],
    enforcers: [Enforcer; 2],
) -> Result<Artifact, Vec<Problem>> {
    let entries = entries(contract.constraints(), checks, enforcers);
    let mut problems = raw::unaccounted(document, &entries);
    problems.extend(entries.iter().flat_map(|entry| unenforced(document, entry)));
    problems.extend(entries.iter().flat_map(|entry| judged(document, entry)));
    problems.extend(waivers::unused(&entries).into_iter().map(|(waiver, keyword)| {
        let message = format!("unused waiver for `{keyword}` at `{}`", waiver.at);
        document.problem("", message, "remove it from xtask/src/ledger/waivers.rs")
    }));
    if problems.is_empty() {
        return Ok(Artifact { path: PATH, contents: page::render(&entries) });
    }
    Problem::sort(&mut problems);
    Err(problems)
}

fn entries(constraints: Vec<Constraint>, checks: &[Check], [server, client]: [Enforcer; 2]) -> Vec<Entry> {
    let entry = |constraint: Constraint| Entry {
        server: server(&constraint).map_or(Enforcement::Nobody, Enforcement::Item),
        client: client(&constraint)
            .map(Enforcement::Item)
            .unwrap_or_else(|| waivers::reason(&constraint).map_or(Enforcement::Nobody, Enforcement::Waived)),
        checks: checks
            .iter()
            .filter(|check| check.clauses.iter().any(|clause| constraint.clauses.contains(clause)))
            .filter(|check| check.operation.as_ref().is_none_or(|id| *id == constraint.operation))
            .map(|check| check.id.clone())
            .collect(),
        constraint,
    };
    constraints.into_iter().map(entry).collect()
}

/// Problems for the sides on which the constraint is neither enforced nor waived.
fn unenforced(document: &Document, entry: &Entry) -> Vec<Problem> {
    let Constraint { keyword, value, at, pointer, operation, side, .. } = &entry.constraint;
    let problem = |who: &str| {
        let place = raw::place(document, &entry.constraint);
        let mut problem = document.problem(
            place.unwrap_or_else(|| join(pointer, keyword)),
            match side {
                Side::Request => format!("the {who} does not enforce `{keyword}: {value}` at {at}"),
                Side::Response => format!("the {who} does not handle `{keyword}: {value}` at {at}"),
            },
            format!(
                "express it with a supported keyword, generate it in xtask/src/emit/{who}, or waive it in \
                 xtask/src/ledger/waivers.rs"
            ),
        );
        problem.operation = Some(operation.clone());
        problem
    };
    let sides = [(&entry.server, "server"), (&entry.client, "client")].into_iter();
    sides.filter(|(by, _)| **by == Enforcement::Nobody).map(|(_, who)| problem(who)).collect()
}

/// Problems for checks of a decision of this repository: another service may decide otherwise.
fn judged(document: &Document, entry: &Entry) -> Vec<Problem> {
    let Entry { constraint, checks, .. } = entry;
    if !constraint.is_own_decision() {
        return Vec::new();
    }
    let problem = |check: &String| {
        let Constraint { keyword, value, at, pointer, .. } = constraint;
        let message =
            format!("the check {check} cites `{keyword}: {value}` at {at}, which the contract leaves open");
        document.problem(
            join(pointer, keyword),
            message,
            "record it with `probe.observe`; checks cite only clauses of the contract",
        )
    };
    checks.iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        emit::{client, server},
        fixture::{contract as document, edited},
    };

    fn check(id: &str, clause: &str, operation: Option<&str>) -> Check {
        let (clauses, operation) = (vec![clause.to_owned()], operation.map(str::to_owned));
        Check { id: id.to_owned(), title: String::new(), clauses, operation }
    }

    fn ledger(document: &Document) -> Result<Artifact, Vec<Problem>> {
        let check = check("extract.num.range", "extract.num-range", Some("extractProxies"));
        emitted(document, &Contract::read(document).unwrap(), &[check])
    }

    fn emitted(document: &Document, contract: &Contract, checks: &[Check]) -> Result<Artifact, Vec<Problem>> {
        emit(document, contract, checks, [server::enforces, client::enforces])
    }

    #[test]
    fn every_constraint_of_the_document_is_enforced_or_waived() {
        let page = ledger(&document()).map_err(|problems| Problem::list(&problems)).unwrap().contents;
        let row = page
            .lines()
            .find(|line| line.contains("`query num`") && line.contains("`maximum: 100`"))
            .unwrap();
        assert!(row.contains("extract.num-range") && row.contains("extract.num.range"), "{row}");
    }

    #[test]
    fn a_decision_of_this_repository_is_enforced_and_not_checked() {
        let document = document();
        let contract = Contract::read(&document).unwrap();
        let page = emitted(&document, &contract, &[]).unwrap().contents;
        let at = ["`query request_id`", "`header X-Request-Id`"];
        for row in at
            .map(|at| page.lines().find(|row| row.contains(at) && row.contains("x-max-utf8-bytes")).unwrap())
        {
            let cells: Vec<_> = row.split(" | ").collect();
            assert_eq!(cells[3], "`open.extract.request-id-length`");
            assert!(cells[4].contains("`edge::types::text`") && cells[5].contains("::validate"), "{row}");
            assert_eq!(cells[6].trim_end_matches(" |"), format!("waived: {}", waivers::OPEN));
        }
        let check = check("extract.request-id.length", "open.extract.request-id-length", None);
        let problems = emitted(&document, &contract, &[check]).unwrap_err();
        assert!(problems.iter().all(|problem| problem.message.contains("leaves open")), "{problems:?}");
        assert_eq!(problems.len(), 2);
    }

    #[test]
    fn a_constraint_of_no_operation_is_a_problem() {
        let unreachable = "«→    Lost:\n      type: string\n      maxLength: 7\n»    ReturnType:\n";
        let problems = ledger(&edited(unreachable)).unwrap_err();
        assert!(problems.iter().any(|problem| problem.pointer == "/components/schemas/Lost/maxLength"));
    }
}
