use std::collections::BTreeMap;

use super::archive::Header;
use crate::contract::Contract;
use crate::wire::{Redactor, Request, Secret, ShortSecret, headers};

/// Credentials of the traffic by value. They are hidden in all output, and tell callers apart.
#[derive(Default)]
pub(super) struct Credentials {
    known: BTreeMap<String, &'static str>,
}

/// A request without its credentials.
pub(super) struct MaskedRequest {
    pub(super) request: Request,
    /// The credentials that the request carries, as one text: equal for requests of one caller.
    pub(super) caller: String,
}

/// Why a request's credentials can't be hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unhidden {
    Short,
    TooMany,
}

impl Credentials {
    /// Maximum number of different credentials that output is searched for.
    const MAX: usize = 200;
    /// Minimum length of one, in characters; see [`Redactor::new`].
    const MIN_LENGTH: usize = 6;

    /// A request with names in place of its credentials, which are known from now on.
    pub(super) fn mask(
        &mut self,
        contract: &Contract,
        method: &str,
        path: &str,
        query: &str,
        sent: &[Header],
        body: Option<&str>,
    ) -> Result<MaskedRequest, Unhidden> {
        let plain = Request::recorded(method, path, query);
        let mut found: Vec<(&'static str, String)> = Vec::new();
        let token = |name: &str| name.eq_ignore_ascii_case(&contract.extract.api_key.name);
        let mut request = Request::recorded(method, path, "");
        for (name, value) in plain.query_pairs() {
            let Some(name) = name else {
                // Raw text of a query may hold a token in a form that only the service reads.
                request = request.raw_query(if value.contains('=') { "$HIDDEN=$HIDDEN" } else { "$HIDDEN" });
                // A short piece, such as `%ff`, is no token that anybody could use.
                if value.chars().count() >= Self::MIN_LENGTH {
                    found.push((HIDDEN, value.to_owned()));
                }
                continue;
            };
            let stand_in = if token(name) { API_KEY } else { HIDDEN };
            if value.is_empty() || !(token(name) || headers::masked(name, value) != value) {
                request = request.add_query(name, value);
            } else {
                found.push((stand_in, value.to_owned()));
                request = request.stand_in(name, stand_in);
            }
        }
        for Header { name, value } in sent.iter().filter(|header| !header.name.starts_with(':')) {
            let masked = headers::masked(name, value);
            if masked != *value {
                found.extend(parts(name, value).map(|part| (HIDDEN, part.to_owned())));
            }
            request = request.header(name, masked);
        }
        if let Some(body) = body {
            let kind = sent.iter().find(|header| header.name.eq_ignore_ascii_case("content-type"));
            request = request.body(kind.map_or("", |header| &header.value), body.to_owned());
        }
        for (stand_in, value) in &found {
            // Stand-ins of an earlier redaction are none.
            if value.starts_with('$') || self.known.contains_key(value) {
                continue;
            }
            if value.chars().count() < Self::MIN_LENGTH {
                return Err(Unhidden::Short);
            }
            if self.known.len() >= Self::MAX {
                return Err(Unhidden::TooMany);
            }
            self.known.insert(value.clone(), stand_in);
        }
        let caller = found.into_iter().map(|(_, value)| value).collect::<Vec<_>>().join("\n");
        Ok(MaskedRequest { request, caller })
    }

    /// Hides all of them.
    pub(super) fn redactor(&self) -> Result<Redactor, ShortSecret> {
        Redactor::new(self.known.iter().map(|(value, name)| Secret::new(name, value.clone())))
    }
}

const API_KEY: &str = "API_KEY";
const HIDDEN: &str = "HIDDEN";

/// The secret parts of a header: each cookie, the credentials after a scheme, or all of it.
fn parts<'a>(name: &str, value: &'a str) -> Box<dyn Iterator<Item = &'a str> + 'a> {
    if name.eq_ignore_ascii_case("cookie") {
        let of_cookie = |cookie: &'a str| cookie.split_once('=').map_or(cookie, |(_, value)| value).trim();
        // A cookie of a few characters chooses a language or a colour; none of its header is shown.
        return Box::new(
            value.split(';').map(of_cookie).filter(|value| value.chars().count() >= Credentials::MIN_LENGTH),
        );
    }
    let value = value.trim();
    let is_scheme = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let secret = match value.split_once(' ') {
        Some((scheme, rest)) if is_scheme(scheme) => rest.trim(),
        _ => value,
    };
    Box::new(std::iter::once(secret).filter(|secret| !secret.is_empty()))
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("known", &self.known.len()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &str, value: &str) -> Header {
        Header { name: name.to_owned(), value: value.to_owned() }
    }

    fn mask(
        credentials: &mut Credentials,
        query: &str,
        headers: &[Header],
    ) -> Result<MaskedRequest, Unhidden> {
        let contract = Contract::embedded().expect("contract");
        credentials.mask(contract, "GET", "/a", query, headers, None)
    }

    #[test]
    fn nothing_that_opens_something_stays_in_a_request() {
        let mut credentials = Credentials::default();
        let sent = [
            header("Authorization", "Bearer bearer-s3cret"),
            header("X-API-Key", "header-s3cret"),
            header("Cookie", "lang=en; sid=cookie-s3cret"),
            header("Referer", "https://x.invalid/?token=referer-s3cret"),
            header(":authority", "pseudo"),
            header("Accept", "a/b"),
        ];
        let masked = mask(&mut credentials, "num=1&api_key=query-s3cret&x_token=other-s3cret&%ff", &sent)
            .expect("hidden");
        let shown = format!("{} {:?}", masked.request.target(), masked.request.headers());
        assert!(shown.starts_with("/a?num=1&api_key=$API_KEY&x_token=$HIDDEN"), "{shown}");
        let text: Vec<String> = masked
            .request
            .headers()
            .iter()
            .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
            .collect();
        assert!(!format!("{shown}{text:?}").contains("s3cret"), "{shown} {text:?}");
        let redactor = credentials.redactor().expect("long secrets");
        let echo = redactor.redact("query-s3cret header-s3cret bearer-s3cret cookie-s3cret other-s3cret");
        assert!(!echo.contains("s3cret"), "{echo}");
        assert!(!format!("{credentials:?}").contains("s3cret"));
    }

    #[test]
    fn what_cannot_be_hidden_is_not_judged() {
        let mut credentials = Credentials::default();
        assert_eq!(mask(&mut credentials, "api_key=abc", &[]).err(), Some(Unhidden::Short));
        assert!(mask(&mut credentials, "api_key=", &[]).is_ok());
        assert!(mask(&mut credentials, "api_key=%24API_KEY", &[]).is_ok(), "a stand-in of our own report");
        for number in 0..Credentials::MAX {
            mask(&mut credentials, &format!("api_key=token-{number}"), &[]).expect("hidden");
        }
        assert_eq!(mask(&mut credentials, "api_key=one-more", &[]).err(), Some(Unhidden::TooMany));
        assert!(mask(&mut credentials, "api_key=token-7", &[]).is_ok());
    }
}
