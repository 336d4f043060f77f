//! The token of a request, in each of its transports. It becomes a [`Token`], which nothing can print.

use http::{HeaderMap, HeaderName, header::AUTHORIZATION};

use crate::domain::token::Token;
use crate::edge::{
    reading::{headers, query::Query},
    responding::error_code::ErrorCode,
    types::request_error::{Input, Part, RequestError, Result},
};

/// A way to send the token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A query parameter.
    Query(&'static str),
    /// A header, as the document spells it.
    Header(&'static str, HeaderName),
    /// `Authorization: Bearer …`. Other schemes are ignored.
    Bearer,
}

/// Reads the token from the transports of an operation. Other transports are ignored (`open.static.token-transport`).
///
/// # Errors
/// The token is missing or empty, a transport is repeated, or transports differ, which breaks the clause `agree`. No error shows
/// a token.
pub fn read<const N: usize>(
    query: &mut Query<'_, N>,
    headers: &HeaderMap,
    transports: &[Transport],
    input: Input<'_>,
    agree: Option<&'static str>,
) -> Result<Token> {
    let mut found: Option<String> = None;
    for transport in transports {
        let single = |name: &HeaderName, part| headers::single(headers, name, Input::new(part, &[]));
        let (part, sent) = match transport {
            Transport::Query(name) => (Part::Parameter(name), query.take(name)),
            Transport::Header(name, header) => {
                let part = Part::Header(name);
                (part, single(header, part)?.map(Into::into))
            }
            Transport::Bearer => {
                let part = Part::Header("Authorization");
                (part, single(&AUTHORIZATION, part)?.and_then(bearer).map(Into::into))
            }
        };
        let Some(sent) = sent else { continue };
        if sent.is_empty() {
            let here = Input::new(part, input.clauses);
            return Err(here.error(ErrorCode::TokenMissing, "minLength", "must not be empty"));
        }
        match &found {
            None => found = Some(sent.into_owned()),
            Some(token) if *token == sent => {}
            Some(_) => {
                return Err(RequestError {
                    code: ErrorCode::Conflict,
                    part: Some(part.to_string()),
                    clause: agree,
                    problem: "expected the same token wherever the request sends one (query, X-API-Key, Authorization)".into(),
                });
            }
        }
    }
    found.map(Token::new).ok_or_else(|| input.error(ErrorCode::TokenMissing, "required", "missing token"))
}

/// The token of a bearer header; the scheme's letter case does not matter.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ').unwrap_or((value, ""));
    scheme.eq_ignore_ascii_case("Bearer").then(|| token.trim_matches(' '))
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    static ALL: [Transport; 3] = [
        Transport::Query("api_key"),
        Transport::Header("X-API-Key", HeaderName::from_static("x-api-key")),
        Transport::Bearer,
    ];
    const INPUT: Input<'_> = Input::new(Part::Parameter("api_key"), &[("any", "all.token-required")]);

    fn token(raw: &str, sent: &[(&'static str, &str)], transports: &[Transport]) -> Result<String> {
        let mut query = Query::parse(Some(raw), &["api_key"])?;
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        read(&mut query, &headers, transports, INPUT, Some("extract.token-equal"))
            .map(|token| token.expose().to_owned())
    }

    #[test]
    fn each_transport_alone_and_all_together() {
        let (key, bearer) = (("x-api-key", "t"), ("authorization", "bEaReR t"));
        assert_eq!(token("api_key=t", &[], &ALL).unwrap(), "t");
        assert_eq!(token("", &[key], &ALL).unwrap(), "t");
        assert_eq!(token("", &[bearer], &ALL).unwrap(), "t");
        assert_eq!(token("api_key=t", &[key, bearer], &ALL).unwrap(), "t");
        assert_eq!(token("api_key=t", &[("authorization", "Basic dTpw")], &ALL).unwrap(), "t");
    }

    #[test]
    fn transports_that_differ_are_rejected() {
        for (query, key, bearer) in [("a", "b", "a"), ("a", "a", "b"), ("b", "a", "a")] {
            let sent = [("x-api-key", key), ("authorization", &*format!("Bearer {bearer}"))];
            let error = token(&format!("api_key={query}"), &sent, &ALL).unwrap_err();
            assert_eq!((error.code, error.clause), (ErrorCode::Conflict, Some("extract.token-equal")));
        }
    }

    #[test]
    fn a_missing_and_an_empty_token_get_the_same_error() {
        for (query, sent) in [
            ("", None),
            ("api_key=", None),
            ("", Some(("x-api-key", ""))),
            ("", Some(("authorization", "Bearer"))),
        ] {
            let error = token(query, sent.as_slice(), &ALL).unwrap_err();
            assert_eq!((error.code, error.clause), (ErrorCode::TokenMissing, Some("all.token-required")));
        }
        assert_eq!(token("", &[("x-api-key", "t")], &ALL[..1]).unwrap_err().code, ErrorCode::TokenMissing);
    }

    #[test]
    fn no_error_shows_a_token() {
        let sent = [("x-api-key", "sesame"), ("x-api-key", "sesame")];
        let repeated = token("", &sent, &ALL).unwrap_err();
        let conflict = token("api_key=sesame", &[("x-api-key", "sesame2")], &ALL).unwrap_err();
        assert_eq!((repeated.code, conflict.code), (ErrorCode::Repeated, ErrorCode::Conflict));
        assert!(!format!("{repeated} {repeated:?} {conflict} {conflict:?}").contains("sesame"));
    }
}
