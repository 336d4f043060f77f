//! The tokens of requests, and requests that are served as if they had another one.

use hyper::header::HeaderValue;

use crate::lab::{Call, Fault};
use crate::target::{Facts, Secret};

/// The token that a fault is about.
pub(super) type Token = fn(&Facts) -> Option<&Secret>;

pub(super) const LINK_CREDENTIAL: Token = |facts| facts.link_credential.as_ref();
pub(super) const NOT_WHITELISTED: Token = |facts| facts.token_not_whitelisted.as_ref();
pub(super) const NOT_VERIFIED: Token = |facts| facts.token_not_verified.as_ref();
pub(super) const NOT_ENTITLED: Token = |facts| facts.token_not_entitled.as_ref();

/// Requests with a token that may not extract are served as if they came from the main account.
pub(super) fn served(id: &'static str, breaks: &'static str, token: Token) -> Fault {
    Fault::new(id, breaks).when(carries(token)).request(|call| call.as_main())
}

/// The request has the token, in whatever way.
pub(super) fn carries(token: Token) -> impl Fn(&Call<'_>) -> bool + Copy + Send + Sync {
    move |call| {
        let token = token(call.facts);
        token.is_some_and(|token| credentials(call).iter().any(|sent| sent == token.expose()))
    }
}

/// Every token that a request carries, in whatever way.
pub(crate) fn credentials(call: &Call<'_>) -> Vec<String> {
    let extract = &call.contract.extract;
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let header = call.headers.get_all(extract.api_key_header.as_str()).iter().map(text);
    let bearer = call.headers.get_all(hyper::header::AUTHORIZATION).iter().map(text);
    let bearer = bearer.map(|value| value.trim_start_matches("Bearer").trim_start().to_owned());
    query_tokens(call).into_iter().chain(header).chain(bearer).collect()
}

/// The tokens of the query.
pub(super) fn query_tokens(call: &Call<'_>) -> Vec<String> {
    let name = &call.contract.extract.api_key.name;
    call.params().into_iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect()
}

// Which requests are served although the token of the query is missing or ambiguous.

pub(super) fn without_token(call: &mut Call<'_>) {
    if query_tokens(call).is_empty() {
        call.as_main();
    }
}

pub(super) fn empty_token(call: &mut Call<'_>) {
    if query_tokens(call) == [""] {
        call.as_main();
    }
}

pub(super) fn first_of_two_tokens(call: &mut Call<'_>) {
    if let [first, _, ..] = &query_tokens(call)[..] {
        call.act_as(first);
    }
}

pub(super) fn last_of_two_tokens(call: &mut Call<'_>) {
    if let [_, .., last] = &query_tokens(call)[..] {
        call.act_as(last);
    }
}

pub(super) fn any_of_two_tokens(call: &mut Call<'_>) {
    let tokens = query_tokens(call);
    if tokens.len() > 1 && tokens.iter().any(|token| token == call.token.expose()) {
        call.as_main();
    }
}

pub(super) fn act_as_second(call: &mut Call<'_>) {
    if let Some(second) = &call.facts.second_token {
        call.act_as(second.expose());
    }
}
