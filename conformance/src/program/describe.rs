use std::fmt::Write as _;

use sallyport_conformance::contract::{Clause, Unspecified};
use sallyport_conformance::explain::Explanation;
use sallyport_conformance::report::quantity;
use sallyport_conformance::run::Glob;
use sallyport_conformance::{Check, Contract, Verdict, registry};

use super::UsageError;
use super::arguments::ListFormat;
use super::lab::unknown;
use super::output::{print, print_list};

/// `conformance list`.
pub(crate) fn list(format: ListFormat) -> Result<Verdict, UsageError> {
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

/// `conformance explain`: a clause, an unspecified behaviour, a check, or a duty of callers and its cases; with `*` in the id, a
/// line for each of these that it matches.
pub(crate) fn explain(id: &str) -> Result<Verdict, UsageError> {
    let contract = Contract::embedded()?;
    let known = known(contract);
    let text = if id.contains('*') {
        let glob = Glob::new(id);
        let matching = known.iter().filter(|(known, _)| glob.matches(known));
        Some(matching.map(|(id, text)| format!("{id}  {text}\n")).collect())
            .filter(|text: &String| !text.is_empty())
    } else {
        explained(contract, id)
    };
    #[cfg(not(feature = "embedded"))]
    if text.is_none() && id.starts_with("client.") {
        return Err(super::run::NO_EMBEDDED_SERVER.into());
    }
    let lists = "`conformance explain '*'` lists them";
    let text = text.ok_or_else(|| {
        unknown("clause, check or case", id, known.iter().map(|(known, _)| known.as_str()), lists)
    })?;
    print(&text);
    Ok(Verdict::Conforms)
}

/// The ids that can be explained, each with a sentence.
fn known(contract: &'static Contract) -> Vec<(String, String)> {
    let Contract { catalogue, .. } = contract;
    let clauses = Clause::ALL.iter().map(|id| (id.id(), catalogue.clause(*id).text.as_str()));
    let open = Unspecified::ALL.iter().map(|id| (id.id(), catalogue.unspecified(*id).text.as_str()));
    let checks = registry().into_iter().map(|check| (check.id, check.title));
    let known = clauses.chain(open).chain(checks).map(|(id, text)| (id.to_owned(), text.to_owned()));
    #[cfg(feature = "embedded")]
    let known = known.chain(super::client::known());
    known.collect()
}

fn explained(contract: &'static Contract, id: &str) -> Option<String> {
    #[cfg(feature = "embedded")]
    if let Some(text) = super::client::explained(id) {
        return Some(text);
    }
    if let Some(open) = Unspecified::from_id(id) {
        let text = &contract.catalogue.unspecified(open).text;
        return Some(format!(
            "{id}\n\n  \u{201c}{text}\u{201d}\n\nThe contract leaves it open: it is recorded and never judged\n"
        ));
    }
    if let Some(check) = registry().into_iter().find(|check| check.id == id) {
        let mut text = format!("{id}\n  {}\n\nWhat goes wrong\n  {}\n\nIt cites\n", check.title, check.why);
        for clause in check.clauses {
            let _ = writeln!(text, "  {}  {}", clause.id(), contract.catalogue.clause(*clause).text);
        }
        let needs = check.needs.iter().map(|fact| format!("  {fact}\n")).collect::<String>();
        if !needs.is_empty() {
            let _ = write!(text, "\nIt needs\n{needs}");
        }
        return Some(text);
    }
    Some(of_clause(&Explanation::new(contract, Clause::from_id(id)?)))
}

fn of_clause(Explanation { clause, sample, checks }: &Explanation) -> String {
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
    let count = quantity(checks.len(), "check");
    let _ = writeln!(text, "A request that a conforming service accepts\n  {sample}\n\n{count}");
    for check in checks {
        let _ = writeln!(text, "  {}  {}\n      {}", check.id, check.title, check.why);
        for fact in check.needs {
            let _ = writeln!(text, "      needs {fact}");
        }
    }
    text
}
