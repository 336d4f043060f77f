//! Faults in who may extract and how a token is sent.

use crate::target::Secret;
use hyper::header::AUTHORIZATION;

use super::all::credentials;
use super::condition::{by_bearer, by_header, by_query, in_text, with_other_protocol, with_request_id};
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
    vec![
        rejected("extract.token-transport/query", "The token is not taken from the query.", by_query),
        rejected("extract.token-transport/header", "The token is not taken from X-API-Key.", by_header),
        rejected("extract.token-transport/bearer", "The token is not taken from Authorization.", by_bearer),
        rejected(
            "extract.token-transport/header-in-text",
            "The token is not taken from X-API-Key in text.",
            by_header,
        )
        .when(in_text),
        rejected(
            "extract.token-transport/bearer-in-text",
            "The token is not taken from Authorization in text.",
            by_bearer,
        )
        .when(in_text),
        rejected(
            "extract.token-transport/bearer-other-protocol",
            "The token is not taken from Authorization for the other protocol.",
            by_bearer,
        )
        .when(with_other_protocol),
        rejected(
            "extract.token-transport/header-other-protocol",
            "The token is not taken from X-API-Key for the other protocol.",
            by_header,
        )
        .when(with_other_protocol),
        rejected(
            "extract.token-transport/bearer-with-request-id",
            "Authorization is not read beside a request id.",
            by_bearer,
        )
        .when(with_request_id),
        rejected(
            "extract.token-transport/header-with-request-id",
            "X-API-Key is not read beside a request id.",
            by_header,
        )
        .when(with_request_id),
    ]
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
            "With two equal tokens a differing bearer token is not looked at.",
            drop_bearer,
            all_three,
        )
        .when(
            |context, seen| matches!(&credentials(context, seen)[..], [first, second, _] if first == second),
        ),
        wins(
            "extract.token-equal/second-ignored",
            "Between two equal tokens a differing X-API-Key is not looked at.",
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
    vec![
        rejected("extract.link-credential/rejected", "A link credential is rejected."),
        rejected("extract.link-credential/once", "A link credential works once.")
            .when(|context, _| context.memory.calls() > 0),
        rejected("extract.link-credential/not-in-text", "A link credential is rejected in text.")
            .when(in_text),
        rejected(
            "extract.link-credential/not-other-protocol",
            "A link credential is rejected for the other protocol.",
        )
        .when(with_other_protocol),
        rejected(
            "extract.link-credential/not-with-request-id",
            "A link credential is rejected beside a request id.",
        )
        .when(with_request_id),
    ]
}

fn whitelist() -> Vec<Fault> {
    let served = |id, breaks| served(id, breaks, |context| context.facts.token_not_whitelisted.as_ref());
    vec![
        served("extract.whitelist/not-asked", "The whitelist is not looked at."),
        served(
            "extract.whitelist/not-by-query",
            "With the token in the query the whitelist is not looked at.",
        )
        .when(by_query),
        served("extract.whitelist/not-by-header", "With X-API-Key the whitelist is not looked at.")
            .when(by_header),
        served("extract.whitelist/not-by-bearer", "With a bearer token the whitelist is not looked at.")
            .when(by_bearer),
        served("extract.whitelist/not-in-text", "In text the whitelist is not looked at.").when(in_text),
        served(
            "extract.whitelist/not-other-protocol",
            "For the other protocol the whitelist is not looked at.",
        )
        .when(with_other_protocol),
        served("extract.whitelist/not-with-request-id", "With a request id the whitelist is not looked at.")
            .when(with_request_id),
        served("extract.whitelist/once", "The whitelist is looked at in the first call alone.")
            .when(|context, seen| not_first(context.facts.token_not_whitelisted.as_ref(), context, seen)),
    ]
}

fn real_name() -> Vec<Fault> {
    let served = |id, breaks| served(id, breaks, |context| context.facts.token_not_verified.as_ref());
    vec![
        served("extract.real-name/not-asked", "Verification is not looked at."),
        served(
            "extract.real-name/not-by-query",
            "With the token in the query verification is not looked at.",
        )
        .when(by_query),
        served("extract.real-name/not-by-header", "With X-API-Key verification is not looked at.")
            .when(by_header),
        served("extract.real-name/not-by-bearer", "With a bearer token verification is not looked at.")
            .when(by_bearer),
        served("extract.real-name/not-in-text", "In text verification is not looked at.").when(in_text),
        served(
            "extract.real-name/not-other-protocol",
            "For the other protocol verification is not looked at.",
        )
        .when(with_other_protocol),
        served("extract.real-name/not-with-request-id", "With a request id verification is not looked at.")
            .when(with_request_id),
        served("extract.real-name/once", "Verification is looked at in the first call alone.")
            .when(|context, seen| not_first(context.facts.token_not_verified.as_ref(), context, seen)),
    ]
}

fn entitlement() -> Vec<Fault> {
    let unentitled = |id, breaks| served(id, breaks, |context| context.facts.token_not_entitled.as_ref());
    let partly = |id, breaks| {
        served(id, breaks, |context| context.facts.token_partly_entitled.as_ref()).when(with_other_protocol)
    };
    vec![
        unentitled("extract.entitlement/not-asked", "Entitlements are not looked at."),
        unentitled("extract.entitlement/not-by-header", "With X-API-Key entitlements are not looked at.")
            .when(by_header),
        unentitled(
            "extract.entitlement/not-by-bearer",
            "With a bearer token entitlements are not looked at.",
        )
        .when(by_bearer),
        unentitled("extract.entitlement/not-in-text", "In text entitlements are not looked at.")
            .when(in_text),
        unentitled(
            "extract.entitlement/not-other-protocol",
            "For the other protocol entitlements are not looked at.",
        )
        .when(with_other_protocol),
        unentitled("extract.entitlement/once", "Entitlements are looked at in the first call alone.")
            .when(|context, seen| not_first(context.facts.token_not_entitled.as_ref(), context, seen)),
        partly("extract.entitlement/any-protocol", "An entitlement for one protocol is good for the other."),
        partly(
            "extract.entitlement/any-protocol-in-text",
            "An entitlement for one protocol is good for the other in text.",
        )
        .when(in_text),
        partly(
            "extract.entitlement/any-protocol-by-bearer",
            "With a bearer token an entitlement for one protocol is good for the other.",
        )
        .when(by_bearer),
    ]
}

/// Requests with a token that may not extract are served as if they came from the main account.
fn served(id: &'static str, breaks: &'static str, token: fn(&Context) -> Option<&Secret>) -> Fault {
    Fault::request(id, breaks, Context::as_main)
        .when(move |context, seen| holds(token(context), context, seen))
}

fn holds(token: Option<&Secret>, context: &Context, seen: &ProxiedRequest) -> bool {
    token.is_some_and(|token| credentials(context, seen).iter().any(|sent| sent == token.expose()))
}

fn not_first(token: Option<&Secret>, context: &Context, seen: &ProxiedRequest) -> bool {
    holds(token, context, seen) && context.memory.calls() > 0
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
