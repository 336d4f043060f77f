use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Redactor, Request, Response, headers, password};

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
}

/// Why a request has no response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[error("{detail}")]
pub struct WireFailure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// In words, without the URL.
    pub detail: String,
}

/// Kinds of failures on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// No connection could be made, TLS included.
    Connect,
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
    pub(crate) fn is_unhandled(self) -> bool {
        matches!(self, Self::Connect | Self::Refused | Self::Request)
    }
}

/// An exchange without secrets, as reports keep it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
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
    /// Body of the response, cut after 16 KiB.
    pub response_body: Option<String>,
    /// Why there was no response.
    pub failure: Option<WireFailure>,
    /// In milliseconds.
    pub elapsed_ms: u64,
}

impl Exchange {
    /// The exchange as it is kept after it was judged; see [`Response::brief`].
    pub(crate) fn brief(&self) -> Self {
        let Self { index, request, result, elapsed } = self;
        let result = result.as_ref().map(Response::brief).map_err(Clone::clone);
        Self { index: *index, request: request.clone(), result, elapsed: *elapsed }
    }
}

impl RecordedExchange {
    /// Maximum size of a request body in reports, in bytes: the largest batch of any check fits, so that the command to repeat
    /// the request is complete.
    const REQUEST_LIMIT: usize = 512 * 1024;
    /// Maximum length of a target or a header, in bytes.
    const LINE_LIMIT: usize = 4 * 1024;

    /// Redacts an exchange.
    pub fn new(exchange: &Exchange, redactor: &Redactor) -> Self {
        Self::with_body(exchange, redactor, Response::BODY_LIMIT).0
    }

    /// Redacts an exchange with up to `limit` bytes of the response body; also returns whether that was cut.
    pub(crate) fn with_body(exchange: &Exchange, redactor: &Redactor, limit: usize) -> (Self, bool) {
        let line = |(name, value): &(String, Vec<u8>)| {
            (redactor.redact(name), redactor.redact_bytes(value, Self::LINE_LIMIT))
        };
        // Requests contain only secrets that the suite knows. Those of responses are not known in advance.
        let masked = |(name, value): &(String, Vec<u8>)| {
            let value = headers::masked(name, &String::from_utf8_lossy(value));
            (redactor.redact(name), redactor.redact_bytes(value.as_bytes(), Self::LINE_LIMIT))
        };
        let request = &exchange.request;
        let response = exchange.result.as_ref().ok();
        let body = request.body_bytes();
        let response_body = response.map(|response| {
            let masked = password::masked(response.body());
            let body = masked.as_deref().unwrap_or(response.body());
            let length =
                if response.length() > response.body().len() { response.length() } else { body.len() };
            redactor.redact_beginning(body, length, limit)
        });
        let (response_body, is_cut) = response_body.unzip();
        let recorded = Self {
            index: exchange.index,
            method: request.method_name().to_owned(),
            target: redactor.redact_bytes(request.target().as_bytes(), Self::LINE_LIMIT),
            request_headers: request.headers().iter().map(line).collect(),
            request_body_cut: body.as_ref().is_some_and(|body| body.len() > Self::REQUEST_LIMIT),
            request_body: body.map(|body| redactor.redact_bytes(&body, Self::REQUEST_LIMIT)),
            status: response.map(|response| response.status),
            response_headers: response
                .map(|response| response.headers().iter().map(masked).collect())
                .unwrap_or_default(),
            response_body,
            failure: exchange
                .result
                .as_ref()
                .err()
                .map(|failure| WireFailure { kind: failure.kind, detail: redactor.redact(&failure.detail) }),
            elapsed_ms: u64::try_from(exchange.elapsed.as_millis()).unwrap_or(u64::MAX),
        };
        (recorded, is_cut.unwrap_or_default())
    }
}
