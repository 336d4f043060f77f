use serde_json::Value;

use crate::check::{Check, Complaint, Cost, Run, Sighting};

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
    for canary in &sighting.facts.canaries {
        let canary = canary.expose();
        if text.contains(canary) || headers.iter().any(|value| value.contains(canary)) {
            found.push("a text that must never appear".to_owned());
        }
    }
    if let Some(body) = sighting.answer.json() {
        password_members(body, "", &mut found);
    }
    let complaint = |actual: String| Complaint {
        clause: "all.no-secrets".to_owned(),
        key: format!("{} {actual}", sighting.operation),
        expected: format!("{}: an answer without passwords", sighting.operation),
        actual,
    };
    Some(found.into_iter().map(complaint).collect())
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

fn names_a_password(name: &str) -> bool {
    let name: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    ["password", "passwd", "passphrase"].iter().any(|word| name.contains(word)) || name == "pwd"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn passwords_are_found_by_name_wherever_they_stand() {
        let mut found = Vec::new();
        let body = json!({"data": {"items": [{"proxy_password": "a"}, {"proxy_password": "b"}, {"PassWd": "c"}]},
                          "customCredentials": true, "passwordSet": true, "pwd": "***", "password": ""});
        password_members(&body, "", &mut found);
        assert_eq!(found, ["a member /data/items/*/PassWd", "a member /data/items/*/proxy_password"]);
    }
}
