//! Explains a clause: its text, a sample request, and the checks that cite it.

use serde_json::Value;

use crate::check::Check;
use crate::checks::{UNKNOWN_ADDRESS, plain, registry};
use crate::contract::{Clause, ClauseEntry, Contract, Extract, Input, OperationId, Place, Schema, Search};
use crate::report::curl;
use crate::target::Secret;
use crate::wire::{Exchange, FailureKind, RecordedExchange, Redactor, Request, WireFailure};

/// A clause, explained.
#[derive(Debug)]
pub struct Explanation {
    /// The clause.
    pub clause: &'static ClauseEntry,
    /// A command that sends a request to the operation, which a conforming service accepts.
    pub sample: String,
    /// The checks that cite it.
    pub checks: Vec<&'static Check>,
}

impl Explanation {
    /// Explains a clause.
    #[must_use]
    pub fn new(contract: &'static Contract, clause: Clause) -> Self {
        let mut checks = registry();
        checks.retain(|check| check.clauses.contains(&clause));
        let entry = contract.catalogue.clause(clause);
        Self { clause: entry, sample: sample(contract, clause), checks }
    }
}

/// A request with the parameters that the clause is about, and the document's own examples. Clauses of all operations are
/// shown by the operation that costs nothing.
fn sample(contract: &Contract, clause: Clause) -> String {
    let token = Secret::new("API_KEY", "the-token-stands-here");
    let prefix = clause.id().split('.').next().unwrap_or_default();
    let is_of_known = |operation: &OperationId| operation.id() == prefix;
    let known = OperationId::ALL.iter().copied().find(is_of_known);
    let operation = contract.operation(known.unwrap_or(OperationId::Groups));
    let request = Request::to(operation).query(&operation.api_key.name, token.expose());
    let request = match operation.id {
        OperationId::Extract => extraction(&contract.extract, clause, request),
        OperationId::Search => searching(&contract.search, clause, request),
        _ => plain(operation, token.expose()),
    };
    let unsent = WireFailure { kind: FailureKind::Request, detail: String::new() };
    let exchange = Exchange::of_others(request, Err(unsent));
    let shown = Redactor::new([&token]).map(|redactor| RecordedExchange::new(&exchange, &redactor));
    // The text above is long enough to be redacted.
    let command = shown.map(|shown| curl("$BASE_URL", &[], &shown)).unwrap_or_default();
    command.replace("'$BASE_URL", "\"$BASE_URL\"'")
}

fn extraction(extract: &Extract, clause: Clause, request: Request) -> Request {
    let shown = |parameter: &Input| match shown(&parameter.schema) {
        Some(Value::String(text)) => text,
        value => value.unwrap_or_default().to_string(),
    };
    let request = request.query(&extract.num.name, extract.num_range.start());
    let cited = extract.operation.parameters.iter().filter(|parameter| parameter.citations.cites(clause));
    let request = cited.fold(request, |request, parameter| match parameter.place {
        Place::Query => request.query(&parameter.name, shown(parameter)),
        Place::Header => request.header(&parameter.name, shown(parameter)),
        Place::Body => request,
    });
    let cites = |parameter: &Input| parameter.citations.cites(clause);
    // A text of one's own needs the separator that stands for it, and separators stand in text only.
    let request =
        if cites(&extract.sb) { request.query(&extract.lb.name, &extract.custom_separator) } else { request };
    if cites(&extract.sb) || cites(&extract.lb) {
        request.query(&extract.return_type.name, &extract.text)
    } else {
        request
    }
}

fn searching(search: &Search, clause: Clause, request: Request) -> Request {
    let ips = shown(&search.ips.schema).unwrap_or_else(|| vec![UNKNOWN_ADDRESS].into());
    let request = request.field(&search.ips.name, ips);
    let cited = search.operation.body.iter().filter(|property| property.citations.cites(clause));
    cited.fold(request, |request, property| match shown(&property.schema) {
        Some(value) => request.field(&property.name, value),
        None => request,
    })
}

/// A value that the document shows, lists or allows.
fn shown(schema: &Schema) -> Option<Value> {
    let listed = schema.values.first().cloned();
    schema.example.clone().or(listed).or_else(|| schema.minimum.map(Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clause_is_explained_with_a_sample() {
        let contract = Contract::embedded().expect("contract");
        for clause in contract.catalogue.clauses() {
            let explanation = Explanation::new(contract, clause.id);
            assert!(
                explanation.sample.starts_with("curl ") && explanation.sample.contains("$SALLYPORT_API_KEY")
            );
            assert!(explanation.checks.iter().all(|check| check.why.ends_with('.')), "{}", clause.id);
            assert!(!explanation.sample.contains("the-token"), "{}", explanation.sample);
        }
        let sample = |clause| Explanation::new(contract, clause).sample;
        for property in contract.search.operation.body.iter() {
            let clause = property.citations.clause("any").expect("each property cites a clause");
            assert!(sample(clause).contains(&property.name), "{}", sample(clause));
        }
        assert!(
            sample(Clause::ExtractSbLength).contains("lb=6&return_type=txt"),
            "{}",
            sample(Clause::ExtractSbLength)
        );
    }
}
