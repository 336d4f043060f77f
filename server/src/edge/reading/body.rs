//! Request bodies: JSON, bounded in size and time.

use std::{borrow::Cow, future::poll_fn, pin::Pin, sync::Arc, task::Poll, time::Duration};

use bytes::Bytes;
use dropshot::Body;
use http::{
    HeaderMap, Version,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Frame};
use sallyport_contract::{check::quoted, table::Schema};
use serde_json::Value;
use tokio::task::coop;

use super::{
    headers,
    json::Json,
    request_error::{RequestError, Result},
};
use crate::{
    connections::{Connection, Reservation},
    edge::responding::{api_error::ApiError, error_code::ErrorCode},
};

/// Maximum size of a body in bytes, about twice the size of the largest batch of addresses in their longest spelling.
pub const MAX_BYTES: usize = 1 << 20;

/// Maximum number of JSON values in a body: this many times that of the largest valid one, so that a body with some too many gets an error
/// that says of which.
const EXCESS_OF_VALUES: usize = 2;

/// The number of the largest valid body whose schema has a list without a limit.
const DEFAULT_VALUES: usize = 10_000;

/// Number of bytes by which the memory for a body grows.
const STEP: usize = 16 << 10;

/// Up to this size and for this time the rest of a rejected body is received and dropped, so that a caller that is still sending
/// reads the response instead of a reset connection.
const LINGER_BYTES: usize = 16 << 20;
const LINGER: Duration = Duration::from_secs(2);

/// Maximum number of consecutive attempts to read a chunked body that give no content. Each follows the arrival of bytes.
const MAX_ATTEMPTS: u32 = 64;

/// A request body that is not received yet.
#[derive(Debug)]
pub struct UnreadBody {
    body: Body,
    /// Whether it is framed by chunks of HTTP/1.1. hyper reads endless zeros before a chunk's size, and endless spaces after it,
    /// without a limit, for as long as this exists.
    is_chunked: bool,
}

impl UnreadBody {
    pub(crate) fn new(request: hyper::Request<Body>) -> Self {
        let is_http1 = request.version() < Version::HTTP_2;
        let body = request.into_body();
        let is_chunked = is_http1 && body.size_hint().exact().is_none();
        Self { body, is_chunked }
    }

    /// Drops the body. What is still being sent is received for a while and ignored. A chunked body is not: hyper closes the
    /// connection after the response.
    pub(crate) fn discard(mut self) {
        if self.is_chunked || self.body.is_end_stream() {
            return;
        }
        tokio::spawn(async move {
            let mut left = LINGER_BYTES;
            let rest = async {
                while let Some(Ok(frame)) = self.body.frame().await {
                    left = left.saturating_sub(frame.data_ref().map_or(0, Bytes::len));
                    if left == 0 {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout(LINGER, rest).await;
        });
    }

    /// The next part of the body. Fails when only framing of chunks arrives.
    async fn frame(&mut self) -> Option<Result<Frame<Bytes>, ()>> {
        let mut attempts = 0;
        poll_fn(|context| match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(frame) => Poll::Ready(frame.map(|frame| frame.map_err(drop))),
            Poll::Pending => {
                attempts += 1;
                // hyper reads in the same task, from the first attempt on. It has used up the budget when it read as often as one
                // turn allows.
                let is_endless = attempts > MAX_ATTEMPTS || (attempts > 1 && !coop::has_budget_remaining());
                if self.is_chunked && is_endless { Poll::Ready(Some(Err(()))) } else { Poll::Pending }
            }
        })
        .await
    }
}

/// Receives a body that is declared as JSON. Its memory is reserved until the reservation is dropped.
///
/// # Errors
/// It is not declared as JSON, too large, too slow or incomplete, or the bodies that are being received take too much
/// memory.
pub(crate) async fn read(
    body: UnreadBody,
    headers: &HeaderMap,
    timeout: Duration,
    connection: &Arc<Connection>,
    clauses: &'static str,
) -> Result<(Vec<u8>, Reservation), ApiError> {
    if let Err(error) = declared_as_json(headers, clauses) {
        body.discard();
        return Err(error.into());
    }
    let mut reservation = connection.receive_body();
    let bytes = collect(body, timeout, &mut reservation, clauses).await?;
    Ok((bytes, reservation))
}

/// An error of the body as a whole, which violates these clauses.
fn wrong(code: ErrorCode, problem: impl Into<Cow<'static, str>>, clauses: &'static str) -> RequestError {
    RequestError::new(code, "body", problem).citing(clauses)
}

/// Parses a body of this schema, which it is not checked by.
///
/// # Errors
/// It is not exactly one JSON value, has many more values than a valid body, or an object in it has a member twice.
pub fn parse(bytes: &[u8], schema: &'static Schema) -> Result<Value> {
    let clauses = schema.clauses();
    let max_values = schema.max_values().unwrap_or(DEFAULT_VALUES).saturating_mul(EXCESS_OF_VALUES);
    let json = Json::parse(bytes, max_values).map_err(|error| {
        if error.is_data() {
            let problem = format!("expected at most {max_values} JSON values");
            return wrong(ErrorCode::BodyTooLarge, problem, clauses);
        }
        // serde_json's message can quote the body, so only the position is reported.
        let found = match (error.is_eof(), error.line(), error.column()) {
            (true, ..) => "an incomplete one".to_owned(),
            (false, line, column) => format!("an error at line {line}, column {column}"),
        };
        let problem =
            format!("expected exactly one JSON value in UTF-8, at most 127 levels deep, found {found}");
        wrong(ErrorCode::MalformedBody, problem, clauses)
    })?;
    match json.repeated {
        None => Ok(json.value),
        Some(name) => Err(RequestError::repeated_field(&name)),
    }
}

async fn collect(
    mut body: UnreadBody,
    timeout: Duration,
    reservation: &mut Reservation,
    clauses: &'static str,
) -> Result<Vec<u8>, ApiError> {
    let too_large = || {
        ApiError::from(wrong(ErrorCode::BodyTooLarge, format!("expected at most {MAX_BYTES} bytes"), clauses))
    };
    if body.body.size_hint().lower() > MAX_BYTES as u64 {
        body.discard();
        return Err(too_large());
    }
    let deadline = tokio::time::Instant::now() + timeout;
    let mut bytes = Vec::new();
    loop {
        let frame = match tokio::time::timeout_at(deadline, body.frame()).await {
            Err(_) => {
                let problem = format!("not received within {} ms", timeout.as_millis());
                return Err(wrong(ErrorCode::BodyTimeout, problem, clauses).into());
            }
            Ok(None) => return Ok(bytes),
            Ok(Some(Err(_))) => {
                return Err(wrong(ErrorCode::MalformedBody, "incomplete", clauses).into());
            }
            Ok(Some(Ok(frame))) => frame,
        };
        if let Ok(data) = frame.into_data() {
            if bytes.len() + data.len() > MAX_BYTES {
                body.discard();
                return Err(too_large());
            }
            let missing = (bytes.len() + data.len()).saturating_sub(bytes.capacity());
            // A vector that grows by itself would double its size.
            let step = missing.next_multiple_of(STEP);
            if reservation.grow(step).is_err() {
                body.discard();
                return Err(ErrorCode::Overloaded.into());
            }
            bytes.reserve_exact(bytes.capacity() - bytes.len() + step);
            bytes.extend_from_slice(&data);
        }
    }
}

/// Requires `application/json` in UTF-8 without a content encoding (`open.static.content-type`).
fn declared_as_json(headers: &HeaderMap, clauses: &'static str) -> Result<()> {
    let content_type = headers::single(headers, CONTENT_TYPE.as_str())?.unwrap_or_default();
    let mut parts = content_type.split(';').map(str::trim);
    let json = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    let utf8 = parts.all(|parameter| match parameter.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("charset") => {
            value.trim_matches('"').eq_ignore_ascii_case("utf-8")
        }
        _ => true,
    });
    let encoding = headers::single(headers, CONTENT_ENCODING.as_str())?;
    let plain = encoding.is_none_or(|encoding| encoding.eq_ignore_ascii_case("identity"));
    if json && utf8 && plain {
        return Ok(());
    }
    let expected = "expected `Content-Type: application/json`, in UTF-8 and without `Content-Encoding`";
    let found =
        if content_type.is_empty() { String::new() } else { format!(", found {}", quoted(content_type)) };
    Err(wrong(ErrorCode::NotJson, format!("{expected}{found}"), clauses))
}
