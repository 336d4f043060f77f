//! Classifies responses: a success needs the HTTP status and the business code together (4.1 rule 1).

use std::{borrow::Cow, fmt, time::SystemTime};

use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{CONTENT_ENCODING, HeaderMap, HeaderName},
};
use serde::{
    Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use crate::{
    BusinessCode, Error, Rejection, TextEntry, UnexpectedResponse, contract::REQUEST_ID_HEADER,
    generated::types, lenient, operation::Operation, printable, retry::retry_after, secret::Token,
};

/// Maximum length of an excerpt of a body in an error, in characters.
const MAX_EXCERPT: usize = 300;

/// Headers that an error shows; others may be private.
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

/// A response with its body.
#[derive(Clone, Default)]
pub(crate) struct RawResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The entries of the body, if it is a text of gateways.
    pub(crate) entries: Vec<TextEntry>,
}

impl RawResponse {
    pub(crate) fn new(status: StatusCode, headers: HeaderMap, body: Bytes) -> Self {
        Self { status, headers, body, entries: Vec::new() }
    }
}

/// Returns the response when it is a success of `operation`, and an error otherwise.
pub(crate) fn classify(
    operation: &Operation,
    response: RawResponse,
    token: &Token,
) -> Result<RawResponse, Error> {
    if response.status.as_u16() != operation.status {
        return Err(failure(operation, &response, token));
    }
    if let Some(coding) = content_coding(&response) {
        let reason =
            format!("expected an uncompressed body, because the client asks for none other, found {coding}");
        return Err(unexpected_response(&reason, &response, token));
    }
    if operation.code_field.is_empty() {
        return Ok(response);
    }
    let code = business_code(&response.body, operation.code_field);
    match code {
        // A text has no code. A JSON object instead of it is a rejection, or not what was requested.
        None if operation.text && !is_json_object(&response.body) => Ok(response),
        Some(BusinessCode::Number(code)) if code == operation.code && !operation.text => Ok(response),
        Some(BusinessCode::Number(code)) if code == operation.code => {
            Err(unexpected_response("expected plain text, found JSON", &response, token))
        }
        Some(_) => Err(rejection(operation, &response, token)),
        None => {
            let reason = format!("expected a JSON object with the business code `{}`", operation.code_field);
            Err(unexpected_response(&reason, &response, token))
        }
    }
}

/// The error for a response that the contract does not describe. `response.body` is empty when it was not kept.
pub(crate) fn unexpected_response(reason: &str, response: &RawResponse, token: &Token) -> Error {
    let visible = |name: &&str| {
        let value = response.headers.get(*name)?.to_str().ok()?;
        Some(((*name).to_owned(), token.scrub(value)))
    };
    Error::UnexpectedResponse(Box::new(UnexpectedResponse {
        status: response.status,
        headers: SHOWN_HEADERS.iter().filter_map(visible).collect(),
        reason: token.scrub(reason),
        excerpt: match content_coding(response) {
            Some(_) => String::new(),
            None => excerpt(&response.body, token),
        },
        request_id: None,
        trace_id: trace_id(&response.headers, None, token),
    }))
}

/// Like [`unexpected_response`], for a response without further details; `reason` holds no text of the service.
pub(crate) fn bare_unexpected_response(
    reason: impl Into<String>,
    status: StatusCode,
    trace_id: Option<String>,
) -> Error {
    Error::UnexpectedResponse(Box::new(UnexpectedResponse {
        status,
        headers: Vec::new(),
        reason: reason.into(),
        excerpt: String::new(),
        request_id: None,
        trace_id,
    }))
}

fn failure(operation: &Operation, response: &RawResponse, token: &Token) -> Error {
    let status = response.status;
    if status.is_redirection() {
        return unexpected_response(
            "found a redirect, which is not followed because it could send the token to another host; check the base URL",
            response,
            token,
        );
    }
    if status.is_success() || status.is_informational() {
        return unexpected_response(
            &format!("expected HTTP {}, found {}", operation.status, status.as_u16()),
            response,
            token,
        );
    }
    rejection(operation, response, token)
}

fn rejection(operation: &Operation, response: &RawResponse, token: &Token) -> Error {
    let body: Option<types::Rejection> = serde_json::from_slice(&response.body).ok();
    let (code, message, id) = match body {
        Some(types::Rejection { code, message, request_id }) => (code, message, request_id),
        None => (None, None, None),
    };
    let rejection = Box::new(Rejection {
        status: response.status,
        code: code.and_then(to_code).map(|code| scrub_code(code, token)),
        message: match message {
            Some(message) => shorten(&token.scrub(&plain(message))),
            None => match content_coding(response) {
                Some(coding) => {
                    format!("the body is {}, which the client did not ask for", token.scrub(&coding))
                }
                None => excerpt(&response.body, token),
            },
        },
        request_id: None,
        trace_id: trace_id(&response.headers, id, token),
        retry_after: retry_after(&response.headers, SystemTime::now()),
    });
    if response.status == StatusCode::TOO_MANY_REQUESTS {
        Error::Throttled(rejection)
    } else if operation.shortage && is_shortage(&rejection) {
        Error::Shortage(rejection)
    } else {
        Error::Rejected(rejection)
    }
}

/// A shortage has `Retry-After` (4.1 rule 4); its status is open. 401 and 403 reject the caller, who has to do something
/// first. A response without a business code comes from a proxy on the way.
fn is_shortage(rejection: &Rejection) -> bool {
    let rejects_the_caller = matches!(rejection.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    !rejects_the_caller && rejection.code.is_some() && rejection.retry_after.is_some()
}

/// Describes the compression of the body; `None` when there is none. Gzip is recognised without its header too.
fn content_coding(response: &RawResponse) -> Option<String> {
    const GZIP: [u8; 2] = [0x1f, 0x8b];
    let declared =
        response.headers.get(CONTENT_ENCODING).map(|value| String::from_utf8_lossy(value.as_bytes()));
    match declared
        .filter(|coding| !coding.trim().is_empty() && !coding.trim().eq_ignore_ascii_case("identity"))
    {
        Some(coding) => Some(format!("`Content-Encoding: {}`", printable(coding.trim()))),
        None => response.body.starts_with(&GZIP).then(|| "gzip without `Content-Encoding`".to_owned()),
    }
}

/// The service's id of the request, from the body or else from the header.
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
    // A character has at most four bytes in UTF-8, so this many bytes hold the whole excerpt.
    shorten(&String::from_utf8_lossy(&token.scrub_start(body, 4 * (MAX_EXCERPT + 1))))
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn is_json_object(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(body).is_ok()
}

/// The value of `field` of the object in `body`. Parsing stops there: the whole body is parsed later.
fn business_code(body: &[u8], field: &'static str) -> Option<BusinessCode> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_slice(body);
    // Stopping early is an error to the deserializer, and so is whatever follows the field; only the value counts.
    let _ = FieldSearch { field, found: &mut found }.deserialize(&mut reader);
    found.and_then(to_code)
}

fn to_code(value: Value) -> Option<BusinessCode> {
    match value {
        Value::Null => None,
        Value::Number(number) => {
            let whole = number.as_i64().or_else(|| number.as_f64().and_then(lenient::whole));
            Some(whole.map_or_else(|| BusinessCode::Text(number.to_string()), BusinessCode::Number))
        }
        Value::String(text) => Some(BusinessCode::Text(text)),
        other => Some(BusinessCode::Text(other.to_string())),
    }
}

fn scrub_code(code: BusinessCode, token: &Token) -> BusinessCode {
    match code {
        BusinessCode::Text(text) => BusinessCode::Text(shorten(&token.scrub(&text))),
        number @ BusinessCode::Number(_) => number,
    }
}

struct FieldSearch<'a> {
    field: &'static str,
    found: &'a mut Option<Value>,
}

impl<'de> DeserializeSeed<'de> for FieldSearch<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for FieldSearch<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == self.field {
                *self.found = Some(map.next_value()?);
                return Ok(());
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

    fn classified(
        operation: &str,
        status: u16,
        headers: &[(&'static str, &'static str)],
        body: &str,
    ) -> Result<RawResponse, Error> {
        let token = Token::new(SecretString::from("canary-token")).unwrap();
        let headers =
            headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
        let status = StatusCode::from_u16(status).unwrap();
        let response = RawResponse::new(status, headers, Bytes::copy_from_slice(body.as_bytes()));
        classify(contract::operation(operation).unwrap(), response, &token)
    }

    #[test]
    fn a_success_needs_status_and_code() {
        assert!(classified("extract_proxies", 200, &[], r#"{"msg":"ok","code":0,"data":[]}"#).is_ok());
        let listing = |status, body| classified("list_static_groups", status, &[], body);
        for body in [r#"{"code":200}"#, r#"{"code":200.0}"#] {
            assert!(listing(200, body).is_ok(), "{body}");
        }
        for (status, body) in [
            (200, r#"{"code":0}"#),
            (500, r#"{"code":200}"#),
            (200, r#"{"code":"E1"}"#),
            (200, r#"{"code":"200"}"#),
        ] {
            assert!(matches!(listing(status, body), Err(Error::Rejected(_))), "{status} {body}");
        }
    }

    #[test]
    fn a_text_is_a_success_and_a_json_object_instead_of_it_is_not() {
        let text = |body| classified("extract_proxies_text", 200, &[], body);
        assert!(text("gw.invalid:80").is_ok() && text("").is_ok());
        assert!(matches!(text(r#"{"code":7}"#), Err(Error::Rejected(_))));
        for body in [r#"{"code":0}"#, r#"{"error":1}"#] {
            assert!(matches!(text(body), Err(Error::UnexpectedResponse(_))), "{body}");
        }
    }

    #[test]
    fn throttling_and_shortage_are_distinguished() {
        let wait = [("retry-after", "3")];
        let waiting = |status, body| classified("extract_proxies", status, &wait, body);
        let throttled = waiting(429, "<html>slow down</html>");
        assert!(matches!(&throttled, Err(Error::Throttled(rejection)) if rejection.retry_after.is_some()));
        let short = waiting(200, r#"{"code":7,"message":"none left"}"#);
        assert!(matches!(&short, Err(Error::Shortage(rejection)) if rejection.message == "none left"));
        for status in [200, 400, 404, 409, 422, 500, 503] {
            let short = waiting(status, r#"{"code":50301,"message":"none left"}"#);
            assert!(matches!(short, Err(Error::Shortage(_))), "{status}");
        }
        for status in [401, 403] {
            let rejected = waiting(status, r#"{"code":7,"message":"no"}"#).err().unwrap();
            assert!(matches!(rejected, Error::Rejected(_)) && !rejected.is_retryable(), "{rejected:?}");
        }
        let down = waiting(503, "<html>down</html>");
        assert!(matches!(&down, Err(Error::Rejected(rejection)) if rejection.retry_after.is_some()));
    }

    #[test]
    fn what_the_service_echoes_of_the_token_is_scrubbed() {
        let echo = r#"{"code":"canary-token","message":"bad canary-token","requestId":"canary-token"}"#;
        for outcome in [
            classified("list_static_groups", 400, &[("x-request-id", "canary-token")], echo),
            classified("list_static_groups", 200, &[("server", "canary-token")], "canary-token"),
            classified(
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
        let error = classified("list_static_groups", 500, &[], &"é".repeat(100_000)).err().unwrap();
        assert!(error.to_string().chars().count() < 400);
    }
}
