use serde_json::Value;

use crate::check::{Check, Form, Observed, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.error-envelope.watched",
    title: "a refused extraction has a code other than 0 and a message",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractErrorEnvelope],
    needs: &[],
    run: Run::Passive(judge),
};

/// Codes may be numbers or strings, and there may be more fields. Throttling often comes from a machine in front of the
/// service, so it is left out. Who asked for text may get a refusal as text, which the contract neither shows nor forbids.
fn judge(observed: &Observed<'_>) -> Option<Vec<PassiveFinding>> {
    let answer = observed.answer;
    if !matches!(observed.class, ResponseClass::Rejected(_)) {
        return None;
    }
    let success = observed.contract.extract.operation.success.code;
    let code = answer.at("/code");
    let severity = if observed.form == Form::Json { Severity::Fail } else { Severity::Warn };
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
    let finding = |(key, expected): (&str, String)| PassiveFinding {
        clause: Clause::ExtractErrorEnvelope,
        key: format!("{key} {severity:?}"),
        severity,
        expected: format!("{expected} in the JSON body of a refusal"),
        actual: observed.class.description().to_owned(),
    };
    Some(faults.into_iter().map(finding).collect())
}
