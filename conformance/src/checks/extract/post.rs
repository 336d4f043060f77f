//! POST extraction: its payload is not shown, and its errors have the envelope of an extraction's.

use serde_json::Value;

use super::content::THROTTLED;
use super::forms::Transport;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::checks::token::UNKNOWN;
use crate::contract::{Clause, OperationId};

pub(super) static ERROR: Check = Check {
    id: "extract.post-error-envelope.json",
    title: "a JSON error of POST extraction has a code and a message",
    why: "The code tells callers of the compatibility format what to do; without it they can only guess.",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractPostErrorEnvelope],
    needs: &[],
    run: Run::Cases(|_| {
        let case = |(label, data): (&'static str, Payload)| {
            // A service that violates the contract may hand out gateways, so one is reserved.
            Case::with(label, Cost::extraction(1, 1), data, |probe, data| Box::pin(error(probe, data)))
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
};

/// What a POST carries: never a good token, so that the response is an error whatever the payload should be.
#[derive(Debug, Clone, Copy)]
struct Payload {
    has_token: bool,
    has_body: bool,
    /// Whether the query asks for text.
    is_text: bool,
}

/// A response in another form than a JSON object is not judged.
async fn error(probe: &Probe<'_>, sent: Payload) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let mut request = probe.extract_without_token().method("POST").giving_nothing();
    if sent.has_token {
        request = Transport::Query.carry(probe, request, UNKNOWN);
    }
    if sent.has_body {
        request = request.field(&extract.num.name, *extract.num_range.start());
    }
    if sent.is_text {
        request = request.query(&extract.return_type.name, &extract.text);
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
