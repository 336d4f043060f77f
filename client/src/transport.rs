//! Sends requests: authentication, timeouts, retries, middleware.

use std::{
    error::Error as _,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use reqwest::{Request, StatusCode, Url};
use tokio::time::{Instant, sleep, timeout_at};

use crate::{
    Error, RetryBudget, RetryPolicy, Separator, TextEntry, TimeoutError, TransportError,
    body::{self, BodyError},
    connection,
    contract::REQUEST_ID_HEADER,
    hooks::Hooks,
    middleware::{self, Chain},
    operation::{Credential, Operation},
    options::CallOptions,
    response::{RawResponse, classify, unexpected_response},
    retry::new_request_id,
    secret::Token,
    telemetry::{self, CallTelemetry, Telemetry},
    text,
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
    pub(crate) middleware: Chain,
    pub(crate) telemetry: Telemetry,
    /// For one request, from connecting to the end of the response body.
    pub(crate) request_timeout: Duration,
    /// For a call with all its retries and waits.
    pub(crate) total_timeout: Duration,
    /// Maximum length of a response body, in bytes.
    pub(crate) max_body: usize,
}

/// The response of a success.
pub(crate) struct SuccessResponse {
    pub(crate) response: RawResponse,
    /// The token that its request was sent with.
    pub(crate) token: Arc<Token>,
    /// Number of requests that were sent.
    pub(crate) attempts: u32,
}

/// What stays the same over the requests of a call.
struct Call<'a> {
    request: &'a Request,
    operation: &'static Operation,
    options: &'a CallOptions,
    /// Separator of a text response, whose end it marks when the response has no declared length.
    separator: Option<&'a Separator>,
    telemetry: CallTelemetry<'a>,
    /// Number of requests that were sent.
    sent: AtomicU32,
}

impl Transport {
    /// Sends the request, retries it as the policy says, and returns the response of a success.
    pub(crate) async fn send(
        &self,
        mut request: Request,
        operation: &'static Operation,
        hooks: &Hooks,
    ) -> Result<SuccessResponse, Error> {
        let options = &hooks.options;
        self.prepare(&mut request, operation, options)?;
        let total = options.total_timeout.unwrap_or(self.total_timeout);
        let deadline = Instant::now() + total.min(MAX_DURATION);
        let call = Call {
            request: &request,
            operation,
            options,
            separator: hooks.separator.as_ref(),
            telemetry: self.telemetry.start(operation, &self.url),
            sent: AtomicU32::new(0),
        };
        let sending = self.send_with_retries(&call, deadline, total);
        let outcome = telemetry::in_span(operation, &self.url, &request, &call.sent, sending).await;
        call.telemetry.end(outcome.as_ref().err());
        outcome
    }

    async fn send_with_retries(
        &self,
        call: &Call<'_>,
        deadline: Instant,
        total: Duration,
    ) -> Result<SuccessResponse, Error> {
        let policy = call.options.retry.as_deref().unwrap_or(&self.retry);
        let mut retries = 0;
        loop {
            let error = match timeout_at(deadline, self.attempt(call)).await {
                Ok(Ok((response, token))) => {
                    self.budget.refill();
                    let attempts = call.sent.load(Ordering::Relaxed);
                    return Ok(SuccessResponse { response, token, attempts });
                }
                Ok(Err(error)) => error,
                Err(_) => return Err(timeout(true, total)),
            };
            match policy.wait(retries, &error).filter(|_| call.operation.retry.allows(&error)) {
                // Waiting past the deadline would only replace this error by a timeout.
                Some(wait)
                    if Instant::now() + wait.min(MAX_DURATION) < deadline && self.budget.take(&error) =>
                {
                    retries += 1;
                    telemetry::retrying(call.operation, retries, wait, &error);
                    call.telemetry.retrying(wait, &error);
                    self.middleware.iter().for_each(|one| one.retrying(&error, retries, wait));
                    sleep(wait).await;
                }
                _ => return Err(error),
            }
        }
    }

    /// Sends the request once; twice when its token is rejected and another one has taken its place.
    async fn attempt(&self, call: &Call<'_>) -> Result<(RawResponse, Arc<Token>), Error> {
        let token = self.tokens.current().await?;
        let error = match self.send_on_open_connection(call, &token).await {
            Ok(response) => return Ok((response, token)),
            Err(error) => error,
        };
        let is_rejected = matches!(error.status(), Some(StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN));
        let renewed = if is_rejected { self.tokens.after(&token).await } else { None };
        let Some(token) = renewed else { return Err(error) };
        let response = self.send_on_open_connection(call, &token).await?;
        Ok((response, token))
    }

    /// Sends the request, and again at once when the service had closed the connection that was kept alive for it. Each such failure
    /// removes a connection from the pool, until the request opens a fresh one.
    async fn send_on_open_connection(&self, call: &Call<'_>, token: &Token) -> Result<RawResponse, Error> {
        for _ in 0..MAX_STALE {
            match self.send_once(call, token).await {
                Err(error) if is_stale(&error) && call.operation.retry.allows(&error) => {}
                outcome => return outcome,
            }
        }
        self.send_once(call, token).await
    }

    async fn send_once(&self, call: &Call<'_>, token: &Token) -> Result<RawResponse, Error> {
        let Some(mut request) = call.request.try_clone() else {
            return Err(Error::configuration(
                "a request with a streamed body cannot be retried; buffer its body",
            ));
        };
        // A timeout is an extension of the request, whose copies take several allocations each; so it is set here, on the copy.
        *request.timeout_mut() = Some(call.options.request_timeout.unwrap_or(self.request_timeout));
        let number = call.sent.fetch_add(1, Ordering::Relaxed) + 1;
        let mut telemetry = call.telemetry.attempt(&mut request, number);
        let outcome = if self.middleware.is_empty() {
            self.exchange(request, call.operation, token).await
        } else {
            middleware::run(self, call.operation, token, request, number).await
        };
        let outcome = outcome.and_then(|(response, has_length)| {
            telemetry::responded(response.status);
            telemetry.responded(response.status);
            let mut response = classify(call.operation, response, token)?;
            if let Some(separator) = call.separator {
                response.entries = entries(&response, has_length, separator, token)?;
            }
            Ok(response)
        });
        telemetry.end(outcome.as_ref().err());
        outcome
    }

    /// Sends the request with the token, and reads the response. The second value tells whether the end of the body can be
    /// told from an interruption.
    pub(crate) async fn exchange(
        &self,
        mut request: Request,
        operation: &Operation,
        token: &Token,
    ) -> Result<(RawResponse, bool), Error> {
        authenticate(&mut request, operation, token)?;
        let limit = request.timeout().copied();
        let convert = |error| self.transport_error(error, limit, token, true);
        let (outcome, is_new) = connection::send(self.http.execute(request)).await;
        let response = outcome.map_err(|error| self.transport_error(error, limit, token, is_new))?;
        let has_length = body::has_length(&response);
        if response.status().as_u16() != operation.status {
            return Ok((body::read_beginning(response).await, has_length));
        }
        match body::read(response, self.max_body).await {
            Ok(response) => Ok((response, has_length)),
            Err(BodyError::Connection(error)) => Err(convert(error)),
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
        Error::Transport(Box::new(TransportError { is_connect, detail, request_id: None, is_stale }))
    }

    /// Sets the headers of the caller, and a request id where there is none; all requests of the call share them.
    fn prepare(
        &self,
        request: &mut Request,
        operation: &Operation,
        options: &CallOptions,
    ) -> Result<(), Error> {
        // The text variant of an operation differs by a fragment; the contract has no version header.
        request.url_mut().set_fragment(None);
        request.headers_mut().remove("api-version");
        options.apply(request)?;
        if let Some(parameter) = operation.request_id
            && !has_request_id(request, parameter)
        {
            let id = new_request_id()
                .parse()
                .map_err(|_| Error::configuration("the request id cannot be sent in a header"))?;
            request.headers_mut().insert(REQUEST_ID_HEADER, id);
        }
        Ok(())
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

/// The entries of a text. One that was cut short, or that is no list of gateways, is an error.
fn entries(
    response: &RawResponse,
    has_length: bool,
    separator: &Separator,
    token: &Token,
) -> Result<Vec<TextEntry>, Error> {
    if !has_length && text::is_cut(&response.body, separator) {
        let detail = "the text does not end with its separator, and the response declares no length";
        return Err(Error::Transport(Box::new(TransportError::new(detail))));
    }
    text::entries(&String::from_utf8_lossy(&response.body), separator)
        .map_err(|reason| unexpected_response(reason, response, token))
}

/// Whether the request failed on a connection that was kept alive and that the service had closed.
fn is_stale(error: &Error) -> bool {
    matches!(error, Error::Transport(error) if error.is_stale)
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

#[cfg(test)]
mod tests {
    use secrecy::SecretString;
    use serde_json::json;

    use super::*;
    use crate::{Client, ClientBuilder, operation::Retry, testing::Replies};

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
        let hooks = client.generated().inner;
        let request = hooks.transport.http.post("http://testing.invalid/write").build().unwrap();
        Ok(hooks.transport.send(request, &WRITE, &hooks).await?.attempts)
    }

    #[tokio::test]
    async fn a_write_is_repeated_only_where_nothing_was_done() {
        let success = json!({"code": 200});
        for replies in [Replies::new().interruption(), Replies::new().status(500), Replies::new().status(503)]
        {
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
