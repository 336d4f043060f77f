//! Finds and masks passwords in responses, as JSON and as text, and masks other credentials in their JSON.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde_json::Value;

use super::headers::{HIDDEN, is_credential_member};

/// The name that replaces a password in reports.
pub(super) const PASSWORD: &str = "PASSWORD";

/// A member that contains a password, judged by its name and value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PasswordMember<'a> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a str,
}

/// Calls `found` with the names above each such member, where `*` is an item of a list, and the member.
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
                if let Some(value) = member.as_str().and_then(|value| in_member(name, value)) {
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

/// The body with its passwords replaced, and without members that a later one replaces; none if it contains none.
pub(crate) fn masked(body: &[u8]) -> Option<Vec<u8>> {
    if !matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return masked_text(std::str::from_utf8(body).ok()?);
    }
    let mut value = may_contain_one(body).then(|| serde_json::from_slice::<Value>(body).ok()).flatten()?;
    let is_masked = mask("", &mut value) || has_replaced_members(body, &value);
    is_masked.then(|| serde_json::to_vec(&value).ok()).flatten()
}

/// Whether JSON has members that its parsed value lacks, because a later one of the same object has their name.
pub(crate) fn has_replaced_members(json: &[u8], parsed: &Value) -> bool {
    fn members(value: &Value) -> usize {
        match value {
            Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
            Value::Array(items) => items.iter().map(members).sum(),
            _ => 0,
        }
    }
    let (mut bytes, mut colons, mut is_in_text) = (json.iter(), 0, false);
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => is_in_text = !is_in_text,
            // What follows is no end of the text.
            b'\\' => drop(bytes.next()),
            b':' if !is_in_text => colons += 1,
            _ => {}
        }
    }
    colons > members(parsed)
}

fn masked_text(text: &str) -> Option<Vec<u8>> {
    let mut masked = String::new();
    let mut rest = text;
    for password in in_text(text) {
        // Each lies behind the one before it.
        let (before, after) = rest.split_once(password)?;
        masked.push_str(before);
        masked.push('$');
        masked.push_str(PASSWORD);
        rest = after;
    }
    (rest.len() < text.len()).then(|| (masked + rest).into_bytes())
}

/// The passwords in the entries of a text, in the two forms in which providers list proxies: `user:password@host:port` and
/// `host:port:user:password`. The contract does not define the form of an entry, so a fourth part only counts if it looks like
/// nothing but a password.
pub(crate) fn in_text(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || ",;|/\"'<>".contains(c);
    text.split(is_between).filter_map(of_entry)
}

fn of_entry(entry: &str) -> Option<&str> {
    let is_port = |text: &str| text.parse::<u16>().is_ok_and(|port| port > 0);
    if let Some((user, address)) = entry.rsplit_once('@') {
        // Without a port it may be an e-mail address, as in `mailto:name@example.com`.
        let has_port = address.rsplit_once(':').is_some_and(|(_, port)| is_port(port));
        return of_user(user).filter(|_| has_port);
    }
    let parts: Vec<&str> = entry.splitn(5, ':').collect();
    let [host, port, user, password] = parts[..] else { return None };
    let is_address = host.contains('.') && is_port(port);
    let has = |text: &str, test: fn(char) -> bool| text.chars().any(test);
    let is_protocol = ["http", "https", "socks5", "tcp"].contains(&user);
    // Not a word, a code or a number.
    let is_mixed = has(password, |c| !c.is_lowercase()) && has(password, |c| !c.is_uppercase());
    let is_random = is_mixed && has(password, char::is_alphabetic);
    (is_address && has(user, char::is_alphabetic) && !is_protocol && is_random).then_some(password)
}

/// Calls `found` with each text that is named like a credential, is no password, and looks like nothing but a secret: other texts,
/// such as `"key": "countryCode"`, may be anywhere else too.
pub(super) fn visit_credentials<'a>(name: &str, value: &'a Value, found: &mut impl FnMut(&'a str)) {
    const MIN_LENGTH: usize = 12;
    match value {
        Value::String(text) => {
            let has = |test: fn(char) -> bool| text.chars().any(test);
            let is_random = text.len() >= MIN_LENGTH && has(char::is_alphabetic) && has(char::is_numeric);
            if is_random && !has(char::is_whitespace) && is_credential_member(name) {
                found(text);
            }
        }
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| visit_credentials(name, member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| visit_credentials(name, item, found)),
        _ => {}
    }
}

/// Replaces passwords and other credentials in a value with that name; returns whether there was one.
fn mask(name: &str, value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            if let Some(password) = in_member(name, text) {
                *text = text.replace(password, &format!("${PASSWORD}"));
            } else if !text.is_empty() && is_credential_member(name) {
                HIDDEN.clone_into(text);
            } else {
                return false;
            }
            true
        }
        Value::Object(members) => {
            members.iter_mut().map(|(name, member)| mask(name, member)).filter(|found| *found).count() > 0
        }
        Value::Array(items) => {
            items.iter_mut().map(|item| mask(name, item)).filter(|found| *found).count() > 0
        }
        _ => false,
    }
}

/// The password in a member: its value, or a part of an address with user and password.
fn in_member<'a>(name: &str, value: &'a str) -> Option<&'a str> {
    const ADDRESSES: [&str; 6] = ["ip", "host", "address", "endpoint", "gateway", "proxy"];
    if is_password(name, value) {
        return Some(value);
    }
    let is_address = ADDRESSES.contains(&name) && !value.contains(char::is_whitespace);
    let user = value.rsplit_once('@').filter(|_| is_address)?.0;
    // What is before a slash is a scheme.
    of_user(user.rsplit_once('/').map_or(user, |(_, user)| user))
}

/// The password behind a user, unless it is masked.
fn of_user(user: &str) -> Option<&str> {
    let (_, password) = user.split_once(':')?;
    Some(password).filter(|password| password.chars().any(|c| c != '*'))
}

/// Whether a body may contain such a member, or one that is named like a credential. Few do, and parsing each body takes long.
pub(crate) fn may_contain_one(body: &[u8]) -> bool {
    /// What all their names contain.
    static STEMS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
        let stems = [
            "pass",
            "pwd",
            "key",
            "token",
            "secret",
            "credential",
            "cookie",
            "sess",
            "sig",
            "auth",
            "jwt",
            "sid",
            "csrf",
            "xsrf",
            "bearer",
            "otp",
        ];
        AhoCorasick::builder().ascii_case_insensitive(true).build(stems).ok()
    });
    // A backslash may begin an escaped letter.
    if body.iter().any(|byte| matches!(byte, b'\\' | b'@')) {
        return true;
    }
    // Only the names of members with a text: `"customCredentials": true` is in each instance.
    let names_text = |rest: &[u8]| {
        /// Maximum length of the rest of a name, in bytes: a text may consist of stems.
        const REST: usize = 100;
        let rest = &rest[..rest.len().min(REST)];
        let rest = rest.iter().skip_while(|byte| **byte != b'"').skip(1);
        let mut rest = rest.filter(|byte| !byte.is_ascii_whitespace());
        rest.next() == Some(&b':') && matches!(rest.next(), Some(b'"' | b'['))
    };
    STEMS.as_ref().is_none_or(|stems| stems.find_iter(body).any(|found| names_text(&body[found.end()..])))
}

/// Whether a member or header with this name and value is a password. Empty and masked values are not, nor are names that do not
/// end in the word, such as `passwordUpdatedAt`.
pub(crate) fn is_password(name: &str, value: &str) -> bool {
    if value.chars().all(|c| c == '*') {
        return false;
    }
    let name: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    ["password", "passwd", "passphrase"].iter().any(|word| name.ends_with(word)) || name == "pwd"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn passwords_are_found_by_name_at_any_depth() {
        let body = json!({"data": {"items": [{"proxy_password": "a"}, {"proxy_password": "b"}, {"PassWd": "c"}]},
                          "ip": "http://user:d@gw.example.net", "host": "user@gw.example.net", "message": "to: a:b@example.net",
                          "customCredentials": true, "passwordSet": true, "pwd": "***", "password": "",
                          "passwordRequired": "no", "passwordUpdatedAt": "2026-01-01T00:00:00Z"});
        let mut found = Vec::new();
        visit(&body, &mut |above, shown| {
            found.push(format!("{} {}={}", above.join("/"), shown.name, shown.value))
        });
        assert_eq!(
            found,
            [
                "data/items/* proxy_password=a",
                "data/items/* proxy_password=b",
                "data/items/* PassWd=c",
                " ip=d"
            ]
        );
    }

    #[test]
    fn passwords_in_text_are_found_and_masked() {
        for (text, password) in [
            ("gw.example.net:80:user7:pAss-99\r\ngw2.example.net:81", "pAss-99"),
            ("203.0.113.1:80:user:x7/br203.0.113.2:81", "x7"),
            ("socks5://user:secret@gw.example.net:80", "secret"),
        ] {
            assert_eq!(in_text(text).collect::<Vec<_>>(), [password], "{text}");
            let masked = masked(text.as_bytes()).map(|text| String::from_utf8_lossy(&text).into_owned());
            assert_eq!(masked, Some(text.replacen(password, "$PASSWORD", 1)), "{text}");
        }
        for text in [
            "gw.example.net:80\ngw2.example.net:81",
            "gw.example.net:80:USA:NYC",
            "gw.example.net:80:socks5:r4",
            "gw.example.net:80:expires:1790000000",
            "gw.example.net:80:user:***",
            "user@gw.example.net:80",
            "user:***@gw.example.net:80",
            "<a href=\"mailto:help@example.net\">",
            "2001:db8::1:80",
            "[2001:db8::1]:80",
        ] {
            assert_eq!(in_text(text).count(), 0, "{text}");
        }
    }

    #[test]
    fn a_masked_body_keeps_all_but_the_passwords() {
        let body = r#"{"items":[{"password":"x","port":1}],"p\u0061ssword":"y"}"#;
        let masked = masked(body.as_bytes()).map(|body| String::from_utf8_lossy(&body).into_owned());
        assert_eq!(
            masked.as_deref(),
            Some(r#"{"items":[{"password":"$PASSWORD","port":1}],"password":"$PASSWORD"}"#)
        );
        assert_eq!(super::masked(br#"{"items":[{"passwordSet":true,"customCredentials":true}]}"#), None);
        let body = r#"{"accessToken" : "s3cret","appkey":"","data":{"apikey":"s3cret","groupId":1},"tokens":["s3cret"]}"#;
        let masked = super::masked(body.as_bytes()).map(|body| String::from_utf8_lossy(&body).into_owned());
        let hidden = r#"{"accessToken":"$HIDDEN","appkey":"","data":{"apikey":"$HIDDEN","groupId":1},"tokens":["$HIDDEN"]}"#;
        assert_eq!(masked.as_deref(), Some(hidden));
        // Of members of one name, only the last one is parsed.
        for (body, shown) in [
            ("\n {\"pwd\":\"x\"}", r#"{"pwd":"$PASSWORD"}"#),
            (r#"{"secret":"dup-s3cret-value","secret":null}"#, r#"{"secret":null}"#),
            (r#"[{"a":{"p\u0077d":"x"},"a":1,"b":":"}]"#, r#"[{"a":1,"b":":"}]"#),
        ] {
            let masked =
                super::masked(body.as_bytes()).map(|body| String::from_utf8_lossy(&body).into_owned());
            assert_eq!(masked.as_deref(), Some(shown));
        }
        assert_eq!(super::masked(br#"{"tokens":[],"a":"\":"}"#), None);
        assert_eq!(super::masked(b"password: x"), None);
    }
}
