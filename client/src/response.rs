//! Classifies responses: a success needs the HTTP status and the business code together (4.1 rule 1).

use std::{borrow::Cow, fmt, time::SystemTime};

use bytes::Bytes;
use reqwest::{
    StatusCode,
    header::{CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue},
};
use serde::{
    Deserializer,
    de::{DeserializeOwned, IgnoredAny, MapAccess, Visitor},
};
use serde_json::Value;

use crate::{
    BusinessCode, Error, Rejection, TextEntry, TransportError, UnexpectedResponse,
    contract::REQUEST_ID_HEADER, generated::types, lenient, operation::Operation, options::CallOptions,
    printable, retry::retry_after, secret::Token, text,
};

/// Maximum length of an excerpt of a body, and of other texts, in an error, in characters.
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
pub(crate) struct RawResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Whether the end of the body can be told from an interruption.
    pub(crate) has_length: bool,
}

/// Reads the JSON of a success. UTF-8 is validated once, which is faster than for each string. Invalid bytes are replaced, so that a
/// message in another encoding does not lose the rest of the response.
pub(crate) fn json<T: DeserializeOwned>(
    response: &RawResponse,
    _: &CallOptions,
    token: &Token,
) -> Result<T, Error> {
    serde_json::from_str(&String::from_utf8_lossy(&response.body)).map_err(|error| {
        let reason = format!("expected the JSON that the document describes: {error}");
        unexpected_response(&reason, response, token)
    })
}

/// Reads the entries of a text. One that was cut short, or that is no list of gateways, is an error. Without a separator, which the
/// generated client does not set, the text stays whole.
pub(crate) fn text(
    response: &RawResponse,
    options: &CallOptions,
    token: &Token,
) -> Result<Vec<TextEntry>, Error> {
    let text = String::from_utf8_lossy(&response.body);
    let Some(separator) = &options.separator else { return Ok(vec![TextEntry::Unparsed(text.into_owned())]) };
    if !response.has_length && text::is_cut(&text, separator) {
        let detail = "the text does not end with its separator, and the response declares no length";
        return Err(Error::Transport(Box::new(TransportError::new(detail))));
    }
    text::entries(&text, separator).map_err(|reason| unexpected_response(reason, response, token))
}

/// Reads nothing of a success that has no body.
#[allow(dead_code, reason = "the document decides which operations have a body")]
pub(crate) fn ignore(_: &RawResponse, _: &CallOptions, _: &Token) -> Result<(), Error> {
    Ok(())
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
    match business_code(&response.body, operation.code_field, token) {
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
        reason: shorten(&token.scrub(reason)),
        excerpt: match content_coding(response) {
            Some(_) => String::new(),
            None => excerpt(&response.body, token),
        },
        request_id: None,
        trace_id: trace_id(&response.headers, None, token),
    }))
}

fn failure(operation: &Operation, response: &RawResponse, token: &Token) -> Error {
    let status = response.status;
    if status.is_redirection() {
        let reason = "found a redirect, which is not followed because it could send the token to another host; check the base URL";
        return unexpected_response(reason, response, token);
    }
    if status.is_success() || status.is_informational() {
        let reason = format!("expected HTTP {}, found {}", operation.status, status.as_u16());
        return unexpected_response(&reason, response, token);
    }
    rejection(operation, response, token)
}

fn rejection(operation: &Operation, response: &RawResponse, token: &Token) -> Error {
    let types::Rejection { code, message, request_id } =
        serde_json::from_slice(&response.body).unwrap_or_default();
    let rejection = Box::new(Rejection {
        status: response.status,
        code: code.and_then(|code| to_code(code, token)),
        message: match (message, content_coding(response)) {
            (Some(message), _) => shorten(&token.scrub(&plain(message))),
            (None, Some(coding)) => {
                format!("the body is {}, which the client did not ask for", token.scrub(&coding))
            }
            (None, None) => excerpt(&response.body, token),
        },
        request_id: None,
        trace_id: trace_id(&response.headers, request_id, token),
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
    let declared = response.headers.get(CONTENT_ENCODING).map_or(&[][..], HeaderValue::as_bytes);
    match String::from_utf8_lossy(declared.trim_ascii()) {
        coding if !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") => {
            Some(format!("`Content-Encoding: {}`", printable(&coding)))
        }
        _ => response.body.starts_with(&GZIP).then(|| "gzip without `Content-Encoding`".to_owned()),
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
fn business_code(body: &[u8], field: &'static str, token: &Token) -> Option<BusinessCode> {
    let mut found = None;
    let mut reader = serde_json::Deserializer::from_slice(body);
    // Stopping early is an error to the deserializer, and so is whatever follows the field; only the value counts.
    let _ = reader.deserialize_map(FieldSearch { field, found: &mut found });
    found.and_then(|code| to_code(code, token))
}

fn to_code(value: Value, token: &Token) -> Option<BusinessCode> {
    let number = match &value {
        Value::Null => return None,
        Value::Number(number) => lenient::whole(number),
        _ => None,
    };
    let text = || BusinessCode::Text(shorten(&token.scrub(&plain(value))));
    Some(number.map_or_else(text, BusinessCode::Number))
}

struct FieldSearch<'a> {
    field: &'static str,
    found: &'a mut Option<Value>,
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
