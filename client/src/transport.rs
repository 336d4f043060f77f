//! Sends requests: authentication, timeouts, retries, limits on bodies.

use std::{error::Error as _, mem, time::Duration};

use bytes::{Bytes, BytesMut};
use reqwest::{
    Request, Version,
    header::{CONTENT_LENGTH, TRANSFER_ENCODING},
};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Error, RetryPolicy, Separator, TimeoutError, TransportError,
    contract::REQUEST_ID_HEADER,
    operation::{Credential, Operation},
    response::{RawResponse, classify, unexpected_response},
    retry::new_request_id,
    secret::Token,
    telemetry, text,
};

/// Maximum length of a rejection that is read, and maximum initial capacity for a body, in bytes.
const BEGINNING: usize = 64 << 10;

/// Stands for longer durations: an instant plus this one does not overflow.
const MAX_DURATION: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Connections and settings of a client, shared by its clones.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    pub(crate) token: Token,
    pub(crate) retry: RetryPolicy,
    /// For one request, from connecting to the end of the response body.
    pub(crate) request_timeout: Duration,
    /// For a call with all its retries and waits.
    pub(crate) total_timeout: Duration,
    /// Maximum length of a response body, in bytes.
    pub(crate) max_body: usize,
}

impl Transport {
    /// Sends the request, retries it as the policy says, and returns the response of a success. `separator` is that of a
    /// text response, whose end it marks when the response has no declared length.
    pub(crate) async fn send(
        &self,
        mut request: Request,
        operation: &'static Operation,
        separator: Option<&Separator>,
    ) -> Result<RawResponse, Error> {
        self.prepare(&mut request, operation)?;
        let deadline = Instant::now() + self.total_timeout.min(MAX_DURATION);
        let outcome = self.send_with_retries(&request, operation, separator, deadline);
        telemetry::call(operation, &self.base, outcome).await
    }

    async fn send_with_retries(
        &self,
        request: &Request,
        operation: &'static Operation,
        separator: Option<&Separator>,
        deadline: Instant,
    ) -> Result<RawResponse, Error> {
        let mut done = 0;
        loop {
            let Some(copy) = request.try_clone() else {
                return Err(Error::configuration(
                    "a request with a streamed body cannot be retried; buffer its body",
                ));
            };
            let outcome = timeout_at(deadline, self.send_once(copy, operation, separator)).await;
            let error = match outcome {
                Ok(Ok(response)) => return Ok(response),
                Ok(Err(error)) => error,
                Err(_) => return Err(timeout(true, self.total_timeout)),
            };
            match self.retry.wait(done, &error).filter(|_| operation.retry.allows(&error)) {
                // Waiting past the deadline would only replace this error by a timeout.
                Some(wait) if Instant::now() + wait.min(MAX_DURATION) < deadline => {
                    telemetry::retrying(operation, done + 1, wait, &error);
                    sleep(wait).await;
                }
                _ => return Err(error),
            }
            done += 1;
        }
    }

    async fn send_once(
        &self,
        request: Request,
        operation: &'static Operation,
        separator: Option<&Separator>,
    ) -> Result<RawResponse, Error> {
        let response = self.http.execute(request).await.map_err(|error| self.transport(error))?;
        let has_length = has_length(&response);
        let response = if response.status().as_u16() == operation.status {
            self.read(response).await?
        } else {
            read_beginning(response).await
        };
        telemetry::responded(response.status);
        let response = classify(operation, response, &self.token)?;
        match separator {
            Some(separator) if !has_length && text::is_cut(&response.body, separator) => Err(incomplete(
                "the text does not end with its separator, and the response declares no length",
            )),
            _ => Ok(response),
        }
    }

    /// Reads the whole body, up to [`max_body`](Self::max_body).
    async fn read(&self, mut response: reqwest::Response) -> Result<RawResponse, Error> {
        let status = response.status();
        let headers = mem::take(response.headers_mut());
        // `Content-Length` is only what the service claims, so it reserves little.
        let declared = response.content_length().and_then(|length| usize::try_from(length).ok());
        let capacity = declared.unwrap_or_default().min(self.max_body).min(BEGINNING);
        // A body that is received in one chunk is not copied.
        let (mut piece, mut joined) = (Bytes::new(), BytesMut::new());
        while let Some(chunk) = response.chunk().await.map_err(|error| self.transport(error))? {
            let length = piece.len().max(joined.len());
            if chunk.len() > self.max_body.saturating_sub(length) {
                let reason =
                    format!("expected a body of at most {} bytes, found a longer one", self.max_body);
                let body = if joined.is_empty() { piece } else { joined.freeze() };
                return Err(unexpected_response(
                    &reason,
                    &RawResponse { status, headers, body },
                    &self.token,
                ));
            }
            if length == 0 {
                piece = chunk;
                continue;
            }
            if joined.is_empty() {
                joined.reserve(capacity);
                joined.extend_from_slice(&mem::take(&mut piece));
            }
            joined.extend_from_slice(&chunk);
        }
        let body = if joined.is_empty() { piece } else { joined.freeze() };
        Ok(RawResponse { status, headers, body })
    }

    /// Adds the token, and a request id where the caller gave none.
    fn prepare(&self, request: &mut Request, operation: &Operation) -> Result<(), Error> {
        // The text variant of an operation differs by a fragment; the contract has no version header.
        request.url_mut().set_fragment(None);
        request.headers_mut().remove("api-version");
        *request.timeout_mut() = Some(self.request_timeout);
        if let Some(parameter) = operation.request_id
            && !has_request_id(request, parameter)
        {
            let id = new_request_id()
                .parse()
                .map_err(|_| Error::configuration("the request id cannot be sent in a header"))?;
            request.headers_mut().insert(REQUEST_ID_HEADER, id);
        }
        let (name, prefix) = match operation.credential {
            Credential::Query(name) => {
                request.url_mut().query_pairs_mut().append_pair(name, self.token.expose());
                return Ok(());
            }
            Credential::Header(name) => (name, ""),
            Credential::Bearer => ("authorization", "Bearer "),
        };
        let name = reqwest::header::HeaderName::from_bytes(name.as_bytes());
        match (name, self.token.header(prefix)) {
            (Ok(name), Some(value)) => {
                request.headers_mut().insert(name, value);
                Ok(())
            }
            _ => Err(Error::configuration(
                "the token cannot be sent in a header; it holds characters that are not allowed there",
            )),
        }
    }

    /// Converts an error of reqwest, which would display the whole URL.
    fn transport(&self, error: reqwest::Error) -> Error {
        if error.is_timeout() && !error.is_connect() {
            return timeout(false, self.request_timeout);
        }
        let is_connect = error.is_connect();
        let error = error.without_url();
        let mut detail = error.to_string();
        let mut source = error.source();
        while let Some(inner) = source {
            detail = format!("{detail}: {inner}");
            source = inner.source();
        }
        Error::Transport(Box::new(TransportError {
            is_connect,
            detail: self.token.scrub(&detail),
            request_id: None,
        }))
    }
}

/// Whether the end of the body can be told from an interruption: by `Content-Length`, by chunks or by HTTP/2 frames.
fn has_length(response: &reqwest::Response) -> bool {
    let headers = response.headers();
    response.version() > Version::HTTP_11
        || headers.contains_key(CONTENT_LENGTH)
        || headers.contains_key(TRANSFER_ENCODING)
}

fn incomplete(detail: &str) -> Error {
    Error::Transport(Box::new(TransportError {
        is_connect: false,
        detail: detail.to_owned(),
        request_id: None,
    }))
}

/// Reads the beginning of a rejection. Its status and `Retry-After` count even when the body is interrupted.
async fn read_beginning(mut response: reqwest::Response) -> RawResponse {
    let status = response.status();
    let headers = mem::take(response.headers_mut());
    let mut body = BytesMut::new();
    while body.len() < BEGINNING
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk[..chunk.len().min(BEGINNING - body.len())]);
    }
    RawResponse { status, headers, body: body.freeze() }
}

/// Whether the request has a request id in its query. An empty one is removed, so that the header counts.
fn has_request_id(request: &mut Request, parameter: &str) -> bool {
    let is_id = |name: &str| name == parameter;
    if request.url().query_pairs().any(|(name, value)| is_id(&name) && !value.is_empty()) {
        return true;
    }
    if request.url().query_pairs().any(|(name, _)| is_id(&name)) {
        let url = request.url().clone();
        let kept = url.query_pairs().filter(|(name, _)| !is_id(name));
        request.url_mut().query_pairs_mut().clear().extend_pairs(kept);
    }
    false
}

fn timeout(is_total: bool, limit: Duration) -> Error {
    Error::Timeout(Box::new(TimeoutError { is_total, limit: Some(limit), request_id: None }))
}
