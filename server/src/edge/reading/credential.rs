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
