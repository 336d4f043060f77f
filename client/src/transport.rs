//! Sends requests: authentication, timeouts, retries, middleware.

use std::{
    error::Error as _,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use reqwest::{Request, StatusCode, Url};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Error, RetryPolicy, TimeoutError, TransportError, WithResponse,
    body::{self, BodyError},
    budget::RetryBudget,
    connection,
    contract::REQUEST_ID_HEADER,
    middleware::{self, Middlewares},
    network,
    operation::{Credential, Operation, Retry},
    options::CallOptions,
    response::{RawResponse, classify, unexpected_response},
    retry::new_request_id,
    secret::Token,
    telemetry,
    token_source::Tokens,
};

/// Longer durations are cut to this one, so that adding them to an instant does not overflow.
const MAX_DURATION: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Maximum number of closed connections that a request tries before it counts as failed; more than most pools hold.
const MAX_STALE: u32 = 256;

/// Connections and settings of a client, shared by its clones.
#[derive(Debug)]
pub(crate) struct Transport {
    pub(crate) http: reqwest::Client,
    pub(crate) base: String,
    /// `base`, parsed.
    pub(crate) url: Url,
    pub(crate) tokens: Tokens,
    pub(crate) retry: RetryPolicy,
    pub(crate) budget: RetryBudget,
    pub(crate) middleware: Middlewares,
    /// For one request, from connecting to the end of the response body.
    pub(crate) request_timeout: Duration,
    /// For a call with all its retries and waits.
    pub(crate) total_timeout: Duration,
    /// Maximum length of a response body, in bytes.
    pub(crate) max_body: usize,
}

/// Reads the body of a success. An error is that of the request, which is repeated where such an error may pass.
pub(crate) type ReadBody<T> = fn(&RawResponse, &CallOptions, &Token) -> Result<T, Error>;

/// What stays the same over the requests of a call.
struct Call<'a, T> {
    request: &'a Request,
    operation: &'static Operation,
    options: &'a CallOptions,
    read: ReadBody<T>,
    /// Number of requests that were sent.
    sent: AtomicU32,
}

impl<T> Call<'_, T> {
    /// The error with the request id that repeats the extraction.
    fn identify(&self, error: Error) -> Error {
        let id = self.operation.request_id.and_then(|parameter| request_id(self.request, parameter));
        match id {
            Some(id) => error.with_request_id(&id),
            None => error,
        }
    }
}

impl Transport {
    /// Sends the request, retries it as the policy says, and returns the response of a success.
    pub(crate) async fn send<T>(
        &self,
        mut request: Request,
        operation: &'static Operation,
        options: &CallOptions,
        read: ReadBody<T>,
    ) -> Result<WithResponse<T>, Error> {
        // progenitor adds it; the contract has no such header.
        request.headers_mut().remove("api-version");
        options.check()?;
        // All requests of the call share the request id.
        if let Some(parameter) = operation.request_id
            && request_id(&request, parameter).is_none()
        {
            let id = new_request_id()
                .parse()
                .map_err(|_| Error::configuration("the request id cannot be sent in a header"))?;
            request.headers_mut().insert(REQUEST_ID_HEADER, id);
        }
        let total = options.total_timeout.unwrap_or(self.total_timeout);
        let deadline = Instant::now() + total.min(MAX_DURATION);
        let call = Call { request: &request, operation, options, read, sent: AtomicU32::new(0) };
        let sending = self.send_with_retries(&call, deadline, total);
        telemetry::in_span(operation, &self.url, &call.sent, sending).await
    }

    async fn send_with_retries<T>(
        &self,
        call: &Call<'_, T>,
        deadline: Instant,
        total: Duration,
    ) -> Result<WithResponse<T>, Error> {
        let policy = call.options.retry.as_deref().unwrap_or(&self.retry);
        let mut retries = 0;
        loop {
            let error = match timeout_at(deadline, self.attempt(call)).await {
                Ok(Ok((value, RawResponse { status, headers, body, .. }))) => {
                    self.budget.refill();
                    let attempts = call.sent.load(Ordering::Relaxed);
                    return Ok(WithResponse { value, status, headers, body, attempts });
                }
                Ok(Err(error)) => error,
                Err(_) => {
                    let timeout = TimeoutError { is_total: true, limit: Some(total), request_id: None };
                    return Err(call.identify(Error::Timeout(Box::new(timeout))));
                }
            };
            match policy.wait(retries, &error).filter(|_| call.operation.retry.allows(&error)) {
                // Waiting past the deadline would only replace this error by a timeout.
                Some(wait)
                    if Instant::now() + wait.min(MAX_DURATION) < deadline && self.budget.take(&error) =>
                {
                    retries += 1;
                    telemetry::retrying(call.operation, retries, wait, &error);
                    self.middleware.0.iter().for_each(|one| one.retrying(&error, retries, wait));
                    sleep(wait).await;
                }
                _ => return Err(call.identify(error)),
            }
        }
    }

    /// Sends the request once; twice when its token is rejected and another one has taken its place.
    async fn attempt<T>(&self, call: &Call<'_, T>) -> Result<(T, RawResponse), Error> {
        let token = self.tokens.current().await?;
        let error = match self.send_on_open_connection(call, &token).await {
            Ok(response) => return Ok(response),
            Err(error) => error,
        };
        // Services reject a valid token with 403, for instance where the whitelist lacks the caller; another one would not help.
        let is_rejected = error.status() == Some(StatusCode::UNAUTHORIZED);
        match if is_rejected { self.tokens.after(&token).await } else { None } {
            Some(token) => self.send_on_open_connection(call, &token).await,
            None => Err(error),
        }
    }

    /// Sends the request, and again at once when the service had closed the connection that was kept alive for it. Each such failure
    /// removes a connection from the pool, until the request opens a fresh one.
    async fn send_on_open_connection<T>(
        &self,
        call: &Call<'_, T>,
        token: &Token,
    ) -> Result<(T, RawResponse), Error> {
        for _ in 0..MAX_STALE {
            match self.send_once(call, token).await {
                Err(Error::Transport(error)) if error.is_stale && call.operation.retry != Retry::Never => {}
                outcome => return outcome,
            }
        }
        self.send_once(call, token).await
    }

    async fn send_once<T>(&self, call: &Call<'_, T>, token: &Token) -> Result<(T, RawResponse), Error> {
        let Some(mut request) = call.request.try_clone() else {
            return Err(Error::configuration(
                "a request with a streamed body cannot be retried; buffer its body",
            ));
        };
        // A timeout is an extension of the request, whose copies take several allocations each; so it is set here, on the copy.
        *request.timeout_mut() = Some(call.options.request_timeout.unwrap_or(self.request_timeout));
        let number = call.sent.fetch_add(1, Ordering::Relaxed) + 1;
        let response = if self.middleware.0.is_empty() {
            self.exchange(request, call.operation, token).await?
        } else {
            middleware::run(self, call.operation, token, request, number).await?
        };
        let response = classify(call.operation, response, token)?;
        Ok(((call.read)(&response, call.options, token)?, response))
    }

    /// Sends the request with the token, and reads the response.
    pub(crate) async fn exchange(
        &self,
        mut request: Request,
        operation: &Operation,
        token: &Token,
    ) -> Result<RawResponse, Error> {
        authenticate(&mut request, operation, token)?;
        let limit = request.timeout().copied();
        let (outcome, is_new) = connection::send(self.http.execute(request)).await;
        let response = outcome.map_err(|error| self.transport_error(error, limit, token, is_new))?;
        if response.status().as_u16() != operation.status {
            return Ok(body::read_beginning(response).await);
        }
        match body::read(response, self.max_body).await {
            Ok(response) => Ok(response),
            Err(BodyError::Connection(error)) => Err(self.transport_error(error, limit, token, true)),
            Err(BodyError::TooLong(response)) => {
                let reason =
                    format!("expected a body of at most {} bytes, found a longer one", self.max_body);
                Err(unexpected_response(&reason, &response, token))
            }
        }
    }

    /// Converts an error of reqwest, which would display the whole URL. `is_new` tells whether the request opened its connection.
    fn transport_error(
        &self,
        error: reqwest::Error,
        limit: Option<Duration>,
        token: &Token,
        is_new: bool,
    ) -> Error {
        if error.is_timeout() && !error.is_connect() {
            return Error::Timeout(Box::new(TimeoutError { is_total: false, limit, request_id: None }));
        }
        let (is_connect, is_of_body) = (error.is_connect(), error.is_body() || error.is_decode());
        let is_stale = !is_new && !is_connect && connection::is_closed(&error);
        let error = error.without_url();
        let mut causes = vec![error.to_string()];
        let mut source = error.source();
        while let Some(inner) = source {
            causes.push(inner.to_string());
            source = inner.source();
        }
        // The outer errors only say that a request failed, and (before the response begins) which client sent it.
        let layers = if is_of_body { 1 } else { 2 };
        let skipped = causes.len().saturating_sub(1).min(layers);
        let mut detail = token.scrub(&causes.get(skipped..).unwrap_or_default().join(": "));
        if is_connect {
            let (host, port) = (self.url.host_str(), self.url.port_or_known_default());
            detail = format!("{}:{}: {detail}", host.unwrap_or_default(), port.unwrap_or_default());
        }
        if let Some(words) = network::problem(&error) {
            detail = format!("{detail}; {words}");
        }
        Error::Transport(Box::new(TransportError { is_connect, detail, request_id: None, is_stale }))
    }
}

/// Adds the token where the document says.
fn authenticate(request: &mut Request, operation: &Operation, token: &Token) -> Result<(), Error> {
    let (name, prefix) = match operation.credential {
        Credential::Query(name) => {
            request.url_mut().query_pairs_mut().append_pair(name, token.expose());
            return Ok(());
        }
        Credential::Header(name) => (name, ""),
        Credential::Bearer => ("authorization", "Bearer "),
    };
    let name = reqwest::header::HeaderName::from_bytes(name.as_bytes());
    match (name, token.header(prefix)) {
        (Ok(name), Some(value)) => {
            request.headers_mut().insert(name, value);
            Ok(())
        }
        _ => Err(Error::configuration(
            "the token cannot be sent in a header; it holds characters that are not allowed there",
        )),
    }
}

/// The request id that a request carries in the query `parameter`, or else in its header.
fn request_id(request: &Request, parameter: &str) -> Option<String> {
    let in_query = request.url().query_pairs().find(|(name, _)| name == parameter);
    let in_header = || Some(request.headers().get(REQUEST_ID_HEADER)?.to_str().ok()?.to_owned());
    in_query.map(|(_, id)| id.into_owned()).or_else(in_header)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use secrecy::SecretString;
    use serde_json::json;

    use super::*;
    use crate::{Client, ClientBuilder, response, testing::Replies};

    /// An operation that the document does not have yet: it writes, and has no idempotency key.
    static WRITE: Operation = Operation {
        id: "write",
        method: "POST",
        path: "/write",
        status: 200,
        code_field: "code",
        code: 200,
        credential: Credential::Bearer,
        retry: Retry::Never,
        request_id: None,
        shortage: false,
        text: false,
    };

    async fn write(builder: ClientBuilder) -> Result<u32, Error> {
        let client: Client = builder.build()?;
        let sender = client.generated().inner;
        let request = sender.transport.http.post("http://testing.invalid/write").build();
        Ok(sender.send(request, &WRITE, response::ignore).await?.attempts)
    }

    #[tokio::test]
    async fn a_write_is_repeated_only_where_nothing_was_done() {
        let success = json!({"code": 200});
        for replies in [
            Replies::new().interruption(),
            Replies::new().timeout(Duration::from_secs(1)),
            Replies::new().status(500),
            Replies::new().status(503),
        ] {
            let error = write(replies.clone().json(200, &success).builder()).await.err().unwrap();
            assert!(error.is_retryable(), "the caller decides: {error:?}");
            assert_eq!(replies.requests().len(), 1, "{error:?}");
        }
        let replies = Replies::new().throttled(Duration::ZERO).json(200, &success);
        assert_eq!(write(replies.builder()).await.unwrap(), 2);

        let (asked, replies) = (Arc::new(AtomicU32::new(0)), Replies::new().json(200, &success));
        let counted = asked.clone();
        let source = move || {
            let is_first = counted.fetch_add(1, Ordering::Relaxed) == 0;
            async move {
                if is_first { Err("the vault is sealed".into()) } else { Ok(SecretString::from("token")) }
            }
        };
        assert_eq!(write(replies.builder().token_source(source)).await.unwrap(), 1);
        assert_eq!((asked.load(Ordering::Relaxed), replies.requests().len()), (2, 1));
    }
}
