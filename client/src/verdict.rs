//! What an answer means: the contract asks for the HTTP status and the business code together.

use std::{borrow::Cow, fmt, time::SystemTime};

use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderName},
};
use serde::{
    Deserializer,
    de::{self, DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use crate::{
    BusinessCode, Error, NotUnderstood, Rejection, contract::REQUEST_ID_HEADER, generated::types, lenient,
    operation::Operation, retry::retry_after, secret::Token,
};

/// Longest part of a body that an error repeats, in characters.
const EXCERPT: usize = 300;

/// Headers that an error shows; whatever a service sets beyond these may be private.
const SHOWN_HEADERS: [&str; 8] = [
    "cache-control",
    "content-encoding",
    "content-length",
    "content-type",
    "date",
    "retry-after",
    "server",
    "via",
];

/// An answer, read to its end.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Gives the answer back when it is a success of `operation`.
pub(crate) fn judge(operation: &Operation, answer: Answer, token: &Token) -> Result<Answer, Error> {
    if answer.status.as_u16() != operation.status {
        return Err(failure(operation, &answer, token));
    }
    let code = business_code(&answer.body, operation.code_field);
    match code {
        // A text has no code. An object in its place is a rejection, or JSON that nobody asked for.
        None if operation.text && !is_json_object(&answer.body) => Ok(answer),
        Some(BusinessCode::Number(code)) if code == operation.code && !operation.text => Ok(answer),
        Some(BusinessCode::Number(code)) if code == operation.code => {
            Err(not_understood("expected plain text, got JSON", &answer, token))
        }
        Some(_) => Err(rejection(operation, &answer, token)),
        None => {
            let reason = format!("expected a JSON object with `{}`", operation.code_field);
            Err(not_understood(&reason, &answer, token))
        }
    }
}

/// An answer that is none of the contract's. `answer.body` may be empty when it is not at hand.
pub(crate) fn not_understood(reason: &str, answer: &Answer, token: &Token) -> Error {
    let visible = |name: &&str| {
        let value = answer.headers.get(*name)?.to_str().ok()?;
        Some(((*name).to_owned(), token.scrub(value)))
    };
    Error::NotUnderstood(Box::new(NotUnderstood {
        status: answer.status,
        headers: SHOWN_HEADERS.iter().filter_map(visible).collect(),
        reason: token.scrub(reason),
        excerpt: excerpt(&answer.body, token),
        request_id: trace_id(&answer.headers, None, token),
    }))
}

fn failure(operation: &Operation, answer: &Answer, token: &Token) -> Error {
    let status = answer.status;
    if status.is_redirection() {
        return not_understood(
            "a redirect, which is not followed: it could carry the token elsewhere",
            answer,
            token,
        );
    }
    if status.is_success() || status.is_informational() {
        return not_understood(&format!("expected HTTP {}", operation.status), answer, token);
    }
    rejection(operation, answer, token)
}

fn rejection(operation: &Operation, answer: &Answer, token: &Token) -> Error {
    let said: Option<types::Rejection> = serde_json::from_slice(&answer.body).ok();
    let (code, message, id) = match said {
        Some(types::Rejection { code, message, request_id }) => (code, message, request_id),
        None => (None, None, None),
    };
    let rejection = Box::new(Rejection {
        status: answer.status,
        code: code.and_then(to_code).map(|code| scrub_code(code, token)),
        message: match message {
            Some(message) => shorten(&token.scrub(&plain(message))),
            None => excerpt(&answer.body, token),
        },
        request_id: trace_id(&answer.headers, id, token),
        retry_after: retry_after(&answer.headers, SystemTime::now()),
    });
    if answer.status == StatusCode::TOO_MANY_REQUESTS {
        Error::Throttled(rejection)
    } else if operation.shortage && is_shortage(&rejection) {
        Error::Shortage(rejection)
    } else {
        Error::Rejected(rejection)
    }
}

/// The contract says that a shortage tells how long to wait, and leaves its status open. Another 4xx blames the request,
/// and time does not mend that; a page of some proxy has no business code.
fn is_shortage(rejection: &Rejection) -> bool {
    let blames_the_request = rejection.status.is_client_error();
    !blames_the_request && rejection.code.is_some() && rejection.retry_after.is_some()
}

/// The service's id of the request: of the body, else of the header.
fn trace_id(headers: &HeaderMap, in_body: Option<Value>, token: &Token) -> Option<String> {
    let name = HeaderName::from_bytes(REQUEST_ID_HEADER.as_bytes()).ok()?;
    let in_header = || headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    in_body.filter(|id| !id.is_null()).map(plain).or_else(in_header).map(|id| shorten(&token.scrub(&id)))
}

fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

fn excerpt(body: &[u8], token: &Token) -> String {
    // A character has at most four bytes in UTF-8, so this is enough for the excerpt, however long the body is.
    shorten(&String::from_utf8_lossy(&token.scrub_start(body, 4 * (EXCERPT + 1))))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn is_json_object(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(body).is_ok()
}

/// The value of `field` of the object in `body`; reading stops there, because the rest is read once it is needed.
fn business_code(body: &[u8], field: &'static str) -> Option<BusinessCode> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_slice(body);
    // Stopping early is an error to the reader, and so is whatever follows the field: only the find counts.
    let _ = Search { field, found: &mut found }.deserialize(&mut reader);
    found.and_then(to_code)
}

fn to_code(value: Value) -> Option<BusinessCode> {
    match value {
        Value::Null => None,
        Value::Number(number) => {
            let whole = number.as_i64().or_else(|| number.as_f64().and_then(lenient::whole));
            Some(whole.map_or_else(|| BusinessCode::Text(number.to_string()), BusinessCode::Number))
        }
        // Decimal text is a number that a provider put in quotes.
        Value::String(text) => {
            Some(text.parse().map_or_else(|_| BusinessCode::Text(text), BusinessCode::Number))
        }
        other => Some(BusinessCode::Text(other.to_string())),
    }
}

fn scrub_code(code: BusinessCode, token: &Token) -> BusinessCode {
    match code {
        BusinessCode::Text(text) => BusinessCode::Text(shorten(&token.scrub(&text))),
        number @ BusinessCode::Number(_) => number,
    }
}

struct Search<'a> {
    field: &'static str,
    found: &'a mut Option<Value>,
}

impl<'de> DeserializeSeed<'de> for Search<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Search<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.field {
                *self.found = Some(map.next_value()?);
                return Err(de::Error::custom("found"));
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use secrecy::SecretString;

    use super::*;
    use crate::contract;

    fn judged(
        operation: &str,
        status: u16,
        headers: &[(&'static str, &'static str)],
        body: &str,
    ) -> Result<Answer, Error> {
        let token = Token::new(SecretString::from("canary-token")).unwrap();
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let status = StatusCode::from_u16(status).unwrap();
        let answer = Answer { status, headers, body: Bytes::copy_from_slice(body.as_bytes()) };
        judge(contract::operation(operation).unwrap(), answer, &token)
    }

    #[test]
    fn status_and_code_make_a_success_together() {
        assert!(judged("extract_proxies", 200, &[], r#"{"msg":"ok","code":0,"data":[]}"#).is_ok());
        assert!(judged("list_static_groups", 200, &[], r#"{"code":200}"#).is_ok());
        assert!(judged("list_static_groups", 200, &[], r#"{"code":"200"}"#).is_ok());
        assert!(judged("list_static_groups", 200, &[], r#"{"code":200.0}"#).is_ok());
        for (status, body) in [(200, r#"{"code":0}"#), (500, r#"{"code":200}"#), (200, r#"{"code":"E1"}"#)] {
            assert!(
                matches!(judged("list_static_groups", status, &[], body), Err(Error::Rejected(_))),
                "{status} {body}"
            );
        }
    }

    #[test]
    fn a_text_is_a_success_and_an_object_in_its_place_is_not() {
        assert!(judged("extract_proxies_text", 200, &[], "gw.invalid:80").is_ok());
        assert!(judged("extract_proxies_text", 200, &[], "").is_ok());
        assert!(matches!(judged("extract_proxies_text", 200, &[], r#"{"code":7}"#), Err(Error::Rejected(_))));
        assert!(matches!(
            judged("extract_proxies_text", 200, &[], r#"{"code":0}"#),
            Err(Error::NotUnderstood(_))
        ));
        assert!(matches!(
            judged("extract_proxies_text", 200, &[], r#"{"error":1}"#),
            Err(Error::NotUnderstood(_))
        ));
    }

    #[test]
    fn throttling_and_shortage_are_told_apart() {
        let wait = [("retry-after", "3")];
        let throttled = judged("extract_proxies", 429, &wait, "<html>slow down</html>");
        assert!(matches!(&throttled, Err(Error::Throttled(rejection)) if rejection.retry_after.is_some()));
        let short = judged("extract_proxies", 200, &wait, r#"{"code":7,"message":"none left"}"#);
        assert!(matches!(&short, Err(Error::Shortage(rejection)) if rejection.message == "none left"));
        for status in [200, 500, 503] {
            let short = judged("extract_proxies", status, &wait, r#"{"code":50301,"message":"none left"}"#);
            assert!(matches!(short, Err(Error::Shortage(_))), "{status}");
        }
        for status in [400, 401, 403, 404, 409, 422] {
            let refused =
                judged("extract_proxies", status, &wait, r#"{"code":7,"message":"no"}"#).err().unwrap();
            assert!(matches!(refused, Error::Rejected(_)) && !refused.is_retryable(), "{refused:?}");
        }
        let down = judged("extract_proxies", 503, &wait, "<html>down</html>");
        assert!(matches!(&down, Err(Error::Rejected(rejection)) if rejection.retry_after.is_some()));
    }

    #[test]
    fn what_the_service_echoes_of_the_token_is_scrubbed() {
        let echo = r#"{"code":"canary-token","message":"bad canary-token","requestId":"canary-token"}"#;
        for outcome in [
            judged("list_static_groups", 400, &[("x-request-id", "canary-token")], echo),
            judged("list_static_groups", 200, &[("server", "canary-token")], "canary-token"),
            judged(
                "list_static_groups",
                302,
                &[("location", "https://else.invalid/?api_key=canary-token")],
                "",
            ),
        ] {
            let error = outcome.err().unwrap();
            assert!(!format!("{error} {error:?}").contains("canary"), "{error:?}");
        }
    }

    #[test]
    fn long_bodies_are_shortened() {
        let error = judged("list_static_groups", 500, &[], &"é".repeat(100_000)).err().unwrap();
        assert!(error.to_string().chars().count() < 400);
    }
}
