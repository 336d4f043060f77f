//! POST extraction. The contract does not define its payload, but its errors have the envelope of an extraction.

use serde_json::Value;

use super::*;
use crate::checks::token::UNKNOWN;

pub(super) static PROGRAMS: &[Program] = &[active("extract.post-error-envelope.json", |_| {
    let payload = |label, has_token, body| (label, has_token, body, Extraction::PLAIN);
    let payloads = [
        payload("absent token", false, NONE),
        payload("absent token with a body", false, JSON),
        payload("unknown token", true, NONE),
        payload("unknown token with a body", true, JSON),
        // A service may read the body before it looks at the token.
        payload("a body that is not JSON", true, ("application/json", "num=1")),
        payload("JSON that does not end", true, ("application/json", "{\"num\": 1")),
        payload("a form", true, ("application/x-www-form-urlencoded", "num=1")),
        payload("a text", true, ("text/plain", "num 1")),
        ("absent token in text", false, NONE, Extraction::TEXT),
        ("unknown token in text", true, NONE, Extraction::TEXT),
    ];
    // Reserves one gateway, since a service that violates the contract may return gateways.
    let case = |data: Payload| Case::for_data(data.0, Cost::extraction(1, 1), data, error);
    payloads.map(case).into()
})];

/// A POST: its label, whether it has a token, the media type and the text of its body, and the form. It never has a valid token, so
/// the response is an error whatever the payload should be.
type Payload = (&'static str, bool, (&'static str, &'static str), Extraction);

const NONE: (&str, &str) = ("", "");
const JSON: (&str, &str) = ("application/json", "{\"num\": 1}");

/// Only responses with a JSON object are judged.
async fn error(probe: &Probe<'_>, (_, has_token, (media, text), form): Payload) -> Result<(), Stop> {
    let request = if has_token { form.with_token(probe, UNKNOWN) } else { form.without_token(probe) };
    let mut request = request.method("POST").giving_nothing();
    if !media.is_empty() {
        request = request.body(media, text);
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
            probe.finding(ExtractPostErrorEnvelope, &expected, class.description(), &[&exchange]);
        }
    }
    Ok(())
}
