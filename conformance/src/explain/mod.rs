//! Explains a clause: its text, a sample request, and the checks that cite it.

use serde_json::Value;

use crate::check::Check;
use crate::checks::{UNKNOWN_ADDRESS, plain, registry, with_input};
use crate::contract::{Clause, ClauseEntry, Contract, Input, OperationId, Schema};
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
    let (extract, search) = (&contract.extract, &contract.search);
    let request = Request::to(operation).query(&operation.api_key.name, token.expose());
    let request = match operation.id {
        OperationId::Extract => request.query(&extract.num.name, extract.num_range.start()),
        OperationId::Search => {
            let ips = shown(&search.ips.schema).unwrap_or_else(|| vec![UNKNOWN_ADDRESS].into());
            request.field(&search.ips.name, ips)
        }
        _ => plain(operation, token.expose()),
    };
    let inputs = operation.parameters.iter().chain(&operation.body);
    let cited = inputs.filter(|input| input.citations.cites(clause));
    let request = cited.fold(request, |request, input| match shown(&input.schema) {
        Some(value) => with_input(request, input, Some(value)),
        None => request,
    });
    // A text of one's own needs the separator that stands for it, and separators stand in text only.
    let is_of = |input: &Input| operation.id == OperationId::Extract && input.citations.cites(clause);
    let is_of_sb = is_of(&extract.sb);
    let request = if is_of_sb { request.query(&extract.lb.name, &extract.custom_separator) } else { request };
    let request = match is_of_sb || is_of(&extract.lb) {
        true => request.query(&extract.return_type.name, &extract.text),
        false => request,
    };
    let unsent = WireFailure { kind: FailureKind::Request, detail: String::new() };
    let exchange = Exchange::of_others(request, Err(unsent));
    let shown = Redactor::new([&token]).map(|redactor| RecordedExchange::new(&exchange, &redactor));
    // The text above is long enough to be redacted.
    let command = shown.map(|shown| curl("$BASE_URL", &[], &shown)).unwrap_or_default();
    command.replace("'$BASE_URL", "\"$BASE_URL\"'")
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
