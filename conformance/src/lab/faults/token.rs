//! The tokens of requests, and requests that are served as if they had another one.

use hyper::header::HeaderValue;

use super::row::{Act, Need, When, request, that};
use crate::lab::Call;
use crate::target::{Fact, Facts, Secret};

/// The token that a fault is about, and the fact that it is.
#[derive(Clone, Copy)]
pub(crate) struct Token(Fact, fn(&Facts) -> Option<&Secret>);

pub(crate) const SECOND: Token = Token(Fact::SecondToken, |facts| facts.second_token.as_ref());
pub(crate) const EMPTY: Token = Token(Fact::EmptyToken, |facts| facts.empty_token.as_ref());
pub(crate) const LINK: Token = Token(Fact::LinkCredential, |facts| facts.link_credential.as_ref());
pub(crate) const NOT_WHITELISTED: Token =
    Token(Fact::TokenNotWhitelisted, |facts| facts.token_not_whitelisted.as_ref());
pub(crate) const NOT_VERIFIED: Token =
    Token(Fact::TokenNotVerified, |facts| facts.token_not_verified.as_ref());
pub(crate) const NOT_ENTITLED: Token =
    Token(Fact::TokenNotEntitled, |facts| facts.token_not_entitled.as_ref());
pub(crate) const PARTLY_ENTITLED: Token =
    Token(Fact::TokenPartlyEntitled, |facts| facts.token_partly_entitled.as_ref());

/// The request has the token, in whatever way.
pub(crate) fn carries(Token(fact, token): Token) -> When {
    let carries = move |call: &Call<'_>| {
        token(call.facts).is_some_and(|token| credentials(call).iter().any(|sent| sent == token.expose()))
    };
    that(carries).needs(Need::Fact(fact))
}

/// The first token of the query is this one.
pub(crate) fn of_account(Token(fact, token): Token) -> When {
    let is_first = move |call: &Call<'_>| {
        token(call.facts)
            .is_some_and(|token| query_tokens(call).first().is_some_and(|sent| sent == token.expose()))
    };
    that(is_first).needs(Need::Fact(fact))
}

/// A token of the query is that of the main account.
pub(crate) fn of_main_account() -> When {
    that(|call| query_tokens(call).iter().any(|token| token == call.token.expose())).needs(Need::Token)
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

pub(crate) fn query_tokens(call: &Call<'_>) -> Vec<String> {
    let name = &call.contract.extract.operation.api_key.name;
    call.params().into_iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect()
}

// Which requests are served although the token of the query is missing or ambiguous.

/// The tokens of the query fit: then the request is served as one of the main account.
pub(crate) fn serve_tokens(fits: fn(&Call<'_>, &[String]) -> bool) -> Act {
    let serve = move |call: &mut Call<'_>| {
        if fits(call, &query_tokens(call)) {
            call.as_main();
        }
    };
    request(serve).needs(Need::Token)
}

pub(crate) fn without_token() -> Act {
    serve_tokens(|_, sent| sent.is_empty())
}

pub(crate) fn empty_token() -> Act {
    serve_tokens(|_, sent| sent == [""])
}

pub(crate) fn any_of_two_tokens() -> Act {
    serve_tokens(|call, sent| sent.len() > 1 && sent.iter().any(|token| token == call.token.expose()))
}

pub(crate) fn first_of_two_tokens(call: &mut Call<'_>) {
    if let [first, _, ..] = &query_tokens(call)[..] {
        call.act_as(first);
    }
}

pub(crate) fn last_of_two_tokens(call: &mut Call<'_>) {
    if let [_, .., last] = &query_tokens(call)[..] {
        call.act_as(last);
    }
}

/// Serves the request as one of the second account.
pub(crate) fn as_second() -> Act {
    request(act_as_second).needs(Need::Fact(Fact::SecondToken))
}

pub(crate) fn act_as_second(call: &mut Call<'_>) {
    if let Some(second) = &call.facts.second_token {
        call.act_as(second.expose());
    }
}
