use std::fmt::Write as _;

use sallyport_conformance::contract::{Clause, OperationId};
use sallyport_conformance::explain::Explanation;
use sallyport_conformance::report::quantity;
use sallyport_conformance::{Check, Contract, Verdict, registry};

use super::UsageError;
use super::arguments::ListFormat;
use super::lab::unknown;
use super::output::{print, print_list};

/// `conformance list`.
pub(crate) fn list(format: ListFormat) -> Result<Verdict, UsageError> {
    let object = |check: &&Check| {
        serde_json::json!({
            "id": check.id,
            "title": check.title,
            "clauses": check.clauses,
            "operation": check.operation,
            "operationId": check.operation.map(OperationId::document_id),
        })
    };
    let line = |check: &&Check| {
        let clauses: Vec<&str> = check.clauses.iter().map(|clause| clause.id()).collect();
        format!("{}  {}  [{}]\n", check.id, check.title, clauses.join(", "))
    };
    print_list(&registry(), format == ListFormat::Json, object, line)
}

/// `conformance docs`.
#[cfg(feature = "embedded")]
pub(crate) fn docs() -> Result<Verdict, UsageError> {
    print(&sallyport_conformance::embedded::contract_page());
    Ok(Verdict::Conforms)
}

/// `conformance docs`: the page comes with the server.
#[cfg(not(feature = "embedded"))]
pub(crate) fn docs() -> Result<Verdict, UsageError> {
    Err(super::run::NO_EMBEDDED_SERVER.into())
}

/// `conformance explain`.
pub(crate) fn explain(id: &str) -> Result<Verdict, UsageError> {
    #[cfg(feature = "embedded")]
    if let Some(text) = super::client::explained(id) {
        print(&text);
        return Ok(Verdict::Conforms);
    }
    let contract = Contract::embedded()?;
    if let Some(check) = registry().into_iter().find(|check| check.id == id) {
        let mut text = format!("{id}\n  {}\n\nWhat goes wrong\n  {}\n\nIt cites\n", check.title, check.why);
        for clause in check.clauses {
            let _ = writeln!(text, "  {}  {}", clause.id(), contract.catalogue.clause(*clause).text);
        }
        let needs = check.needs.iter().map(|fact| format!("  {fact}\n")).collect::<String>();
        if !needs.is_empty() {
            let _ = write!(text, "\nIt needs\n{needs}");
        }
        print(&text);
        return Ok(Verdict::Conforms);
    }
    let Some(clause) = Clause::from_id(id) else {
        let clauses = Clause::ALL.iter().map(|clause| clause.id().to_owned());
        let checks = registry().into_iter().map(|check| check.id.to_owned());
        #[cfg(feature = "embedded")]
        let (cases, lists) = (
            super::client::explained_ids(),
            "`conformance list` names the checks with their clauses, `conformance client --list` the cases of clients",
        );
        #[cfg(not(feature = "embedded"))]
        let (cases, lists) = (Vec::new(), "`conformance list` names the checks with their clauses");
        #[cfg(not(feature = "embedded"))]
        if id.starts_with("client.") {
            return Err(super::run::NO_EMBEDDED_SERVER.into());
        }
        let known: Vec<String> = clauses.chain(checks).chain(cases).collect();
        return Err(unknown("clause, check or case", id, known.iter().map(String::as_str), lists));
    };
    let Explanation { clause, sample, checks } = Explanation::new(contract, clause);
    let mut text = format!(
        "{} (section {}; openapi/openapi.yaml line {})\n\n  \u{201c}{}\u{201d}\n\n",
        clause.id, clause.section, clause.line, clause.text
    );
    if let Some(from) = &clause.inferred {
        let _ = writeln!(text, "It is inferred from {from}\n");
    }
    if let Some(from) = &clause.inferred_null {
        let _ = writeln!(text, "What it says of null is inferred from {from}\n");
    }
    if let Some(reason) = &clause.reason {
        let _ = writeln!(text, "It cannot be observed over HTTP\n  {reason}\n");
    }
    let _ = writeln!(
        text,
        "A request that a conforming service accepts\n  {sample}\n\n{}",
        quantity(checks.len(), "check")
    );
    for check in checks {
        let _ = writeln!(text, "  {}  {}\n      {}", check.id, check.title, check.why);
        for fact in check.needs {
            let _ = writeln!(text, "      needs {fact}");
        }
    }
    print(&text);
    Ok(Verdict::Conforms)
}
