use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::{Check, Observed, PassiveFinding, Run, Severity};
use crate::contract::Clause;
use crate::wire::password;

pub(super) static CHECK: Check = Check {
    id: "all.no-secrets.watched",
    title: "no answer holds a proxy password",
    why: "",
    operation: None,
    clauses: &[Clause::AllNoSecrets],
    needs: &[],
    run: Run::Passive(judge),
};

/// Looks for the texts that the tester named, and for string members that call themselves passwords.
fn judge(observed: &Observed<'_>) -> Option<Vec<PassiveFinding>> {
    let mut found = BTreeSet::new();
    let Observed { answer, canaries, .. } = observed;
    let headers = answer.headers().iter().map(|(_, value)| value.as_slice());
    let texts = headers.chain([answer.body().as_ref()]);
    let escaped = answer.json().filter(|_| answer.body().contains(&b'\\'));
    if texts.into_iter().any(|text| canaries.found_in(text))
        || escaped.is_some_and(|body| any_string(body, &|text| canaries.found_in(text.as_bytes())))
    {
        found.insert("a text that must never appear".to_owned());
    }
    if let Some(body) = answer.json().filter(|_| password::may_speak_of_one(answer.body())) {
        // Members of a list are one finding, however many items it has.
        password::visit(body, &mut |above, shown| {
            let above: String = above.iter().map(|name| format!("/{name}")).collect();
            found.insert(format!("a member {above}/{}", shown.name));
        });
    }
    let finding = |actual: String| PassiveFinding {
        clause: Clause::AllNoSecrets,
        key: format!("{} {actual}", observed.operation),
        severity: Severity::Fail,
        expected: format!("{}: an answer without passwords", observed.operation),
        actual,
    };
    Some(found.into_iter().map(finding).collect())
}

/// Whether a test holds for some name or string of a body, as it is meant whatever escapes it is written with.
fn any_string(value: &Value, test: &impl Fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => test(text),
        Value::Array(items) => items.iter().any(|item| any_string(item, test)),
        Value::Object(members) => members.iter().any(|(name, member)| test(name) || any_string(member, test)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
