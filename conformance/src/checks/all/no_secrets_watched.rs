use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;

use crate::check::{Check, Complaint, Cost, Run, Severity, Sighting};
use crate::target::Secret;

pub(super) static CHECK: Check = Check {
    id: "all.no-secrets.watched",
    title: "no answer holds a proxy password",
    operation: None,
    clauses: &["all.no-secrets"],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(watch),
};

/// Looks for the texts that the tester named, and for string members that call themselves passwords.
fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    let mut found = Vec::new();
    let text = sighting.answer.text();
    let headers = sighting.answer.headers().iter();
    let headers = headers.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect::<Vec<_>>();
    let mut texts = headers;
    texts.push(text);
    if let Some(body) = sighting.answer.json() {
        password_members(body, "", &mut found);
        strings(body, &mut texts);
    }
    for canary in sighting.facts.canaries.iter().map(Secret::expose) {
        if texts.iter().any(|text| holds(text, canary)) {
            found.push("a text that must never appear".to_owned());
        }
    }
    let complaint = |actual: String| Complaint {
        clause: "all.no-secrets".to_owned(),
        key: format!("{} {actual}", sighting.operation),
        severity: Severity::Fail,
        expected: format!("{}: an answer without passwords", sighting.operation),
        actual,
    };
    Some(found.into_iter().map(complaint).collect())
}

/// The text itself, or in base64 as authentication headers have it.
fn holds(text: &str, canary: &str) -> bool {
    let encoded = |word: &str| {
        let word = word.trim_end_matches('=');
        let decoded = STANDARD_NO_PAD.decode(word).or_else(|_| URL_SAFE_NO_PAD.decode(word));
        decoded.is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(canary))
    };
    // A word in base64 is a third longer than what it stands for.
    let words = || text.split(|c: char| !(c.is_ascii_alphanumeric() || "+/-_=".contains(c)));
    text.contains(canary) || words().any(|word| word.len() > canary.len() && encoded(word))
}

/// Every string of a body as it is meant, whatever escapes it is written with.
fn strings(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| strings(item, texts)),
        Value::Object(members) => {
            for (name, member) in members {
                texts.push(name.clone());
                strings(member, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Members of a list are one finding, however many items it has. A masked or empty value gives nothing away.
fn password_members(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let path = format!("{path}/{name}");
                let telling = member.as_str().is_some_and(|text| text.chars().any(|c| c != '*'));
                if telling && names_a_password(name) {
                    found.push(format!("a member {path}"));
                }
                password_members(member, &path, found);
            }
        }
        Value::Array(items) => {
            let mut of_items = Vec::new();
            for item in items {
                password_members(item, &format!("{path}/*"), &mut of_items);
            }
            of_items.sort_unstable();
            of_items.dedup();
            found.append(&mut of_items);
        }
        _ => {}
    }
}

/// Whether a name ends in the word: `passwordUpdatedAt` and the like speak of a password and are none.
fn names_a_password(name: &str) -> bool {
    let name: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    ["password", "passwd", "passphrase"].iter().any(|word| name.ends_with(word)) || name == "pwd"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn passwords_are_found_by_name_wherever_they_stand() {
        let mut found = Vec::new();
        let body = json!({"data": {"items": [{"proxy_password": "a"}, {"proxy_password": "b"}, {"PassWd": "c"}]},
                          "customCredentials": true, "passwordSet": true, "pwd": "***", "password": "",
                          "passwordRequired": "no", "passwordUpdatedAt": "2026-01-01T00:00:00Z"});
        password_members(&body, "", &mut found);
        assert_eq!(found, ["a member /data/items/*/PassWd", "a member /data/items/*/proxy_password"]);
    }
}
