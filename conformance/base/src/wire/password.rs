//! Finds and masks passwords in responses, as JSON and as text, and masks other credentials in their JSON.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::headers::{HIDDEN, is_credential_member};

/// The name that replaces a password in reports.
pub(super) const PASSWORD: &str = "PASSWORD";

/// The names of the members of JSON that contain a password, judged by name and value.
pub fn names(json: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let found = texts(json).filter(|text| in_member(text.name, &text.value).is_some());
    let places: BTreeSet<(usize, usize)> = found.map(|text| text.name.place).collect();
    places.into_iter().map(|(begin, end)| unescaped(&json[begin..end]))
}

/// The body with its passwords and other credentials replaced; none if it contains none. JSON may be cut or malformed.
pub fn masked(body: &[u8]) -> Option<Vec<u8>> {
    let text = String::from_utf8_lossy(body);
    let json = masked_json(&text);
    let shown = json.as_deref().unwrap_or(&text);
    let entries = if is_json(&text) { None } else { masked_text(shown) };
    entries.or(json).map(String::into_bytes)
}

fn masked_json(json: &str) -> Option<String> {
    let (mut masked, mut kept) = (String::new(), 0);
    for Text { name, value, place } in texts(json) {
        let shown = match in_member(name, &value) {
            Some(password) => value.replace(password, &format!("${PASSWORD}")),
            None if !value.is_empty() && name.is_credential => HIDDEN.to_owned(),
            None => continue,
        };
        masked.push_str(&json[kept..place.start]);
        masked.push_str(&Value::from(shown).to_string());
        kept = place.end;
    }
    (kept > 0).then(|| masked + &json[kept..])
}

/// An address in brackets may begin a text too.
fn begins_as_json(text: &str) -> bool {
    text.trim_ascii_start().starts_with(['{', '['])
}

/// Whether a text is an object or list and nothing else. What is cut or malformed is read as JSON and as entries, one a line.
fn is_json(text: &str) -> bool {
    begins_as_json(text) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Calls `found` with each secret in a body and the name that replaces it: passwords in any, and in JSON also the texts that are named
/// like a credential and look like nothing but a secret. Others, such as `"key": "countryCode"`, may be anywhere else too.
pub fn reveal(body: &str, mut found: impl FnMut(&str, &'static str)) {
    const MIN_LENGTH: usize = 12;
    if !is_json(body) {
        in_text(body).for_each(|password| found(password, PASSWORD));
    }
    for Text { name, value, .. } in texts(body) {
        let has = |test: fn(char) -> bool| value.chars().any(test);
        let is_random = || {
            value.len() >= MIN_LENGTH
                && has(char::is_alphabetic)
                && has(char::is_numeric)
                && !has(char::is_whitespace)
                && value.parse::<Timestamp>().is_err()
        };
        match in_member(name, &value) {
            Some(password) => found(password, PASSWORD),
            None if name.is_credential && is_random() => found(&value, "HIDDEN"),
            None => {}
        }
    }
}

/// What the name of a member says about its value, judged once: the target chooses how long it is and how many values have it.
#[derive(Clone, Copy, Default)]
struct Name {
    /// With its quotes.
    place: (usize, usize),
    is_password: bool,
    is_address: bool,
    is_credential: bool,
}

impl Name {
    fn of(name: &str, place: (usize, usize)) -> Self {
        const ADDRESSES: [&str; 6] = ["ip", "host", "address", "endpoint", "gateway", "proxy"];
        Self {
            place,
            is_password: names_password(name),
            is_address: ADDRESSES.contains(&name),
            is_credential: is_credential_member(name),
        }
    }
}

/// A text in JSON that is no name of a member.
struct Text<'a> {
    /// Of its member, or of that of the list that it stands in.
    name: Name,
    value: Cow<'a, str>,
    /// With its quotes.
    place: Range<usize>,
}

/// The texts of JSON as they stand there, also those of a member that a later one of the same name replaces. They are read without
/// parsing the whole, which may be cut or not quite JSON. There are none in what does not begin like an object or a list.
fn texts(json: &str) -> impl Iterator<Item = Text<'_>> {
    let bytes = if begins_as_json(json) { json.as_bytes() } else { &[] };
    let (mut name, mut at) = (Name::default(), 0);
    std::iter::from_fn(move || {
        loop {
            let begin = at;
            at += 1;
            match bytes.get(begin)? {
                b'{' | b'}' => name = Name::default(),
                b'"' => {
                    at = end_of_text(bytes, begin);
                    let value = unescaped(&json[begin..at]);
                    if bytes[at..].trim_ascii_start().first() != Some(&b':') {
                        return Some(Text { name, value, place: begin..at });
                    }
                    name = Name::of(&value, (begin, at));
                }
                _ => {}
            }
        }
    })
}

/// Where a text in JSON ends that begins with a quote there.
fn end_of_text(json: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

fn unescaped(quoted: &str) -> Cow<'_, str> {
    let text = quoted.strip_prefix('"').unwrap_or(quoted);
    let text = text.strip_suffix('"').unwrap_or(text);
    match text.contains('\\') {
        true => serde_json::from_str(quoted).map_or(Cow::Borrowed(text), Cow::Owned),
        false => Cow::Borrowed(text),
    }
}

/// Whether JSON has members that its parsed value lacks, because a later one of the same object has their name.
pub fn has_replaced_members(json: &[u8], parsed: &Value) -> bool {
    fn members(value: &Value) -> usize {
        match value {
            Value::Object(object) => object.len() + object.values().map(members).sum::<usize>(),
            Value::Array(items) => items.iter().map(members).sum(),
            _ => 0,
        }
    }
    let (mut at, mut colons) = (0, 0);
    while let Some(byte) = json.get(at) {
        colons += usize::from(*byte == b':');
        at = if *byte == b'"' { end_of_text(json, at) } else { at + 1 };
    }
    colons > members(parsed)
}

fn masked_text(text: &str) -> Option<String> {
    let (mut masked, mut kept) = (String::new(), 0);
    for password in in_text(text) {
        // Its text may occur earlier too, such as in the name of the user.
        let begin = password.as_ptr().addr() - text.as_ptr().addr();
        masked.push_str(&text[kept..begin]);
        masked.push('$');
        masked.push_str(PASSWORD);
        kept = begin + password.len();
    }
    (kept > 0).then(|| masked + &text[kept..])
}

/// The passwords in the entries of a text, in the two forms in which providers list proxies: `user:password@host:port` and
/// `host:port:user:password`. The contract does not define the form of an entry, so a fourth part only counts if it looks like
/// nothing but a password.
pub fn in_text(text: &str) -> impl Iterator<Item = &str> {
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

/// The password in a member: its value, or a part of an address with user and password.
fn in_member(name: Name, value: &str) -> Option<&str> {
    if name.is_password && is_shown(value) {
        return Some(value);
    }
    let is_address = name.is_address && !value.contains(char::is_whitespace);
    let user = value.rsplit_once('@').filter(|_| is_address)?.0;
    // What is before a slash is a scheme.
    of_user(user.rsplit_once('/').map_or(user, |(_, user)| user))
}

/// The password behind a user, unless it is masked.
fn of_user(user: &str) -> Option<&str> {
    let (_, password) = user.split_once(':')?;
    Some(password).filter(|password| is_shown(password))
}

/// Whether a password is neither empty nor masked.
fn is_shown(password: &str) -> bool {
    password.chars().any(|c| c != '*')
}

/// Whether a text contains a part of a name of a credential, or begins an address with a user. Few do, and looking closer takes long.
pub fn may_contain_one(text: &[u8]) -> bool {
    /// What all their names contain. A backslash may begin an escaped letter.
    const STEMS: &str =
        "pass pwd key token secret credential cookie sess sig auth jwt sid csrf xsrf bearer otp @ \\";
    static SEARCH: LazyLock<Option<AhoCorasick>> =
        LazyLock::new(|| AhoCorasick::builder().ascii_case_insensitive(true).build(STEMS.split(' ')).ok());
    SEARCH.as_ref().is_none_or(|search| search.is_match(text))
}

/// Whether a member or header is a password: not if empty or masked, nor by a name that only has the word, `passwordUpdatedAt`.
pub fn is_password(name: &str, value: &str) -> bool {
    is_shown(value) && names_password(name)
}

fn names_password(name: &str) -> bool {
    if !may_contain_one(name.as_bytes()) {
        return false;
    }
    let name: String = name.to_ascii_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
    ["password", "passwd", "passphrase"].iter().any(|word| name.ends_with(word)) || name == "pwd"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_found_by_name_at_any_depth() {
        let body = serde_json::json!({"data": {"items": [{"proxy_password": "a"}, {"proxy_password": "b"}, {"PassWd": "c"}]},
                          "ip": "http://user:d@gw.example.net", "host": "user@gw.example.net", "message": "to: a:b@example.net",
                          "customCredentials": true, "passwordSet": true, "pwd": "***", "password": "",
                          "passwordRequired": "no", "passwordUpdatedAt": "2026-01-01T00:00:00Z"});
        let body = body.to_string();
        let found: Vec<_> = names(&body).collect();
        assert_eq!(found, ["proxy_password", "proxy_password", "PassWd", "ip"]);
    }

    #[test]
    fn entries_are_found_in_what_only_begins_like_json() {
        let text = "[2001:db8::7]:20001\r\n203.0.113.7:20002:user7:pAss-99";
        let mut found = Vec::new();
        reveal(text, |secret, name| found.push((secret.to_owned(), name)));
        assert_eq!(found, [("pAss-99".to_owned(), PASSWORD)]);
        // A byte is no UTF-8.
        let masked = masked(b"b@gw.example.net abc:b@gw.example.net:80 \xff");
        assert_eq!(
            masked.as_deref(),
            Some("b@gw.example.net abc:$PASSWORD@gw.example.net:80 \u{fffd}".as_bytes())
        );
    }

    #[test]
    fn only_what_looks_like_a_secret_is_learned() {
        let body = r#"{"secret":"2026-01-01T00:00:00Z","tokenExpires":"s3cret-value-1","key":"countryCode","token":"s3cret-value-2"}"#;
        let mut found = Vec::new();
        reveal(body, |secret, name| found.push((secret.to_owned(), name)));
        assert_eq!(found, [("s3cret-value-2".to_owned(), "HIDDEN")]);
    }

    /// A name for each list and each text would take hundreds of gigabytes and days.
    #[test]
    fn a_long_name_is_read_once() {
        let name = format!("\\u0061{}password", "x".repeat(1 << 20));
        for values in ["[".repeat(100_000) + "\"s3cret\"", format!("[{}\"s3cret\"", "\"\",".repeat(100_000))]
        {
            let mut found = Vec::new();
            reveal(&format!("{{\"{name}\":{values}"), |secret, name| found.push((secret.to_owned(), name)));
            assert_eq!(found, [("s3cret".to_owned(), PASSWORD)]);
        }
    }
}
