//! Faults in who may extract and how a token is sent.

use crate::target::Secret;
use hyper::header::AUTHORIZATION;

use super::all::credentials;
use super::condition::{by_bearer, by_header, by_query, in_text, under, with_other_protocol};
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [transport(), equal(), link(), whitelist(), real_name(), entitlement()].into_iter().flatten().collect()
}

fn transport() -> Vec<Fault> {
    let alone = |context: &Context, seen: &ProxiedRequest| credentials(context, seen).len() == 1;
    let rejected = |id, breaks, carried: fn(&Context, &ProxiedRequest) -> bool| {
        Fault::request(id, breaks, Context::reject).when(alone).when(carried)
    };
    let header = |id, breaks| rejected(id, breaks, by_header);
    let bearer = |id, breaks| rejected(id, breaks, by_bearer);
    let mut faults = vec![
        rejected("extract.token-transport/query", "The token is not taken from the query.", by_query),
        header("extract.token-transport/header", "The token is not taken from X-API-Key."),
        bearer("extract.token-transport/bearer", "The token is not taken from Authorization."),
    ];
    faults.extend(under!(
        header,
        "extract.token-transport/header-",
        "The token is not taken from X-API-Key",
        [in_text, with_other_protocol, with_request_id]
    ));
    faults.extend(under!(
        bearer,
        "extract.token-transport/bearer-",
        "The token is not taken from Authorization",
        [in_text, with_other_protocol, with_request_id]
    ));
    faults
}

fn equal() -> Vec<Fault> {
    let differ = |context: &Context, seen: &ProxiedRequest| {
        let sent = credentials(context, seen);
        sent.windows(2).any(|pair| pair[0] != pair[1])
    };
    let same = |context: &Context, seen: &ProxiedRequest| {
        let sent = credentials(context, seen);
        sent.len() > 1 && sent.windows(2).all(|pair| pair[0] == pair[1])
    };
    let wins = |id,
                breaks,
                losing: fn(&Context, &mut ProxiedRequest),
                carried: fn(&Context, &ProxiedRequest) -> bool| {
        Fault::request(id, breaks, losing).when(differ).when(carried)
    };
    let rejected = |id, breaks, count: usize, carried: fn(&Context, &ProxiedRequest) -> bool| {
        Fault::request(id, breaks, Context::reject)
            .when(same)
            .when(move |context, seen| credentials(context, seen).len() == count)
            .when(carried)
    };
    let query_and_header =
        |context: &Context, seen: &ProxiedRequest| by_query(context, seen) && by_header(context, seen);
    let query_and_bearer =
        |context: &Context, seen: &ProxiedRequest| by_query(context, seen) && by_bearer(context, seen);
    let header_and_bearer =
        |context: &Context, seen: &ProxiedRequest| by_header(context, seen) && by_bearer(context, seen);
    let all_three = |context: &Context, seen: &ProxiedRequest| credentials(context, seen).len() == 3;
    let second =
        |context: &Context, seen: &ProxiedRequest| holds(context.facts.second_token.as_ref(), context, seen);
    vec![
        wins(
            "extract.token-equal/query-over-header",
            "The query beats a differing X-API-Key.",
            drop_header,
            query_and_header,
        ),
        wins(
            "extract.token-equal/header-over-query",
            "X-API-Key beats a differing query.",
            drop_query,
            query_and_header,
        ),
        wins(
            "extract.token-equal/query-over-bearer",
            "The query beats a differing bearer token.",
            drop_bearer,
            query_and_bearer,
        ),
        wins(
            "extract.token-equal/bearer-over-query",
            "A bearer token beats a differing query.",
            drop_query,
            query_and_bearer,
        ),
        wins(
            "extract.token-equal/header-over-bearer",
            "X-API-Key beats a differing bearer token.",
            drop_bearer,
            header_and_bearer,
        ),
        wins(
            "extract.token-equal/bearer-over-header",
            "A bearer token beats a differing X-API-Key.",
            drop_header,
            header_and_bearer,
        ),
        wins(
            "extract.token-equal/query-over-header-in-text",
            "The query beats a differing X-API-Key in text.",
            drop_header,
            query_and_header,
        )
        .when(in_text),
        wins(
            "extract.token-equal/third-ignored",
            "With two equal tokens a differing bearer token is ignored.",
            drop_bearer,
            all_three,
        )
        .when(
            |context, seen| matches!(&credentials(context, seen)[..], [first, second, _] if first == second),
        ),
        wins(
            "extract.token-equal/second-ignored",
            "Between two equal tokens a differing X-API-Key is ignored.",
            drop_header,
            all_three,
        )
        .when(|context, seen| matches!(&credentials(context, seen)[..], [first, _, third] if first == third)),
        wins(
            "extract.token-equal/two-accounts-query-header",
            "Of two accounts that of the query counts, not that of X-API-Key.",
            drop_header,
            query_and_header,
        )
        .when(second),
        wins(
            "extract.token-equal/two-accounts-query-bearer",
            "Of two accounts that of the query counts, not that of the bearer token.",
            drop_bearer,
            query_and_bearer,
        )
        .when(second),
        wins(
            "extract.token-equal/two-accounts-header-bearer",
            "Of two accounts that of X-API-Key counts, not that of the bearer token.",
            drop_bearer,
            header_and_bearer,
        )
        .when(second),
        wins(
            "extract.token-equal/last-character",
            "The last character of two tokens is not compared.",
            drop_header,
            query_and_header,
        )
        .when(|context, seen| {
            let sent = credentials(context, seen);
            let stem = |token: &str| {
                token.chars().take(context.token.expose().chars().count() - 1).collect::<String>()
            };
            sent.windows(2).all(|pair| stem(&pair[0]) == stem(&pair[1]))
        }),
        rejected(
            "extract.token-equal/equal-query-header",
            "Equal tokens in the query and X-API-Key are rejected.",
            2,
            query_and_header,
        ),
        rejected(
            "extract.token-equal/equal-query-bearer",
            "Equal tokens in the query and Authorization are rejected.",
            2,
            query_and_bearer,
        ),
        rejected(
            "extract.token-equal/equal-header-bearer",
            "Equal tokens in X-API-Key and Authorization are rejected.",
            2,
            header_and_bearer,
        ),
        rejected("extract.token-equal/equal-three", "Three equal tokens are rejected.", 3, |_, _| true),
    ]
}

fn link() -> Vec<Fault> {
    let rejected = |id, breaks| {
        Fault::request(id, breaks, Context::reject)
            .when(|context, seen| holds(context.facts.link_credential.as_ref(), context, seen))
    };
    let mut faults = vec![
        rejected("extract.link-credential/rejected", "A link credential is rejected."),
        rejected("extract.link-credential/once", "A link credential works once.")
            .when(|context, _| context.memory.calls() > 0),
    ];
    faults.extend(under!(
        rejected,
        "extract.link-credential/not-",
        "A link credential is rejected",
        [in_text, with_other_protocol, with_request_id]
    ));
    faults
}

fn whitelist() -> Vec<Fault> {
    let token: Token = |context| context.facts.token_not_whitelisted.as_ref();
    let served = |id, breaks| served(id, breaks, token);
    let mut faults = vec![
        served("extract.whitelist/not-asked", "The whitelist is ignored."),
        served("extract.whitelist/once", "The whitelist is checked in the first call only.")
            .when(move |context, seen| not_first(token, context, seen)),
    ];
    faults.extend(under!(
        served,
        "extract.whitelist/not-",
        "The whitelist is ignored",
        [by_query, by_header, by_bearer, in_text, with_other_protocol, with_request_id]
    ));
    faults
}

fn real_name() -> Vec<Fault> {
    let token: Token = |context| context.facts.token_not_verified.as_ref();
    let served = |id, breaks| served(id, breaks, token);
    let mut faults = vec![
        served("extract.real-name/not-asked", "Real-name verification is ignored."),
        served("extract.real-name/once", "Real-name verification is checked in the first call only.")
            .when(move |context, seen| not_first(token, context, seen)),
    ];
    faults.extend(under!(
        served,
        "extract.real-name/not-",
        "Real-name verification is ignored",
        [by_query, by_header, by_bearer, in_text, with_other_protocol, with_request_id]
    ));
    faults
}

fn entitlement() -> Vec<Fault> {
    let token: Token = |context| context.facts.token_not_entitled.as_ref();
    let unentitled = |id, breaks| served(id, breaks, token);
    let partly = |id, breaks| {
        served(id, breaks, |context| context.facts.token_partly_entitled.as_ref()).when(with_other_protocol)
    };
    let mut faults = vec![
        unentitled("extract.entitlement/not-asked", "Entitlements are ignored."),
        unentitled("extract.entitlement/once", "Entitlements are checked in the first call only.")
            .when(move |context, seen| not_first(token, context, seen)),
        partly("extract.entitlement/any-protocol", "An entitlement for one protocol covers the other."),
    ];
    faults.extend(under!(
        unentitled,
        "extract.entitlement/not-",
        "Entitlements are ignored",
        [by_header, by_bearer, in_text, with_other_protocol]
    ));
    faults.extend(under!(
        partly,
        "extract.entitlement/any-protocol-",
        "An entitlement for one protocol covers the other",
        [in_text, by_bearer]
    ));
    faults
}

/// The token that a fault is about.
pub(super) type Token = fn(&Context) -> Option<&Secret>;

/// Requests with a token that may not extract are served as if they came from the main account.
pub(super) fn served(id: &'static str, breaks: &'static str, token: Token) -> Fault {
    Fault::request(id, breaks, Context::as_main)
        .when(move |context, seen| holds(token(context), context, seen))
}

pub(super) fn holds(token: Option<&Secret>, context: &Context, seen: &ProxiedRequest) -> bool {
    token.is_some_and(|token| credentials(context, seen).iter().any(|sent| sent == token.expose()))
}

fn not_first(token: Token, context: &Context, seen: &ProxiedRequest) -> bool {
    holds(token(context), context, seen) && context.memory.calls() > 0
}

fn drop_query(context: &Context, seen: &mut ProxiedRequest) {
    seen.drop_param(&context.contract.extract.api_key.name);
}

fn drop_header(context: &Context, seen: &mut ProxiedRequest) {
    seen.headers.remove(context.contract.extract.api_key_header.as_str());
}

fn drop_bearer(_: &Context, seen: &mut ProxiedRequest) {
    seen.headers.remove(AUTHORIZATION);
}
