//! Accounts for every constraint of the document: who enforces it, or why nobody does.

mod page;
mod raw;
mod waivers;

use crate::{
    artifact::Artifact,
    document::{Document, join},
    emit::{self, Check},
    model::{Constraint, Contract, Side},
    problem::Problem,
};

const PATH: &str = "openapi/LEDGER.md";

/// A constraint and its keepers.
#[derive(Debug)]
struct Entry {
    constraint: Constraint,
    server: Keeper,
    client: Keeper,
    /// Ids of the checks that cite one of its clauses.
    checks: Vec<String>,
}

/// Who keeps a constraint, on one side.
#[derive(Debug, PartialEq, Eq)]
enum Keeper {
    /// The generated or called item that does.
    Item(String),
    /// Nobody, for this reason.
    Waived(&'static str),
    /// Nobody, and nobody said why.
    Nobody,
}

/// The ledger as a page.
///
/// Fails when a keyword of the document reaches no operation, when a constraint has neither keeper nor waiver, and when
/// a waiver waives nothing.
pub(crate) fn emit(
    document: &Document,
    contract: &Contract,
    checks: &[Check],
) -> Result<Artifact, Vec<Problem>> {
    let entries = entries(contract.constraints(), checks);
    let mut problems = raw::unaccounted(document, &entries);
    problems.extend(entries.iter().flat_map(|entry| unkept(document, entry)));
    problems.extend(entries.iter().flat_map(|entry| judged(document, entry)));
    problems.extend(waivers::idle(&entries).into_iter().map(|(waiver, keyword)| {
        let message = format!("the waiver for `{keyword}` at `{}` waives nothing", waiver.at);
        document.problem("", message, "remove it from xtask/src/ledger/waivers.rs")
    }));
    if problems.is_empty() {
        return Ok(Artifact { path: PATH, contents: page::render(&entries) });
    }
    Problem::sort(&mut problems);
    Err(problems)
}

fn entries(constraints: Vec<Constraint>, checks: &[Check]) -> Vec<Entry> {
    let entry = |constraint: Constraint| Entry {
        server: keeper(&constraint, emit::server::enforces(&constraint), waivers::Keeping::Server),
        client: keeper(&constraint, emit::client::enforces(&constraint), waivers::Keeping::Client),
        checks: checks
            .iter()
            .filter(|check| check.clauses.iter().any(|clause| constraint.clauses.contains(clause)))
            .map(|check| check.id.clone())
            .collect(),
        constraint,
    };
    constraints.into_iter().map(entry).collect()
}

fn keeper(constraint: &Constraint, item: Option<String>, keeping: waivers::Keeping) -> Keeper {
    match item {
        Some(item) => Keeper::Item(item),
        None => waivers::reason(constraint, keeping).map_or(Keeper::Nobody, Keeper::Waived),
    }
}

/// Problems for the sides on which nobody keeps the constraint and no waiver says why.
fn unkept(document: &Document, entry: &Entry) -> Vec<Problem> {
    let Constraint { keyword, value, at, pointer, operation, side, .. } = &entry.constraint;
    let problem = |who: &str| {
        let place = raw::place(document, &entry.constraint);
        let verb = match side {
            Side::Request => "enforces",
            Side::Response => "keeps",
        };
        let mut problem = document.problem(
            place.unwrap_or_else(|| join(pointer, keyword)),
            format!("the {who} generator {verb} no `{keyword}: {value}` at {at}"),
            format!(
                "express it otherwise, teach xtask/src/emit/{who}, or waive it in xtask/src/ledger/waivers.rs"
            ),
        );
        problem.operation = Some(operation.clone());
        problem
    };
    let sides = [(&entry.server, "server"), (&entry.client, "client")];
    sides.into_iter().filter(|(keeper, _)| **keeper == Keeper::Nobody).map(|(_, who)| problem(who)).collect()
}

/// Problems for checks that judge what is a decision of this repository: another environment may decide otherwise.
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
            "record it with `probe.observe`; a check cites stated clauses",
        )
    };
    checks.iter().map(problem).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(edit: impl Fn(&str) -> String) -> Document {
        Document::parse(&edit(include_str!("../../../openapi/openapi.yaml"))).unwrap()
    }

    fn ledger(document: &Document) -> Result<Artifact, Vec<Problem>> {
        let check = Check {
            id: "extract.num.range".into(),
            title: String::new(),
            clauses: vec!["extract.num-range".into()],
        };
        emit(document, &Contract::read(document).unwrap(), &[check])
    }

    #[test]
    fn every_constraint_of_the_document_is_kept_or_waived() {
        let page = ledger(&document(str::to_owned))
            .map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"));
        let page = page.unwrap().contents;
        let row = page
            .lines()
            .find(|line| line.contains("`query num`") && line.contains("`maximum: 100`"))
            .unwrap();
        assert!(row.contains("extract.num-range") && row.contains("extract.num.range"), "{row}");
    }

    #[test]
    fn a_decision_of_our_own_is_kept_by_server_and_client_and_judged_by_no_check() {
        let document = document(str::to_owned);
        let contract = Contract::read(&document).unwrap();
        let page = emit(&document, &contract, &[]).unwrap().contents;
        let at = ["`query request_id`", "`header X-Request-Id`"];
        for row in at
            .map(|at| page.lines().find(|row| row.contains(at) && row.contains("x-max-utf8-bytes")).unwrap())
        {
            let cells: Vec<_> = row.split(" | ").collect();
            assert_eq!(cells[3], "`open.extract.request-id-length`");
            assert!(cells[4].contains("`edge::types::text`") && cells[5].contains("::check"), "{row}");
            assert_eq!(cells[6].trim_end_matches(" |"), format!("waived: {}", waivers::OPEN));
        }
        let judge = Check {
            id: "extract.request-id.length".into(),
            title: String::new(),
            clauses: vec!["open.extract.request-id-length".into()],
        };
        let problems = emit(&document, &contract, &[judge]).unwrap_err();
        assert!(problems.iter().all(|problem| problem.message.contains("leaves open")), "{problems:?}");
        assert_eq!(problems.len(), 2);
    }

    #[test]
    fn a_constraint_that_no_operation_reaches_is_a_problem() {
        let unreachable = document(|text| {
            text.replace(
                "    ReturnType:\n",
                "    Lost:\n      type: string\n      maxLength: 7\n    ReturnType:\n",
            )
        });
        let problems = ledger(&unreachable).unwrap_err();
        assert!(problems.iter().any(|problem| problem.pointer == "/components/schemas/Lost/maxLength"));
    }
}
