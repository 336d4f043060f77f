//! From the document to files. An emitter neither reads nor writes the disk.

pub(crate) mod client;
mod conformance;
mod docs;
mod json_schema;
mod reference;
pub(crate) mod server;
pub(crate) mod texts;

use crate::{
    artifact::Artifact,
    document::Document,
    ledger,
    model::{Check, Contract},
    problem::Problem,
};

/// Everything that is compiled: the client's, the server's and the suite's share of the document, and the page that the
/// server shows.
pub(crate) fn code(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let mut artifacts = Vec::new();
    let mut problems = Vec::new();
    for emit in [client::emit, server::emit, docs::emit, conformance::emit] {
        match emit(document) {
            Ok(emitted) => artifacts.extend(emitted),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() {
        return Ok(artifacts);
    }
    Problem::sort(&mut problems);
    problems.dedup();
    Err(problems)
}

/// Where the suite and the document do not know of each other: an observable clause without a check, and a check that cites
/// an unknown clause.
pub(crate) fn unproven(document: &Document, checks: &[Check]) -> Vec<Problem> {
    let contract = match Contract::read(document) {
        Ok(contract) => contract,
        Err(problems) => return problems,
    };
    let mut problems = Vec::new();
    for (index, clause) in contract.clauses.iter().enumerate() {
        let is_cited = checks.iter().any(|check| check.clauses.contains(&clause.id));
        if clause.observable && !is_cited {
            let help = "add a check as conformance/src/checks/README.md describes, or write `observable: false` and a `reason`";
            let message = format!("no check of the suite cites the observable clause `{}`", clause.id);
            problems.push(document.problem(format!("/x-clauses/{index}"), message, help));
        }
    }
    for check in checks {
        for id in check.clauses.iter().filter(|id| !contract.clauses.iter().any(|clause| clause.id == **id)) {
            let message = format!("the check {} cites `{id}`, which is no clause of the document", check.id);
            problems.push(document.problem("/x-clauses", message, "add the clause, or change the check"));
        }
    }
    problems
}

/// The pages that also name the checks of the suite.
pub(crate) fn pages(document: &Document, checks: &[Check]) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    Ok(vec![
        reference::clauses(&contract, checks),
        reference::rules(),
        reference::changes(),
        ledger::emit(document, &contract, checks, [server::enforces, client::enforces])?,
    ])
}

#[cfg(test)]
mod tests;
