//! POST extraction. The contract does not define its payload, but its errors have the envelope of an extraction.

use serde_json::Value;

use super::*;
use crate::contract::Clause;

/// Judges the response to a POST without a valid token, which is an error whatever the payload should be. Only responses with a JSON
/// object are judged.
pub(in crate::checks) async fn judge_error(
    probe: &Probe<'_>,
    clause: Clause,
    request: &Request,
) -> Result<(), Stop> {
    let (exchange, class) = probe.send(request).await?;
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
            probe.finding(clause, &expected, class.description(), &[&exchange]);
        }
    }
    Ok(())
}
