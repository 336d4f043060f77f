//! Commands that describe what is known without a target.

use sallyport_conformance::run::Glob;
use sallyport_conformance::{Check, Contract, explain, registry};

use super::UsageError;
use super::arguments::ListFormat;
use super::lab::unknown;
use super::output::listed;

pub(crate) fn list(format: ListFormat) -> Result<String, UsageError> {
    let contract = Contract::embedded()?;
    let object = |check: &&Check| {
        serde_json::json!({
            "id": check.id,
            "title": check.title,
            "clauses": check.clauses,
            "operation": check.operation,
            "operationId": check.operation.map(|id| &contract.operation(id).name),
        })
    };
    let line = |check: &&Check| {
        let clauses: Vec<&str> = check.clauses.iter().map(|clause| clause.id()).collect();
        format!("{}  {}  [{}]\n", check.id, check.title, clauses.join(", "))
    };
    listed(&registry(), format == ListFormat::Json, object, line)
}

/// `conformance explain`: a clause, an unspecified behaviour, a check, a duty or its cases; with `*`, a line for each that it matches.
pub(crate) fn explained(id: &str) -> Result<String, UsageError> {
    let contract = Contract::embedded()?;
    let known = explain::known(contract);
    let text = if id.contains('*') {
        let glob = Glob::new(id);
        let matching = known.iter().filter(|(known, _)| glob.matches(known));
        Some(matching.map(|(id, text)| format!("{id}  {text}\n")).collect())
            .filter(|text: &String| !text.is_empty())
    } else {
        explain::explain(contract, id)?
    };
    #[cfg(not(feature = "embedded"))]
    if text.is_none() && id.starts_with("client.") {
        return Err(super::run::NO_EMBEDDED_SERVER.into());
    }
    let lists = "`conformance explain '*'` lists them";
    text.ok_or_else(|| {
        unknown("clause, check or case", id, known.iter().map(|(known, _)| known.as_str()), lists)
    })
}
