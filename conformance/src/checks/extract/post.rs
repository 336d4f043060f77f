//! POST extraction. The contract does not define its payload, but its errors have the envelope of an extraction.

use serde_json::Value;

use super::EXTRACT;
use super::content::THROTTLED;
use super::extraction::Transport;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::checks::token::UNKNOWN;
use crate::contract::Clause;
use crate::contract::part::{NUM, RETURN_TYPE};

pub(super) static CHECKS: &[Check] = &[Check {
    id: "extract.post-error-envelope.json",
    title: "a JSON error of POST extraction has a code and a message",
    why: "The code tells callers of the compatibility format what to do; without it they can only guess.",
    clauses: &[Clause::ExtractPostErrorEnvelope],
    run: Run::Cases(|_| {
        let case = |(label, data): (&'static str, Payload)| {
            // Reserves one gateway, since a service that violates the contract may return gateways.
            Case::for_data(label, Cost::extraction(1, 1), data, error)
        };
        [
            ("absent token", Payload { has_token: false, has_body: false, is_text: false }),
            ("absent token with a body", Payload { has_token: false, has_body: true, is_text: false }),
            ("unknown token", Payload { has_token: true, has_body: false, is_text: false }),
            ("unknown token with a body", Payload { has_token: true, has_body: true, is_text: false }),
            ("absent token in text", Payload { has_token: false, has_body: false, is_text: true }),
            ("unknown token in text", Payload { has_token: true, has_body: false, is_text: true }),
        ]
        .map(case)
        .into()
    }),
    ..EXTRACT
}];

/// The content of a POST. It never has a valid token, so the response is an error whatever the payload should be.
#[derive(Debug, Clone, Copy)]
struct Payload {
    has_token: bool,
    has_body: bool,
    is_text: bool,
}

/// Only responses with a JSON object are judged.
async fn error(probe: &Probe<'_>, sent: Payload) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let mut request = probe.extract_without_token().method("POST").giving_nothing();
    if sent.has_token {
        request = Transport::Query.carry(probe, request, UNKNOWN);
    }
    if sent.has_body {
        request = request.field(NUM, *extract.num_range.start());
    }
    if sent.is_text {
        request = request.query(RETURN_TYPE, &extract.text);
    }
    let (exchange, class) = probe.send(&request).await?;
    if matches!(class, ResponseClass::Throttled(_)) {
        return Err(probe.inconclusive(THROTTLED));
    }
    let body = exchange.result.as_ref().ok().and_then(|response| response.json()).and_then(Value::as_object);
    let Some(body) = body else {
        return Err(probe.skip(&format!("the response to POST is not JSON: {}", class.description())));
    };
    let has_code = body.get("code").is_some_and(|code| code.is_number() || code.is_string());
    let has_message = body.get("message").is_some_and(Value::is_string);
    for (is_there, what) in [(has_code, "a code"), (has_message, "a message")] {
        if !is_there {
            let expected = format!("{what} in the JSON body of an error of POST extraction");
            probe.finding(Clause::ExtractPostErrorEnvelope, &expected, class.description(), &[&exchange]);
        }
    }
    Ok(())
}
