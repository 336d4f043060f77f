use serde_json::Value;

use crate::check::{Check, Complaint, Cost, Form, Judgement, Run, Severity, Sighting};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.error-envelope.watched",
    title: "a refused extraction has a code other than 0 and a message",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractErrorEnvelope],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(watch),
};

/// Codes may be numbers or strings, and there may be more fields. Throttling often comes from a machine in front of the
/// service, so it is left out. Who asked for text may get a refusal as text, which the contract neither shows nor forbids.
fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    let answer = sighting.answer;
    if !matches!(sighting.judgement, Judgement::Rejected(_)) {
        return None;
    }
    let success = sighting.contract.extract.operation.success.code;
    let code = answer.at("/code");
    let severity = if sighting.form == Form::Json { Severity::Fail } else { Severity::Warn };
    let mut faults = Vec::new();
    if !code.is_some_and(|code| code.is_number() || code.is_string()) {
        faults.push(("code", "a code".to_owned()));
    }
    if code.and_then(Value::as_i64) == Some(success) {
        faults.push(("success", format!("a code other than {success}")));
    }
    if !answer.at("/message").is_some_and(Value::is_string) {
        faults.push(("message", "a message".to_owned()));
    }
    let complaint = |(key, expected): (&str, String)| Complaint {
        clause: Clause::ExtractErrorEnvelope,
        key: format!("{key} {severity:?}"),
        severity,
        expected: format!("{expected} in the JSON body of a refusal"),
        actual: sighting.judgement.description().to_owned(),
    };
    Some(faults.into_iter().map(complaint).collect())
}
