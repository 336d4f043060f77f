//! Faults in who may extract and how a token is sent.

use super::words::*;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "extract.token-transport/" {
            "query": "The token is not taken from the query." if tokens(1), by_query => reject;
            "header" + [in_text, other_protocol, request_id]: "The token is not taken from X-API-Key" if tokens(1), by_header => reject;
            "bearer" + [in_text, other_protocol, request_id]: "The token is not taken from Authorization" if tokens(1), by_bearer => reject;
        }
        "extract.token-equal/" {
            "query-over-header": "The query takes precedence over a differing X-API-Key." if differ, by_query, by_header => ignore(API_KEY_HEADER);
            "header-over-query": "X-API-Key takes precedence over a differing query." if differ, by_query, by_header => ignore(API_KEY);
            "query-over-bearer": "The query takes precedence over a differing bearer token." if differ, by_query, by_bearer => ignore(BEARER);
            "bearer-over-query": "A bearer token takes precedence over a differing query." if differ, by_query, by_bearer => ignore(API_KEY);
            "header-over-bearer": "X-API-Key takes precedence over a differing bearer token." if differ, by_header, by_bearer => ignore(BEARER);
            "bearer-over-header": "A bearer token takes precedence over a differing X-API-Key."
                if differ, by_header, by_bearer => ignore(API_KEY_HEADER);
            "query-over-header-in-text": "The query takes precedence over a differing X-API-Key in text."
                if differ, by_query, by_header, in_text => ignore(API_KEY_HEADER);
            "third-ignored": "With two equal tokens a differing bearer token is ignored."
                if differ, that(|call| matches!(&credentials(call)[..], [first, second, _] if first == second)) => ignore(BEARER);
            "second-ignored": "Between two equal tokens a differing X-API-Key is ignored."
                if differ, that(|call| matches!(&credentials(call)[..], [first, _, third] if first == third)) => ignore(API_KEY_HEADER);
            "two-accounts-query-header": "Of the tokens of two accounts, the one in the query is used, not the one in X-API-Key."
                if differ, by_query, by_header, carries(SECOND) => ignore(API_KEY_HEADER);
            "two-accounts-query-bearer": "Of the tokens of two accounts, the one in the query is used, not the bearer token."
                if differ, by_query, by_bearer, carries(SECOND) => ignore(BEARER);
            "two-accounts-header-bearer": "Of the tokens of two accounts, the one in X-API-Key is used, not the bearer token."
                if differ, by_header, by_bearer, carries(SECOND) => ignore(BEARER);
            "last-character": "The last character of two tokens is not compared." if differ, by_query, by_header, that(|call| {
                let length = call.token.expose().chars().count() - 1;
                let stem = |token: &str| token.chars().take(length).collect::<String>();
                credentials(call).windows(2).all(|pair| stem(&pair[0]) == stem(&pair[1]))
            }) => ignore(API_KEY_HEADER);
            "equal-query-header": "Equal tokens in the query and X-API-Key are rejected." if equal(2), by_query, by_header => reject;
            "equal-query-bearer": "Equal tokens in the query and Authorization are rejected." if equal(2), by_query, by_bearer => reject;
            "equal-header-bearer": "Equal tokens in X-API-Key and Authorization are rejected." if equal(2), by_header, by_bearer => reject;
            "equal-three": "Three equal tokens are rejected." if equal(3) => reject;
        }
        "extract.link-credential/" {
            "rejected": "A link credential is rejected." if carries(LINK) => reject;
            "once": "A link credential works once." if carries(LINK), not_first => reject;
            "not-" in [in_text, other_protocol, request_id]: "A link credential is rejected" if carries(LINK) => reject;
        }
        "extract.whitelist/" {
            "not-asked": "The whitelist is ignored." if carries(NOT_WHITELISTED) => as_main();
            "once": "The whitelist is checked in the first call only." if carries(NOT_WHITELISTED), not_first => as_main();
            "not-" in [by_query, by_header, by_bearer, in_text, other_protocol, request_id]: "The whitelist is ignored"
                if carries(NOT_WHITELISTED) => as_main();
        }
        "extract.real-name/" {
            "not-asked": "Real-name verification is ignored." if carries(NOT_VERIFIED) => as_main();
            "once": "Real-name verification is checked in the first call only." if carries(NOT_VERIFIED), not_first => as_main();
            "not-" in [by_query, by_header, by_bearer, in_text, other_protocol, request_id]: "Real-name verification is ignored"
                if carries(NOT_VERIFIED) => as_main();
        }
        "extract.entitlement/" {
            "not-asked": "Entitlements are ignored." if carries(NOT_ENTITLED) => as_main();
            "once": "Entitlements are checked in the first call only." if carries(NOT_ENTITLED), not_first => as_main();
            "any-protocol": "An entitlement for one protocol covers the other."
                if carries(PARTLY_ENTITLED), with_other_protocol => as_main();
            "not-" in [by_header, by_bearer, in_text, other_protocol]: "Entitlements are ignored" if carries(NOT_ENTITLED) => as_main();
            "any-protocol-" in [in_text, by_bearer]: "An entitlement for one protocol covers the other"
                if carries(PARTLY_ENTITLED), with_other_protocol => as_main();
        }
    }
}

/// So many tokens are sent.
fn tokens(count: usize) -> When {
    that(move |call| credentials(call).len() == count)
}

/// So many tokens are sent, and all are the same.
fn equal(count: usize) -> When {
    that(move |call| credentials(call).len() == count && !differ(call))
}

fn differ(call: &Call<'_>) -> bool {
    credentials(call).windows(2).any(|pair| pair[0] != pair[1])
}

/// Counts the requests that fit the conditions before it.
fn not_first(call: &Call<'_>) -> bool {
    call.memory.calls() > 0
}
