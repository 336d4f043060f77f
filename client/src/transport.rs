//! Sending: one try, the tries together, and their limits.

use std::{error::Error as _, mem, time::Duration};

use bytes::{Bytes, BytesMut};
use reqwest::Request;
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Error, RetryPolicy, TimeoutError, TransportError,
    contract::REQUEST_ID_HEADER,
    operation::{Credential, Operation},
    retry::new_request_id,
    secret::Token,
    telemetry,
    verdict::{Answer, judge, not_understood},
};

/// Longest part of a rejection that is read, and first room for a body, in bytes.
const BEGINNING: usize = 64 << 10;

/// A time that no program sees the end of, and that a clock can still add.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// What every call needs. One for each client, shared by its clones.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    pub(crate) token: Token,
    pub(crate) retry: RetryPolicy,
    /// For one request, from connecting to the end of its body.
    pub(crate) request_timeout: Duration,
    /// For a call with all its retries and waits.
    pub(crate) total_timeout: Duration,
    /// Longest body that is read, in bytes.
    pub(crate) max_body: usize,
}

impl Transport {
    /// Sends the request, repeats it as the policy says, and gives back an answer only when it is a success.
    pub(crate) async fn send(
        &self,
        mut request: Request,
        operation: &'static Operation,
    ) -> Result<Answer, Error> {
        self.prepare(&mut request, operation)?;
        let deadline = Instant::now() + self.total_timeout.min(FOREVER);
        telemetry::call(operation, &self.base, self.repeat(&request, operation, deadline)).await
    }

    async fn repeat(
        &self,
        request: &Request,
        operation: &'static Operation,
        deadline: Instant,
    ) -> Result<Answer, Error> {
        let mut done = 0;
        loop {
            let Some(copy) = request.try_clone() else {
                return Err(Error::configuration("a request with a streamed body cannot be repeated"));
            };
            let outcome = timeout_at(deadline, self.try_once(copy, operation)).await;
            let error = match outcome {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => error,
                Err(_) => return Err(timeout(true, self.total_timeout)),
            };
            match self.retry.wait(done, &error) {
                // A wait past the deadline would only turn a clear error into a timeout.
                Some(wait) if Instant::now() + wait.min(FOREVER) < deadline => {
                    telemetry::repeating(operation, done + 1, wait, &error);
                    sleep(wait).await;
                }
                _ => return Err(error),
            }
            done += 1;
        }
    }

    async fn try_once(&self, request: Request, operation: &'static Operation) -> Result<Answer, Error> {
        let response = self.http.execute(request).await.map_err(|error| self.transport(error))?;
        let answer = if response.status().as_u16() == operation.status {
            self.read(response).await?
        } else {
            read_beginning(response).await
        };
        telemetry::answered(answer.status);
        judge(operation, answer, &self.token)
    }

    /// Reads the body to its end, or to the longest that is read.
    async fn read(&self, mut response: reqwest::Response) -> Result<Answer, Error> {
        let status = response.status();
        let headers = mem::take(response.headers_mut());
        // What the service announces is only a hint, so it buys little room at first.
        let announced = response.content_length().and_then(|length| usize::try_from(length).ok());
        let room = announced.unwrap_or_default().min(self.max_body).min(BEGINNING);
        // A body that comes in one piece is taken as it is.
        let (mut piece, mut joined) = (Bytes::new(), BytesMut::new());
        while let Some(chunk) = response.chunk().await.map_err(|error| self.transport(error))? {
            let length = piece.len().max(joined.len());
            if chunk.len() > self.max_body.saturating_sub(length) {
                let reason = format!("the body is longer than {} bytes", self.max_body);
                let body = if joined.is_empty() { piece } else { joined.freeze() };
                return Err(not_understood(&reason, &Answer { status, headers, body }, &self.token));
            }
            if length == 0 {
                piece = chunk;
                continue;
            }
            if joined.is_empty() {
                joined.reserve(room);
                joined.extend_from_slice(&mem::take(&mut piece));
            }
            joined.extend_from_slice(&chunk);
        }
        let body = if joined.is_empty() { piece } else { joined.freeze() };
        Ok(Answer { status, headers, body })
    }

    /// Puts in what no caller gives: the token, and a request number where one is missing.
    fn prepare(&self, request: &mut Request, operation: &Operation) -> Result<(), Error> {
        // The twin of an operation that answers in text differs by a fragment; the version header is in no contract.
        request.url_mut().set_fragment(None);
        request.headers_mut().remove("api-version");
        *request.timeout_mut() = Some(self.request_timeout);
        if let Some(parameter) = operation.request_id
            && !has_number(request, parameter)
        {
            let id = new_request_id()
                .parse()
                .map_err(|_| Error::configuration("no request number could be made"))?;
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
            _ => Err(Error::configuration("the token cannot stand in a header")),
        }
    }

    /// reqwest's own error prints the whole URL, so it goes no further than this.
    fn transport(&self, error: reqwest::Error) -> Error {
        if error.is_timeout() && !error.is_connect() {
            return timeout(false, self.request_timeout);
        }
        let connecting = error.is_connect();
        let error = error.without_url();
        let mut detail = error.to_string();
        let mut source = error.source();
        while let Some(inner) = source {
            detail = format!("{detail}: {inner}");
            source = inner.source();
        }
        Error::Transport(Box::new(TransportError {
            connecting,
            detail: self.token.scrub(&detail),
            request_id: None,
        }))
    }
}

/// Reads as much of a rejection as a rejection needs. Status and `Retry-After` count however its body ends.
async fn read_beginning(mut response: reqwest::Response) -> Answer {
    let status = response.status();
    let headers = mem::take(response.headers_mut());
    let mut body = BytesMut::new();
    while body.len() < BEGINNING
        && let Ok(Some(chunk)) = response.chunk().await
    {
        body.extend_from_slice(&chunk[..chunk.len().min(BEGINNING - body.len())]);
    }
    Answer { status, headers, body: body.freeze() }
}

/// Whether the request has a number. An empty one is none: it is taken out, so that the header counts.
fn has_number(request: &mut Request, parameter: &str) -> bool {
    let is_number = |name: &str| name == parameter;
    if request.url().query_pairs().any(|(name, value)| is_number(&name) && !value.is_empty()) {
        return true;
    }
    if request.url().query_pairs().any(|(name, _)| is_number(&name)) {
        let url = request.url().clone();
        let kept = url.query_pairs().filter(|(name, _)| !is_number(name));
        request.url_mut().query_pairs_mut().clear().extend_pairs(kept);
    }
    false
}

fn timeout(total: bool, limit: Duration) -> Error {
    Error::Timeout(Box::new(TimeoutError { total, limit: Some(limit), request_id: None }))
}
