//! Explains a clause, an unspecified behaviour, a check, or a duty of callers and its cases.

use minijinja::{Error, Value, context};

use crate::check::Check;
use crate::checks::{UNKNOWN_ADDRESS, plain, registry, with_input};
#[cfg(feature = "embedded")]
use crate::client::{self, Duty, Expectation};
use crate::contract::{Clause, Contract, Input, OperationId, Schema, Unspecified};
use crate::report::{Template, curl, render, template};
use crate::target::Secret;
use crate::wire::{Exchange, FailureKind, RecordedExchange, Redactor, Request, WireFailure};

/// The ids that can be explained, each with a sentence.
#[must_use]
pub fn known(contract: &'static Contract) -> Vec<(String, String)> {
    let Contract { catalogue, .. } = contract;
    let clauses = Clause::ALL.iter().map(|id| (id.id(), catalogue.clause(*id).text.as_str()));
    let open = Unspecified::ALL.iter().map(|id| (id.id(), catalogue.unspecified(*id).text.as_str()));
    let checks = registry().into_iter().map(|check| (check.id, check.title));
    let known = clauses.chain(open).chain(checks);
    #[cfg(feature = "embedded")]
    let known = known.chain(Duty::ALL.into_iter().map(|duty| (duty.id(), duty.text())));
    let known = known.map(|(id, text)| (id.to_owned(), text.to_owned()));
    #[cfg(feature = "embedded")]
    let known = known.chain(client::cases(contract, &[]).into_iter().map(|case| (case.id, case.title)));
    known.collect()
}

/// What there is to say of an id; none for an unknown one.
///
/// # Errors
/// A mistake in a template, which is a bug of the suite.
pub fn explain(contract: &'static Contract, id: &str) -> Result<Option<String>, Error> {
    let check = registry().into_iter().find(|check| check.id == id);
    let (template, view) = if let Some(clause) = Clause::from_id(id) {
        (template!("clause.text"), of_clause(contract, clause))
    } else if let Some(open) = Unspecified::from_id(id) {
        (template!("open.text"), context! { id, text => contract.catalogue.unspecified(open).text.as_str() })
    } else if let Some(check) = check {
        let clause = |clause: &Clause| context! { id => clause.id(), text => contract.catalogue.clause(*clause).text.as_str() };
        let clauses: Vec<Value> = check.clauses.iter().map(clause).collect();
        (template!("check.text"), context! { clauses, ..of_check(check) })
    } else if let Some((template, view)) = of_clients(contract, id) {
        (template, view)
    } else {
        return Ok(None);
    };
    render(template, view).map(Some)
}

fn of_clause(contract: &'static Contract, id: Clause) -> Value {
    let clause = contract.catalogue.clause(id);
    let checks = registry().into_iter().filter(|check| check.clauses.contains(&id));
    context! {
        id => id.id(), section => clause.section.as_str(), line => clause.line, text => clause.text.as_str(), inferred => clause.inferred.clone(),
        inferred_null => clause.inferred_null.clone(), reason => clause.reason.clone(), sample => sample(contract, id),
        checks => checks.map(of_check).collect::<Vec<_>>(),
    }
}

fn of_check(check: &Check) -> Value {
    let needs: Vec<String> = check.needs.iter().map(ToString::to_string).collect();
    context! { id => check.id, title => check.title, why => check.why, needs }
}

#[cfg(not(feature = "embedded"))]
fn of_clients(_: &Contract, _: &str) -> Option<(Template, Value)> {
    None
}

/// A duty of callers, or a case of it.
#[cfg(feature = "embedded")]
fn of_clients(contract: &'static Contract, id: &str) -> Option<(Template, Value)> {
    let mut cases = client::cases(contract, &[]);
    if let Some(case) = cases.iter().find(|case| case.id == id) {
        let passes = match case.expectation {
            Expectation::Result => "the result that the service sends",
            Expectation::Error => "an error",
            Expectation::Either => "the result that the service sends, or an error where the client gives up",
        };
        let view = context! {
            id, title => case.title.as_str(), told => case.call.operation.name(), stage => case.stage_text(), passes,
            duty => case.duty.id(), duty_text => case.duty.text(),
        };
        return Some((template!("case.text"), view));
    }
    let duty = Duty::from_id(id)?;
    cases.retain(|case| case.duty == duty);
    let cases: Vec<Value> =
        cases.iter().map(|case| context! { id => case.id.as_str(), title => case.title.as_str() }).collect();
    let view = context! {
        id, section => duty.section(), text => duty.text(), inferred => duty.inferred_from(), why => duty.why(), cases,
    };
    Some((template!("duty.text"), view))
}

/// A request with the parameters that the clause is about, by the document's examples; for all operations, one that costs nothing.
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
fn shown(schema: &Schema) -> Option<serde_json::Value> {
    let listed = schema.values.first().cloned();
    schema.example.clone().or(listed).or_else(|| schema.minimum.map(serde_json::Value::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clause_is_explained_with_a_sample() {
        let contract = Contract::embedded().expect("contract");
        for clause in &contract.catalogue.clauses {
            let sample = sample(contract, clause.id);
            assert!(sample.starts_with("curl ") && sample.contains("$SALLYPORT_API_KEY"), "{sample}");
            assert!(!sample.contains("the-token"), "{sample}");
        }
        assert!(registry().iter().all(|check| check.why.ends_with('.')));
        let sample = |clause| sample(contract, clause);
        for property in contract.search.operation.body.iter() {
            let clause = property.citations.clause("any").expect("each property cites a clause");
            assert!(sample(clause).contains(&property.name), "{}", sample(clause));
        }
        let sample = sample(Clause::ExtractSbLength);
        assert!(sample.contains("lb=6&return_type=txt"), "{sample}");
    }
}
