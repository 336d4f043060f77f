//! Members of JSON responses that give a password away.

use serde_json::Value;

/// The name that stands in place of a password in reports.
pub(super) const PASSWORD: &str = "PASSWORD";

/// A member whose name and value say that it is a password. Items of a list share a path, with `*` for the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PasswordMember<'a> {
    /// Its own name; [`visit`] passes those of its parents.
    pub(crate) name: &'a str,
    /// The password.
    pub(crate) value: &'a str,
}

/// Calls `found` with each such member and the names above it.
pub(crate) fn visit<'a>(body: &'a Value, found: &mut impl FnMut(&[&'a str], PasswordMember<'a>)) {
    walk(body, &mut Vec::new(), found);
}

fn walk<'a>(
    value: &'a Value,
    above: &mut Vec<&'a str>,
    found: &mut impl FnMut(&[&'a str], PasswordMember<'a>),
) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                if let Some(value) = member.as_str().filter(|value| gives_away(name, value)) {
                    found(above, PasswordMember { name, value });
                }
                above.push(name);
                walk(member, above, found);
                above.pop();
            }
        }
        Value::Array(items) => {
            above.push("*");
            items.iter().for_each(|item| walk(item, above, found));
            above.pop();
        }
        _ => {}
    }
}

/// The body with other texts in place of its passwords; none when it shows none.
pub(crate) fn masked(body: &[u8]) -> Option<Vec<u8>> {
    let mut value = may_speak_of_one(body).then(|| serde_json::from_slice::<Value>(body).ok()).flatten()?;
    let mut shows = false;
    visit(&value, &mut |_, _| shows = true);
    if !shows {
        return None;
    }
    mask(&mut value);
    serde_json::to_vec(&value).ok()
}

fn mask(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if gives_away(name, text) => *text = format!("${PASSWORD}"),
                    member => mask(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(mask),
        _ => {}
    }
}

/// Whether a body can hold such a member at all: hardly any does, and to look into each takes long.
pub(crate) fn may_speak_of_one(body: &[u8]) -> bool {
    let begins = |at: usize| {
        let of =
            |word: &[u8]| body.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word));
        of(b"pass") || of(b"pwd")
    };
    // A backslash may hide letters.
    body.iter().enumerate().any(|(at, byte)| match byte {
        b'\\' => true,
        b'p' | b'P' => begins(at),
        _ => false,
    })
}

/// A masked or empty value gives nothing away.
fn gives_away(name: &str, value: &str) -> bool {
    value.chars().any(|c| c != '*') && names_a_password(name)
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
        let body = json!({"data": {"items": [{"proxy_password": "a"}, {"proxy_password": "b"}, {"PassWd": "c"}]},
                          "customCredentials": true, "passwordSet": true, "pwd": "***", "password": "",
                          "passwordRequired": "no", "passwordUpdatedAt": "2026-01-01T00:00:00Z"});
        let mut found = Vec::new();
        visit(&body, &mut |above, shown| {
            found.push(format!("{} {}={}", above.join("/"), shown.name, shown.value))
        });
        assert_eq!(
            found,
            ["data/items/* proxy_password=a", "data/items/* proxy_password=b", "data/items/* PassWd=c"]
        );
    }

    #[test]
    fn a_masked_body_keeps_all_but_the_passwords() {
        let body = r#"{"items":[{"password":"x","port":1}],"p\u0061ssword":"y"}"#;
        let masked = masked(body.as_bytes()).map(|body| String::from_utf8_lossy(&body).into_owned());
        assert_eq!(
            masked.as_deref(),
            Some(r#"{"items":[{"password":"$PASSWORD","port":1}],"password":"$PASSWORD"}"#)
        );
        assert_eq!(super::masked(br#"{"items":[{"passwordSet":true}]}"#), None);
        assert_eq!(super::masked(b"password: x"), None);
    }
}
