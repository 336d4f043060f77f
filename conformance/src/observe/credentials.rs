use std::collections::BTreeMap;

use serde_json::Value;

use super::archive::Header;
use crate::contract::Contract;
use crate::wire::{Redactor, Request, Secret, ShortSecret, headers, password};

/// Credentials of the traffic by value. They are hidden in all output, and tell callers apart.
#[derive(Default)]
pub(super) struct Credentials {
    known: BTreeMap<String, &'static str>,
    characters: usize,
}

/// A request without its credentials.
pub(super) struct MaskedRequest {
    pub(super) request: Request,
    /// The credentials that the request carries, with the names that stand for them.
    found: Vec<(&'static str, String)>,
}

// Why a request's credentials can't be hidden.
const SHORT: &str = "a token of fewer than 6 characters cannot be hidden in reports";
const TOO_MANY: &str =
    "more than 200 different tokens, or 262,144 characters of them, cannot be hidden in reports";

impl MaskedRequest {
    /// A request with names in place of its credentials.
    pub(super) fn new(
        contract: &Contract,
        method: &str,
        path: &str,
        query: &str,
        sent: &[Header],
        body: Option<&str>,
    ) -> Self {
        let plain = Request::recorded(method, path, query);
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let token = |name: &str| name.eq_ignore_ascii_case(&contract.extract.operation.api_key.name);
        let name_of = |name: &str| if token(name) { API_KEY } else { HIDDEN };
        let mut request = Request::recorded(method, path, "");
        for (name, value) in plain.query_pairs() {
            let Some(name) = name else {
                // Raw text of a query may hold a token in a form that only the service reads.
                request = request.raw_query(if value.contains('=') { "$HIDDEN=$HIDDEN" } else { "$HIDDEN" });
                // A short piece, such as `%ff`, is no token that anybody could use.
                if value.chars().count() >= Credentials::MIN_LENGTH {
                    found.push((HIDDEN, value.to_owned()));
                }
                continue;
            };
            if value.is_empty() || !(token(name) || headers::masked(name, value) != value) {
                request = request.add_query(name, value);
            } else {
                found.push((name_of(name), value.to_owned()));
                request = request.stand_in(name, &stand_in(name_of(name), value));
            }
        }
        for Header { name, value } in sent.iter().filter(|header| !header.name.starts_with(':')) {
            let mut masked = headers::masked(name, value);
            if masked != *value {
                let is_token = name.eq_ignore_ascii_case(&contract.extract.api_key_header)
                    || name.eq_ignore_ascii_case("authorization") && masked.starts_with("Bearer $");
                let known = if is_token { API_KEY } else { HIDDEN };
                for part in parts(name, value) {
                    if is_token {
                        masked = masked.replace("$HIDDEN", &stand_in(API_KEY, part));
                    }
                    found.push((known, part.to_owned()));
                }
            }
            request = request.header(name, masked);
        }
        if let Some(body) = body {
            let kind = sent.iter().find(|header| header.name.eq_ignore_ascii_case("content-type"));
            let body = masked_body(body, |name, value| {
                found.push((name_of(name), value.to_owned()));
                stand_in(name_of(name), value)
            });
            request = request.body(kind.map_or("", |header| &header.value), body);
        }
        Self { request, found }
    }

    /// The credentials as one text: equal for requests of one caller.
    pub(super) fn caller(&self) -> String {
        self.found.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("\n")
    }
}

impl Credentials {
    /// Maximum number of different credentials, and of their characters: output is searched for each in many spellings.
    const MAX: usize = 200;
    const MAX_CHARACTERS: usize = 256 << 10;
    /// Minimum length of one, in characters; see [`Redactor::new`].
    const MIN_LENGTH: usize = 6;

    /// Hides the credentials of a request from now on, or says why it can't.
    pub(super) fn learn(&mut self, masked: &MaskedRequest) -> Result<(), &'static str> {
        for (stand_in, value) in &masked.found {
            if Secret::is_shown(value) || self.known.contains_key(value) {
                continue;
            }
            let length = value.chars().count();
            if length < Self::MIN_LENGTH {
                return Err(SHORT);
            }
            let characters = self.characters.saturating_add(length);
            if self.known.len() >= Self::MAX || characters > Self::MAX_CHARACTERS {
                return Err(TOO_MANY);
            }
            self.characters = characters;
            self.known.insert(value.clone(), stand_in);
        }
        Ok(())
    }

    pub(super) fn redactor(&self) -> Result<Redactor, ShortSecret> {
        Redactor::new(self.known.iter().map(|(value, name)| Secret::new(name, value.clone())))
    }
}

const API_KEY: &str = "API_KEY";
const HIDDEN: &str = "HIDDEN";

/// What a request has in place of a credential. What an earlier redaction left stays: it may stand for nearly a token.
fn stand_in(name: &str, value: &str) -> String {
    if Secret::is_shown(value) { value.to_owned() } else { format!("${name}") }
}

/// A body, as JSON or a form, without what is named like a credential. `found` receives name and value, and returns what stands for
/// it. What is neither is left out as a whole if it may name one, and so are members that a later one replaces.
fn masked_body(body: &str, mut found: impl FnMut(&str, &str) -> String) -> String {
    // A backslash may begin an escaped letter.
    let may_name_one = || {
        let mut words = body.split(|c: char| !c.is_alphanumeric() && c != '_');
        body.contains('\\') || words.any(headers::is_credential)
    };
    if let Ok(mut value) = serde_json::from_str::<Value>(body) {
        let mut is_masked = password::has_replaced_members(body.as_bytes(), &value) && may_name_one();
        mask("", false, &mut value, &mut |name, text| {
            is_masked = true;
            found(name, text)
        });
        return if is_masked { value.to_string() } else { body.to_owned() };
    }
    let is_form = !body.contains(|c: char| c.is_whitespace() || "{}<>\"".contains(c));
    if !is_form {
        return if may_name_one() { format!("${HIDDEN}") } else { body.to_owned() };
    }
    let pairs = body.split('&').map(|pair| {
        let decoded = url::form_urlencoded::parse(pair.as_bytes()).next();
        let hidden = decoded.filter(|(name, value)| !value.is_empty() && headers::is_credential(name));
        match hidden.zip(pair.split_once('=')) {
            Some(((name, value), (shown, _))) => format!("{shown}={}", found(&name, &value)),
            None => pair.to_owned(),
        }
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// Masks what is named like a credential, and all texts within it.
fn mask(name: &str, is_within: bool, value: &mut Value, found: &mut impl FnMut(&str, &str) -> String) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                mask(name, is_within || headers::is_credential(name), member, found);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(name, is_within, item, found)),
        Value::String(text) if is_within && !text.is_empty() => *text = found(name, text),
        Value::Number(number) if is_within => *value = found(name, &number.to_string()).into(),
        _ => {}
    }
}

/// The secret parts of a header: each cookie, the credentials after a scheme, or all of it.
fn parts<'a>(name: &str, value: &'a str) -> Vec<&'a str> {
    if name.eq_ignore_ascii_case("cookie") {
        let of_cookie = |cookie: &'a str| cookie.split_once('=').map_or(cookie, |(_, value)| value).trim();
        // A cookie of a few characters chooses a language or a colour; none of its header is shown.
        let is_long = |value: &&str| value.chars().count() >= Credentials::MIN_LENGTH;
        return value.split(';').map(of_cookie).filter(is_long).collect();
    }
    let value = value.trim();
    let is_scheme = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let secret = match value.split_once(' ') {
        Some((scheme, rest)) if is_scheme(scheme) => rest.trim(),
        _ => value,
    };
    if secret.is_empty() { Vec::new() } else { vec![secret] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(
        credentials: &mut Credentials,
        query: &str,
        body: Option<&str>,
    ) -> Result<MaskedRequest, &'static str> {
        let contract = Contract::embedded().expect("contract");
        let masked = MaskedRequest::new(contract, "GET", "/a", query, &[], body);
        credentials.learn(&masked).map(|()| masked)
    }

    #[test]
    fn nothing_that_opens_something_stays_in_a_body() {
        for (body, expected) in [
            (r#"{"ips":["a"],"api_key":"body-s3cret"}"#, r#"{"ips":["a"],"api_key":"$API_KEY"}"#),
            (
                r#"{"auth":{"user":"u-s3cret","pin":1234567}}"#,
                r#"{"auth":{"user":"$HIDDEN","pin":"$HIDDEN"}}"#,
            ),
            (r#"{"tokens":["one-s3cret"],"page":1}"#, r#"{"tokens":["$HIDDEN"],"page":1}"#),
            ("num=1&appkey=form-s3cret&api%5Fkey=f%6Frm-s3cret", "num=1&appkey=$HIDDEN&api%5Fkey=$API_KEY"),
            (r#"{"api_key": "cut-s3cret", "#, "$HIDDEN"),
            // Of members of one name, only the last one is parsed.
            (r#"{"api_key":"dup-s3cret","api_key":null, "n": 1}"#, r#"{"api_key":null,"n":1}"#),
            (r#"{"a":[{"\u0070in_\u006bey":"dup-s3cret"}],"a":":\":"}"#, r#"{"a":":\":"}"#),
            (r#"{"ips": ["a"], "ips": ["b"]}"#, r#"{"ips": ["a"], "ips": ["b"]}"#),
            (r#"{"\u0061pi_k\u0065y": "cut-s3cret", "#, "$HIDDEN"),
            (r#"{"keys": {}, "a": ":\":"}"#, r#"{"keys": {}, "a": ":\":"}"#),
            (r#"{ "ips": [ "a" ] }"#, r#"{ "ips": [ "a" ] }"#),
            ("plain words", "plain words"),
        ] {
            let mut credentials = Credentials::default();
            let masked = mask(&mut credentials, "", Some(body)).expect("hidden");
            assert_eq!(masked.request.body_bytes().as_deref(), Some(expected.as_bytes()), "{body}");
            let echo = credentials.redactor().expect("long secrets").redact("body-s3cret form-s3cret");
            assert!(!body.contains("body") || !echo.contains("body-s3cret"), "{echo}");
            assert!(!body.contains("form") || !echo.contains("form-s3cret"), "{echo}");
        }
        let short = mask(&mut Credentials::default(), "", Some(r#"{"api_key":"abc"}"#));
        assert_eq!(short.err(), Some(SHORT));
    }

    #[test]
    fn what_cannot_be_hidden_is_not_judged() {
        let mut credentials = Credentials::default();
        assert_eq!(mask(&mut credentials, "api_key=abc", None).err(), Some(SHORT));
        assert!(mask(&mut credentials, "api_key=", None).is_ok());
        assert!(mask(&mut credentials, "api_key=%24API_KEY", None).is_ok(), "a stand-in of our own report");
        for number in 0..Credentials::MAX {
            mask(&mut credentials, &format!("api_key=token-{number}"), None).expect("hidden");
        }
        assert_eq!(mask(&mut credentials, "api_key=one-more", None).err(), Some(TOO_MANY));
        assert!(mask(&mut credentials, "api_key=token-7", None).is_ok());
        let long = format!("api_key={}", "x".repeat(Credentials::MAX_CHARACTERS + 1));
        assert_eq!(mask(&mut Credentials::default(), &long, None).err(), Some(TOO_MANY));
    }
}
