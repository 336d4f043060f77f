use std::cmp::Reverse;
use std::time::Duration;

use jiff::Timestamp;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Redactor, Request, Response, Secret, headers, password};

/// A request and its response, for a check to judge.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Number in the recording of its check, from 0.
    pub index: usize,
    /// What was sent.
    pub request: Request,
    /// The response, or why there is none.
    pub result: Result<Response, WireFailure>,
    /// From the first byte sent to the last one received, without waits after 429 and 503.
    pub elapsed: Duration,
    /// When it was sent.
    pub begun: Timestamp,
    /// Its `User-Agent`, which names run and case; empty for a request that the suite has not sent.
    pub user_agent: String,
}

/// Why a request has no response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{detail}")]
pub struct WireFailure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// In words, without the URL.
    pub detail: String,
}

/// Kinds of failures on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// No connection could be made.
    Connect,
    /// TLS or a proxy lets no connection come about, and would not the next time either.
    Handshake,
    /// The service refused the request before it handled it: a refused stream, or a connection that was closed for new requests.
    Refused,
    /// No complete response within the time allowed.
    Timeout,
    /// The connection ended before the response was complete, or the response was no HTTP.
    Broken,
    /// The response was longer than the suite reads.
    TooLarge,
    /// The request could not be built.
    Request,
}

impl FailureKind {
    /// Whether the service certainly did not handle the request, so that it took no gateways.
    pub fn is_unhandled(self) -> bool {
        matches!(self, Self::Connect | Self::Handshake | Self::Refused | Self::Request)
    }
}

/// A failure of the connection, a gateway in between or a moment, not of the request, in runs and in recorded traffic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransientFailure {
    /// No connection could be made.
    Unreachable,
    /// The service refused the request before it handled it, because of the connection or of its load.
    Refused,
    /// The response is about the connection (408, 421): the service has not handled the request.
    WrongConnection,
    /// The connection ended before the response was complete. The request may have been handled.
    Disconnected,
    /// 429 or 503: the service asks to wait.
    Busy,
    /// 500, or a gateway got no valid response (502) or none in time (504). The request may have been handled.
    ServerError,
}

impl TransientFailure {
    /// None for a response about the request, and for a failure that would be the same again.
    pub fn new(result: &Result<Response, WireFailure>) -> Option<Self> {
        match result {
            Ok(response) => Self::from_status(response.status),
            Err(failure) => match failure.kind {
                FailureKind::Connect => Some(Self::Unreachable),
                FailureKind::Refused => Some(Self::Refused),
                FailureKind::Broken => Some(Self::Disconnected),
                FailureKind::Handshake
                | FailureKind::Timeout
                | FailureKind::TooLarge
                | FailureKind::Request => None,
            },
        }
    }

    /// Whether another connection may be better.
    pub(crate) fn is_of_connection(self) -> bool {
        matches!(self, Self::WrongConnection | Self::Disconnected)
    }

    /// The failure that a status stands for.
    pub fn from_status(status: u16) -> Option<Self> {
        match status {
            408 | 421 => Some(Self::WrongConnection),
            429 | 503 => Some(Self::Busy),
            500 | 502 | 504 => Some(Self::ServerError),
            _ => None,
        }
    }
}

/// An exchange without secrets, as reports keep it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RecordedExchange {
    /// Number in the recording of its check, from 0.
    pub index: usize,
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub target: String,
    /// Headers that were set on purpose.
    pub request_headers: Vec<(String, String)>,
    /// Body, cut after 512 KiB.
    pub request_body: Option<String>,
    /// Whether the body was cut.
    pub request_body_cut: bool,
    /// HTTP status, if there was a response.
    pub status: Option<u16>,
    /// Headers of the response.
    pub response_headers: Vec<(String, String)>,
    /// Body of the response, cut after 512 KiB.
    pub response_body: Option<String>,
    /// Why there was no response.
    pub failure: Option<WireFailure>,
    /// In milliseconds.
    pub elapsed_ms: u64,
    /// When the request was sent, RFC 3339; empty if the suite has not sent it.
    #[serde(default)]
    pub begun: String,
    /// Its `User-Agent`, by which the provider finds it in their logs: run, case, and number in the run.
    #[serde(default)]
    pub user_agent: String,
    /// The id by which the service names the request in its logs: `requestId` or `X-Request-Id` of the response.
    #[serde(default)]
    pub request_id: Option<String>,
}

impl Exchange {
    /// An exchange that the suite has not sent itself.
    pub fn of_others(request: Request, result: Result<Response, WireFailure>) -> Self {
        let (elapsed, begun) = (Duration::ZERO, Timestamp::UNIX_EPOCH);
        Self { index: 0, request, result, elapsed, begun, user_agent: String::new() }
    }

    /// The exchange as it is kept after it was judged; see [`Response::brief`].
    pub fn brief(&self) -> Self {
        let result = self.result.as_ref().map(Response::brief).map_err(Clone::clone);
        Self { result, ..self.clone() }
    }
}

impl RecordedExchange {
    /// Bytes in reports of a request's target, of each header and of its body: the largest of any check fits, to be repeated.
    const REQUEST_LIMIT: usize = 512 * 1024;
    const RESPONSE_HEADER_LIMIT: usize = 4 * 1024;
    const ID_CHARACTERS: usize = 200;

    /// Redacts an exchange.
    pub fn new(exchange: &Exchange, redactor: &Redactor) -> Self {
        Self::with_body(exchange, redactor, Response::BODY_LIMIT).0
    }

    /// Its request, with these secrets in place of their names. None if it was too long to be recorded.
    pub fn request<'a>(&self, secrets: impl IntoIterator<Item = &'a Secret>) -> Option<Request> {
        if self.request_body_cut {
            return None;
        }
        let mut shown: Vec<_> = secrets.into_iter().flat_map(Secret::shown).collect();
        // The name of one may begin with that of another.
        shown.sort_by_key(|(name, _)| Reverse(name.len()));
        let fill = |text: &str, spell: fn(&str) -> String| {
            shown.iter().fold(text.to_owned(), |text, (name, secret)| text.replace(name, &spell(secret)))
        };
        let in_json = |secret: &str| {
            let text = serde_json::Value::from(secret).to_string();
            text.trim_matches('"').to_owned()
        };
        let target = fill(&self.target, |secret| utf8_percent_encode(secret, NON_ALPHANUMERIC).to_string());
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let mut request = Request::recorded(&self.method, path, query);
        if let Some(body) = &self.request_body {
            request = request.body("", fill(body, in_json)).without_header("Content-Type");
        }
        let headers = self.request_headers.iter();
        Some(headers.fold(request, |request, (name, value)| request.header(name, fill(value, str::to_owned))))
    }

    /// Redacts an exchange with up to `limit` bytes of the response body; also returns whether that was cut.
    pub fn with_body(exchange: &Exchange, redactor: &Redactor, limit: usize) -> (Self, bool) {
        let line = |(name, value): &(String, Vec<u8>)| {
            (redactor.redact(name), redactor.redact_bytes(value, Self::REQUEST_LIMIT))
        };
        // Requests contain only secrets that the suite knows. Those of responses are not known in advance.
        let masked = |(name, value): &(String, Vec<u8>)| {
            let value = headers::masked(name, &String::from_utf8_lossy(value));
            (redactor.redact(name), redactor.redact_bytes(value.as_bytes(), Self::RESPONSE_HEADER_LIMIT))
        };
        let request = &exchange.request;
        let (response, failure) = (exchange.result.as_ref().ok(), exchange.result.as_ref().err());
        let body = request.body_bytes();
        let response_body = response.map(|response| {
            let body = response.recorded_body();
            let masked = password::masked(&body);
            let body = masked.as_deref().unwrap_or(&body);
            let length = if response.length > response.body().len() { response.length } else { body.len() };
            redactor.redact_beginning(body, length, limit)
        });
        let (response_body, is_cut) = response_body.unzip();
        let is_sent = !exchange.user_agent.is_empty();
        let id = response.and_then(Response::request_id);
        let recorded = Self {
            index: exchange.index,
            method: request.method_name().to_owned(),
            target: redactor.redact_bytes(request.target().as_bytes(), Self::REQUEST_LIMIT),
            request_headers: request.headers().iter().map(line).collect(),
            request_body_cut: body.as_ref().is_some_and(|body| body.len() > Self::REQUEST_LIMIT),
            request_body: body.map(|body| redactor.redact_bytes(&body, Self::REQUEST_LIMIT)),
            status: response.map(|response| response.status),
            response_headers: response.map_or(&[][..], Response::headers).iter().map(masked).collect(),
            response_body,
            failure: failure.map(|known| WireFailure { detail: redactor.redact(&known.detail), ..*known }),
            elapsed_ms: u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX),
            begun: if is_sent { format!("{:.6}", exchange.begun) } else { String::new() },
            user_agent: redactor.redact(&exchange.user_agent),
            request_id: id.map(|id| redactor.excerpt(&id, Self::ID_CHARACTERS)),
        };
        (recorded, is_cut.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_request_is_the_one_that_was_sent() {
        let secrets = [
            Secret::new("API_KEY", "tok/en+with \"odd\" characters="),
            Secret::new("API_KEY_TOO", "another-token"),
        ];
        let redactor = Redactor::new(&secrets).expect("long secrets");
        let contract = crate::contract::Contract::embedded().expect("contract");
        let search = Request::to(&contract.search.operation);
        for (shown, token) in secrets.iter().flat_map(Secret::shown) {
            let sent = search.clone().query("api_key", &token).raw_query("x=%ff");
            let sent = sent.header("X-API-Key", &token).field("api_key", token.as_str()).field("a", "'@");
            let result = Ok(Response::new(200, Vec::new(), Vec::new().into()));
            let exchange = Exchange::of_others(sent.clone(), result);
            let recorded = RecordedExchange::new(&exchange, &redactor);
            let debug = format!("{exchange:?}");
            assert!(!debug.contains("api_key") && !debug.contains("X-API-Key"), "{debug}");
            assert!(recorded.target.contains(&format!("api_key={shown}&")), "{}", recorded.target);
            let text = serde_json::to_string(&recorded).expect("JSON");
            let recorded: RecordedExchange = serde_json::from_str(&text).expect("what was written");
            let again = recorded.request(&secrets).expect("a whole request");
            let parts = |request: &Request| {
                let mut headers = request.headers().to_vec();
                headers.sort();
                (request.method_name().to_owned(), request.target(), headers, request.body_bytes())
            };
            assert_eq!(parts(&again), parts(&sent), "{shown}");
            assert!(RecordedExchange { request_body_cut: true, ..recorded }.request(&secrets).is_none());
        }
    }
}
