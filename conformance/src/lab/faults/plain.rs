//! Faults that every plain operation may have: in its token, its envelope and its headers.

use hyper::StatusCode;
use serde_json::Value;

use super::groups::not_first;
use super::words::*;
use crate::contract::{Clause, Contract, OperationId};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    let operations = Contract::embedded().into_iter().flat_map(|contract| contract.plain.keys());
    let of = |id: &OperationId| {
        let named = rows().into_iter().map(|mut fault| {
            fault.id = id.named(fault.id);
            fault
        });
        // An operation may lack a clause of its own for its token or its headers.
        let is_of_clause = |fault: &Fault| fault.id.split('/').next().and_then(Clause::from_id).is_some();
        named.filter(is_of_clause).collect::<Vec<_>>()
    };
    operations.flat_map(of).collect()
}

fn rows() -> Vec<Fault> {
    faults! {
        "token/" {
            "absent": "A listing without a token is served." => without_token();
            "empty": "A listing with an empty token is served." => empty_token();
            "first-of-two": "Of two tokens the first one counts." => first_of_two_tokens;
            "last-of-two": "Of two tokens the last one counts." => last_of_two_tokens;
            "one-of-three": "Of three tokens the first one counts." if that(|call| query_tokens(call).len() == 3)
                => first_of_two_tokens;
            "encoded-name": "A token whose name is percent-encoded does not count beside another." => drop_encoded;
            "name-in-capitals": "The letter case of api_key does not count." => request(|call| {
                let Some(operation) = call.operation() else { return };
                let name = &call.contract.operation(operation).api_key.name;
                let found = call.params().into_iter().find(|(key, _)| key != name && key.eq_ignore_ascii_case(name));
                if let Some((key, token)) = found {
                    call.drop_param(&key);
                    call.act_as(&token);
                }
            });
            "any-of-two": "Of two tokens any good one counts." => any_of_two_tokens();
            "two-accounts": "Of two accounts the first one counts." if known(Fact::SecondToken), that(|call| {
                let second = call.facts.second_token.as_ref();
                second.is_some_and(|second| query_tokens(call).iter().any(|token| token == second.expose()))
            }) => first_of_two_tokens;
        }
        "envelope/" {
            "code-of-extraction": "The code is 0." => set("/code", 0);
            "code-as-text": "The code is a string." => set("/code", "200");
            "code-missing": "There is no code." => remove("/code");
            "message-missing": "There is no message." => remove("/message");
            "message-of-extraction": "The message is called msg, as in an extraction." => rename("/message", "msg");
            "message-null": "The message is null." => set("/message", Value::Null);
            "request-id-missing": "There is no requestId." => remove("/requestId");
            "request-id-number": "The requestId is a number." => set("/requestId", 20_260_101);
            "request-id-once": "Every response but the first has no requestId." if not_first => remove("/requestId");
            "data-missing": "There is no data." => remove("/data");
            "created": "A listing gets HTTP 201." => with_status(StatusCode::CREATED);
        }
        "headers/" {
            "storable": "There is no Cache-Control." => without_header("cache-control");
            "no-cache": "Cache-Control is no-cache, which allows storing." => with_header("cache-control", "no-cache");
            "private": "Cache-Control is private with an age." => with_header("cache-control", "private, max-age=60");
            "storable-later": "Only the first response has Cache-Control." if not_first => without_header("cache-control");
            "untraced": "There is no X-Request-Id." => without_header("x-request-id");
            "other-name": "The trace id is in X-Trace-Id." => reply(|_, reply| {
                if let Some(id) = reply.headers.remove("x-request-id") {
                    reply.headers.insert("x-trace-id", id);
                }
            });
        }
    }
}

fn drop_encoded(call: &mut Call<'_>) {
    let query = call.query.clone().unwrap_or_default();
    let (encoded, plain): (Vec<_>, Vec<_>) = query.split('&').partition(|pair| pair.starts_with('%'));
    if !encoded.is_empty() && !plain.is_empty() {
        call.query = Some(plain.join("&"));
        let first = query_tokens(call).into_iter().next();
        call.act_as(&first.unwrap_or_default());
    }
}
