use serde_json::Value;

use crate::check::{Check, Observed, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.endpoint.internal-fields",
    title: "an entry shows no internal field",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractEndpoint],
    needs: &[],
    run: Run::Passive(judge),
};

/// Words at the end of a name whose text is a secret.
const SECRET: [&str; 6] = ["password", "passwd", "passphrase", "secret", "token", "credential"];

/// Words in a name that customers are hardly meant to see.
const DOUBTFUL: [&str; 4] = ["upstream", "supplier", "vendor", "cost"];

fn judge(observed: &Observed<'_>) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let entries = observed.answer.at("/data")?.as_array()?;
    let fields = entries.iter().filter_map(Value::as_object).flatten();
    let finding = |(name, severity): (&String, Severity)| PassiveFinding {
        clause: Clause::ExtractEndpoint,
        key: name.clone(),
        severity,
        expected: "an entry without internal fields".to_owned(),
        actual: format!("an entry with the field {name}"),
    };
    let telling = fields.filter_map(|(name, value)| Some((name, severity(name, value)?)));
    Some(telling.map(finding).collect())
}

/// What makes a field internal is open: it fails only when its own name says so, or when it gives a secret.
fn severity(name: &str, value: &Value) -> Option<Severity> {
    let words = words(name);
    let has = |word: &str| words.iter().any(|known| known == word);
    let last = words.last().map_or("", |word| word.trim_end_matches('s'));
    let secret = SECRET.contains(&last) && value.as_str().is_some_and(|text| text.chars().any(|c| c != '*'));
    if has("internal") || secret {
        return Some(Severity::Fail);
    }
    (name.starts_with('_') || DOUBTFUL.into_iter().any(has)).then_some(Severity::Warn)
}

/// The words of a name in snake, kebab or camel case, in small letters.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_name_fails_by_what_it_says_and_not_by_letters_in_it() {
        for (name, value, expected) in [
            ("internalId", json!(7), Some(Severity::Fail)),
            ("proxy_password", json!("x"), Some(Severity::Fail)),
            ("accessToken", json!("x"), Some(Severity::Fail)),
            ("proxyPassword", json!("***"), None),
            ("passwordRequired", json!(false), None),
            ("tokenExpiresAt", json!("2026-01-01T00:00:00Z"), None),
            ("passwd", Value::Null, None),
            ("accosted", json!(1), None),
            ("internationalCode", json!(1), None),
            ("unitCost", json!(1), Some(Severity::Warn)),
            ("_links", json!({}), Some(Severity::Warn)),
            ("country", json!("USA"), None),
        ] {
            assert_eq!(severity(name, &value), expected, "{name}");
        }
    }
}
