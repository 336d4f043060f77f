use std::fmt::Write as _;

use sallyport_conformance::config::nearest;
use sallyport_conformance::contract::{Clause, OperationId};
use sallyport_conformance::explain::Explanation;
use sallyport_conformance::report::quantity;
use sallyport_conformance::{Check, Contract, Verdict, registry};

use super::UsageError;
use super::arguments::ListFormat;
use super::run::print;

/// `conformance list`.
pub(crate) fn list(format: ListFormat) -> Result<Verdict, UsageError> {
    let checks = registry();
    let mut text = String::new();
    match format {
        ListFormat::Text => {
            for check in checks {
                let _ = writeln!(text, "{}  {}  [{}]", check.id, check.title, joined(check.clauses, ", "));
            }
        }
        ListFormat::Json => {
            let checks: Vec<_> = checks
                .iter()
                .map(|check| {
                    serde_json::json!({
                        "id": check.id,
                        "title": check.title,
                        "clauses": check.clauses,
                        "operation": check.operation,
                        "operationId": operation_of(check),
                    })
                })
                .collect();
            let _ = writeln!(text, "{}", serde_json::to_string_pretty(&checks)?);
        }
    }
    print(&text);
    Ok(Verdict::Conforms)
}

/// The `operationId` of the operation whose requests a check sends or judges; none when it takes those of all. A check that was
/// written for an operation of the document without checks of its own has its prefix.
fn operation_of(check: &Check) -> Option<&'static str> {
    let prefix = check.id.split('.').next().unwrap_or_default();
    let mut others = Contract::embedded().into_iter().flat_map(|contract| &contract.others);
    let other = others.find(|other| other.operation.id.prefix() == prefix);
    check.operation.or(other.map(|other| other.operation.id)).map(OperationId::document_id)
}

fn joined(clauses: &[Clause], separator: &str) -> String {
    clauses.iter().map(|clause| clause.id()).collect::<Vec<_>>().join(separator)
}

/// `conformance explain`.
pub(crate) fn explain(id: &str) -> Result<Verdict, UsageError> {
    #[cfg(feature = "embedded")]
    if let Some(text) = super::client::explained(id) {
        print(&text);
        return Ok(Verdict::Conforms);
    }
    let contract = Contract::embedded()?;
    let Some(clause) = Clause::from_id(id) else {
        let known = || Clause::ALL.iter().map(|clause| clause.id());
        // The id of a check is a likely mistake.
        let of_check = registry().into_iter().find(|check| check.id == id);
        let advice = match (of_check, nearest(id, known())) {
            (Some(check), _) => format!("it is a check; it cites {}", joined(check.clauses, " and ")),
            (None, Some(nearest)) => format!("did you mean `{nearest}`?"),
            (None, None) => format!("expected one of: {}", known().collect::<Vec<_>>().join(", ")),
        };
        return Err(format!("unknown clause `{id}`; {advice}").into());
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
