//! Faults in who may extract and how a token is sent.

use hyper::header::AUTHORIZATION;

use super::condition::{by_bearer, by_header, by_query, in_text, with_other_protocol};
use super::token::{
    LINK_CREDENTIAL, NOT_ENTITLED, NOT_VERIFIED, NOT_WHITELISTED, carries, credentials, served,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [transport(), equal(), link(), whitelist(), real_name(), entitlement()].into_iter().flatten().collect()
}

fn transport() -> Vec<Fault> {
    let alone = |call: &Call<'_>| credentials(call).len() == 1;
    let rejected =
        |id, breaks, carried: fn(&Call<'_>) -> bool| Fault::reject(id, breaks).when(alone).when(carried);
    let header = |id, breaks| rejected(id, breaks, by_header);
    let bearer = |id, breaks| rejected(id, breaks, by_bearer);
    faults_of![
        "extract.token-transport/",
        rejected("query", "The token is not taken from the query.", by_query),
        header("header", "The token is not taken from X-API-Key."),
        bearer("bearer", "The token is not taken from Authorization."),
        several("header-", "The token is not taken from X-API-Key", header).under([
            in_text,
            with_other_protocol,
            with_request_id
        ]),
        several("bearer-", "The token is not taken from Authorization", bearer).under([
            in_text,
            with_other_protocol,
            with_request_id
        ]),
    ]
}

fn equal() -> Vec<Fault> {
    let differ = |call: &Call<'_>| {
        let sent = credentials(call);
        sent.windows(2).any(|pair| pair[0] != pair[1])
    };
    let same = |call: &Call<'_>| {
        let sent = credentials(call);
        sent.len() > 1 && sent.windows(2).all(|pair| pair[0] == pair[1])
    };
    let wins = |id, breaks, losing: fn(&mut Call<'_>)| Fault::new(id, breaks).when(differ).request(losing);
    let rejected = |id, breaks, count: usize| {
        Fault::reject(id, breaks).when(same).when(move |call| credentials(call).len() == count)
    };
    let query_and_header = |call: &Call<'_>| by_query(call) && by_header(call);
    let query_and_bearer = |call: &Call<'_>| by_query(call) && by_bearer(call);
    let header_and_bearer = |call: &Call<'_>| by_header(call) && by_bearer(call);
    let all_three = |call: &Call<'_>| credentials(call).len() == 3;
    let second = carries(|facts| facts.second_token.as_ref());
    faults_of![
        "extract.token-equal/",
        wins("query-over-header", "The query takes precedence over a differing X-API-Key.", drop_header)
            .when(query_and_header),
        wins("header-over-query", "X-API-Key takes precedence over a differing query.", drop_query)
            .when(query_and_header),
        wins("query-over-bearer", "The query takes precedence over a differing bearer token.", drop_bearer)
            .when(query_and_bearer),
        wins("bearer-over-query", "A bearer token takes precedence over a differing query.", drop_query)
            .when(query_and_bearer),
        wins("header-over-bearer", "X-API-Key takes precedence over a differing bearer token.", drop_bearer)
            .when(header_and_bearer),
        wins(
            "bearer-over-header",
            "A bearer token takes precedence over a differing X-API-Key.",
            drop_header
        )
        .when(header_and_bearer),
        wins(
            "query-over-header-in-text",
            "The query takes precedence over a differing X-API-Key in text.",
            drop_header
        )
        .when(query_and_header)
        .when(in_text),
        wins("third-ignored", "With two equal tokens a differing bearer token is ignored.", drop_bearer)
            .when(all_three)
            .when(|call| matches!(&credentials(call)[..], [first, second, _] if first == second)),
        wins("second-ignored", "Between two equal tokens a differing X-API-Key is ignored.", drop_header)
            .when(all_three)
            .when(|call| matches!(&credentials(call)[..], [first, _, third] if first == third)),
        wins(
            "two-accounts-query-header",
            "Of the tokens of two accounts, the one in the query is used, not the one in X-API-Key.",
            drop_header
        )
        .when(query_and_header)
        .when(second),
        wins(
            "two-accounts-query-bearer",
            "Of the tokens of two accounts, the one in the query is used, not the bearer token.",
            drop_bearer
        )
        .when(query_and_bearer)
        .when(second),
        wins(
            "two-accounts-header-bearer",
            "Of the tokens of two accounts, the one in X-API-Key is used, not the bearer token.",
            drop_bearer
        )
        .when(header_and_bearer)
        .when(second),
        wins("last-character", "The last character of two tokens is not compared.", drop_header)
            .when(query_and_header)
            .when(|call| {
                let sent = credentials(call);
                let stem = |token: &str| {
                    token.chars().take(call.token.expose().chars().count() - 1).collect::<String>()
                };
                sent.windows(2).all(|pair| stem(&pair[0]) == stem(&pair[1]))
            }),
        rejected("equal-query-header", "Equal tokens in the query and X-API-Key are rejected.", 2)
            .when(query_and_header),
        rejected("equal-query-bearer", "Equal tokens in the query and Authorization are rejected.", 2)
            .when(query_and_bearer),
        rejected("equal-header-bearer", "Equal tokens in X-API-Key and Authorization are rejected.", 2)
            .when(header_and_bearer),
        rejected("equal-three", "Three equal tokens are rejected.", 3),
    ]
}

fn link() -> Vec<Fault> {
    let rejected = |id, breaks| Fault::reject(id, breaks).when(carries(LINK_CREDENTIAL));
    faults_of![
        "extract.link-credential/",
        rejected("rejected", "A link credential is rejected."),
        rejected("once", "A link credential works once.").when(|call| call.memory.calls() > 0),
        several("not-", "A link credential is rejected", rejected).under([
            in_text,
            with_other_protocol,
            with_request_id
        ]),
    ]
}

fn whitelist() -> Vec<Fault> {
    let served = |id, breaks| served(id, breaks, NOT_WHITELISTED);
    faults_of![
        "extract.whitelist/",
        served("not-asked", "The whitelist is ignored."),
        served("once", "The whitelist is checked in the first call only.").when(not_first),
        several("not-", "The whitelist is ignored", served).under([
            by_query,
            by_header,
            by_bearer,
            in_text,
            with_other_protocol,
            with_request_id
        ]),
    ]
}

fn real_name() -> Vec<Fault> {
    let served = |id, breaks| served(id, breaks, NOT_VERIFIED);
    faults_of![
        "extract.real-name/",
        served("not-asked", "Real-name verification is ignored."),
        served("once", "Real-name verification is checked in the first call only.").when(not_first),
        several("not-", "Real-name verification is ignored", served).under([
            by_query,
            by_header,
            by_bearer,
            in_text,
            with_other_protocol,
            with_request_id
        ]),
    ]
}

fn entitlement() -> Vec<Fault> {
    let unentitled = |id, breaks| served(id, breaks, NOT_ENTITLED);
    let partly = |id, breaks| {
        served(id, breaks, |facts| facts.token_partly_entitled.as_ref()).when(with_other_protocol)
    };
    faults_of![
        "extract.entitlement/",
        unentitled("not-asked", "Entitlements are ignored."),
        unentitled("once", "Entitlements are checked in the first call only.").when(not_first),
        partly("any-protocol", "An entitlement for one protocol covers the other."),
        several("not-", "Entitlements are ignored", unentitled).under([
            by_header,
            by_bearer,
            in_text,
            with_other_protocol
        ]),
        several("any-protocol-", "An entitlement for one protocol covers the other", partly)
            .under([in_text, by_bearer]),
    ]
}

/// Counts the requests that fit the conditions before it.
fn not_first(call: &Call<'_>) -> bool {
    call.memory.calls() > 0
}

fn drop_query(call: &mut Call<'_>) {
    call.drop_param(&call.contract.extract.api_key.name);
}

fn drop_header(call: &mut Call<'_>) {
    let name = &call.contract.extract.api_key_header;
    call.headers.remove(name.as_str());
}

fn drop_bearer(call: &mut Call<'_>) {
    call.headers.remove(AUTHORIZATION);
}
