//! The token of a request, in each of its transports. It becomes a [`Token`], which nothing can print.

use std::borrow::Cow;

use http::HeaderMap;
use sallyport_contract::table::{self, Location, Transport};

use super::{
    headers,
    request_error::{RequestError, Result},
};
use crate::{domain::token::Token, edge::responding::error_code::ErrorCode};

/// Reads the token from the transports of an operation, of which `query` is that in the query. Other transports are ignored
/// (`open.static.token-transport`).
///
/// # Errors
/// The token is missing or empty, a transport is repeated, or transports differ. No error shows a token.
pub fn read(
    query: Option<Cow<'_, str>>,
    headers: &HeaderMap,
    source: &'static table::Token,
) -> Result<Token> {
    let mut query = query;
    let mut found: Option<Cow<'_, str>> = None;
    for transport in &source.transports {
        let (sent, location, name) = match transport {
            Transport::Query(name) => (query.take(), Location::Query, name.as_str()),
            Transport::Header(name) => {
                (headers::single(headers, name)?.map(Into::into), Location::Header, name.as_str())
            }
            Transport::Bearer => {
                let value = headers::single(headers, "Authorization")?;
                (value.and_then(bearer).map(Into::into), Location::Header, "Authorization")
            }
        };
        let Some(sent) = sent else { continue };
        if sent.is_empty() {
            let error = RequestError::new(ErrorCode::TokenMissing, location.place(name), "must not be empty");
            return Err(error.citing(&source.not_empty));
        }
        match &found {
            None => found = Some(sent),
            Some(token) if *token == sent => {}
            Some(_) => {
                let problem = "expected the same token wherever the request sends one (query, X-API-Key, Authorization)";
                let error = RequestError::new(ErrorCode::Conflict, location.place(name), problem);
                return Err(error.citing(&source.agree));
            }
        }
    }
    let missing = || {
        let place = source.location.place(&source.name);
        RequestError::new(ErrorCode::TokenMissing, place, "missing token").citing(&source.required)
    };
    found.map(|token| Token::new(token.into_owned())).ok_or_else(missing)
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

    fn token(query: Option<&str>, sent: &[(&'static str, &str)], operation: &str) -> Result<String> {
        let mut headers = HeaderMap::new();
        for (name, value) in sent {
            headers.append(*name, HeaderValue::from_str(value).unwrap());
        }
        let source = &sallyport_contract::operation(operation).unwrap().token;
        read(query.map(Into::into), &headers, source).map(|token| token.expose().to_owned())
    }

    const EVERYWHERE: &str = "extractProxies";
    const QUERY: &str = "listStaticGroups";

    #[test]
    fn each_transport_alone_and_all_together() {
        let (key, bearer) = (("x-api-key", "t"), ("authorization", "bEaReR t"));
        assert_eq!(token(Some("t"), &[], EVERYWHERE).unwrap(), "t");
        assert_eq!(token(None, &[key], EVERYWHERE).unwrap(), "t");
        assert_eq!(token(None, &[bearer], EVERYWHERE).unwrap(), "t");
        assert_eq!(token(Some("t"), &[key, bearer], EVERYWHERE).unwrap(), "t");
        assert_eq!(token(Some("t"), &[("authorization", "Basic dTpw")], EVERYWHERE).unwrap(), "t");
        assert_eq!(token(Some("t"), &[("x-api-key", "other")], QUERY).unwrap(), "t");
    }

    #[test]
    fn transports_that_differ_are_rejected() {
        for (query, key, bearer) in [("a", "b", "a"), ("a", "a", "b"), ("b", "a", "a")] {
            let sent = [("x-api-key", key), ("authorization", &*format!("Bearer {bearer}"))];
            let error = token(Some(query), &sent, EVERYWHERE).unwrap_err();
            assert_eq!((error.code, error.clause), (ErrorCode::Conflict, Some("extract.token-equal")));
        }
    }

    #[test]
    fn a_missing_and_an_empty_token_get_the_same_error() {
        for (query, sent, clause) in [
            (None, None, "all.token-required"),
            (Some(""), None, "extract.token-transport"),
            (None, Some(("x-api-key", "")), "extract.token-transport"),
            (None, Some(("authorization", "Bearer")), "extract.token-transport"),
        ] {
            let error = token(query, sent.as_slice(), EVERYWHERE).unwrap_err();
            assert_eq!((error.code, error.clause), (ErrorCode::TokenMissing, Some(clause)));
        }
        let error = token(None, &[("x-api-key", "t")], QUERY).unwrap_err();
        assert_eq!((error.code, error.clause), (ErrorCode::TokenMissing, Some("all.token-required")));
    }

    #[test]
    fn no_error_shows_a_token() {
        let sent = [("x-api-key", "sesame"), ("x-api-key", "sesame")];
        let repeated = token(None, &sent, EVERYWHERE).unwrap_err();
        let conflict = token(Some("sesame"), &[("x-api-key", "sesame2")], EVERYWHERE).unwrap_err();
        assert_eq!((repeated.code, conflict.code), (ErrorCode::Repeated, ErrorCode::Conflict));
        assert!(!format!("{repeated} {repeated:?} {conflict} {conflict:?}").contains("sesame"));
    }
}
