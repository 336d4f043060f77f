//! Code of the caller around each request, without access to the token.

use std::{fmt, mem, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::Uri;
use reqwest::Url;

use crate::{
    Error,
    operation::Operation,
    response::RawResponse,
    secret::{Hidden, Token},
    transport::Transport,
};

/// What [`Middleware::handle`] returns.
pub type MiddlewareFuture<'a> =
    Pin<Box<dyn Future<Output = Result<http::Response<Bytes>, Error>> + Send + 'a>>;

/// Runs around each request of a client, retries included: adds headers, measures, logs, limits, or responds by itself.
///
/// A middleware sees the request before the token is added to it, and the response after the token was removed from it. The
/// client then decides whether the response is a success, and retries as its [`RetryPolicy`](crate::RetryPolicy) says. The
/// request's extensions hold an [`Attempt`].
///
/// ```
/// use std::time::Instant;
/// use sallyport_client::{Attempt, Client, Middleware, MiddlewareFuture, Next, bytes::Bytes, http};
///
/// struct Timing;
///
/// impl Middleware for Timing {
///     fn handle<'a>(&'a self, request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
///         Box::pin(async move {
///             let attempt = request.extensions().get::<Attempt>().copied();
///             let started = Instant::now();
///             let response = next.run(request).await;
///             println!("{attempt:?}: {:?}", started.elapsed());
///             response
///         })
///     }
/// }
///
/// let client = Client::builder().base_url("https://api.invalid").token("token").middleware(Timing).build()?;
/// # Ok::<(), sallyport_client::Error>(())
/// ```
pub trait Middleware: Send + Sync + 'static {
    /// Handles one request. Call [`Next::run`] to send it, or return a response without sending it.
    ///
    /// # Errors
    /// An error ends this request; the call is retried when [`Error::is_retryable`] says so.
    fn handle<'a>(&'a self, request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a>;

    /// Called before the client waits to retry a call that failed with `error`. `retry` counts from 1.
    fn retrying(&self, error: &Error, retry: u32, wait: Duration) {
        let _ = (error, retry, wait);
    }
}

/// Which request of which call a middleware sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// `operationId` of the document.
    pub operation: &'static str,
    /// 1 for the first request of a call, 2 for the next one: a retry, or the repetition with a newer token or on a fresh connection.
    pub number: u32,
}

/// The rest of the chain: the middleware that was added later, then the connection.
#[must_use = "the request is sent by run()"]
pub struct Next<'a> {
    rest: &'a [Arc<dyn Middleware>],
    sender: Sender<'a>,
}

/// The middleware of a client, the first one outermost.
pub(crate) type Middlewares = Hidden<Vec<Arc<dyn Middleware>>>;

/// Sends a request at the end of the chain.
#[derive(Clone, Copy)]
struct Sender<'a> {
    transport: &'a Transport,
    operation: &'static Operation,
    token: &'a Token,
    timeout: Option<Duration>,
    /// URL of the request before the first middleware, which most leave as it is.
    url: &'a Url,
}

/// Marks a response whose end cannot be told from an interruption.
#[derive(Clone, Copy)]
struct NoLength;

impl<'a> Next<'a> {
    /// Sends the request to the service and returns its response, whatever its status.
    ///
    /// # Errors
    /// [`Error::Transport`] or [`Error::Timeout`] without a complete response, [`Error::Configuration`] when the request has
    /// another scheme, host or port than the base URL: the token goes to no other service.
    pub fn run(self, request: http::Request<Bytes>) -> MiddlewareFuture<'a> {
        match self.rest.split_first() {
            Some((first, rest)) => first.handle(request, Self { rest, sender: self.sender }),
            None => Box::pin(self.sender.send(request)),
        }
    }
}

impl fmt::Debug for Next<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Next").field("operation", &self.sender.operation.id).finish_non_exhaustive()
    }
}

impl Sender<'_> {
    async fn send(self, request: http::Request<Bytes>) -> Result<http::Response<Bytes>, Error> {
        let Self { transport, operation, token, timeout, url } = self;
        let request = into_reqwest(request, url, &transport.url, timeout)?;
        Ok(into_http(transport.exchange(request, operation, token).await?, token))
    }
}

/// Runs the chain.
pub(crate) async fn run(
    transport: &Transport,
    operation: &'static Operation,
    token: &Token,
    mut request: reqwest::Request,
    number: u32,
) -> Result<RawResponse, Error> {
    let timeout = request.timeout().copied();
    let mut converted = from_reqwest(&mut request)?;
    converted.extensions_mut().insert(Attempt { operation: operation.id, number });
    let sender = Sender { transport, operation, token, timeout, url: request.url() };
    let response = Next { rest: &transport.middleware.0, sender }.run(converted).await?;
    let has_length = response.extensions().get::<NoLength>().is_none();
    let (head, body) = response.into_parts();
    Ok(RawResponse { status: head.status, headers: head.headers, body, has_length })
}

/// Takes the headers and copies the rest; `Sender::send` needs the URL again.
fn from_reqwest(request: &mut reqwest::Request) -> Result<http::Request<Bytes>, Error> {
    let uri = Uri::try_from(request.url().as_str())
        .map_err(|error| Error::configuration(format!("cannot build the request: {error}")))?;
    let body = request.body().and_then(reqwest::Body::as_bytes).unwrap_or_default();
    let mut converted = http::Request::new(Bytes::copy_from_slice(body));
    *converted.method_mut() = request.method().clone();
    *converted.uri_mut() = uri;
    *converted.headers_mut() = mem::take(request.headers_mut());
    Ok(converted)
}

/// `sent` is the URL before the first middleware; only another one is parsed and checked.
fn into_reqwest(
    request: http::Request<Bytes>,
    sent: &Url,
    base: &Url,
    timeout: Option<Duration>,
) -> Result<reqwest::Request, Error> {
    let (head, body) = request.into_parts();
    let url = if head.uri == sent.as_str() { sent.clone() } else { changed_url(&head.uri, base)? };
    let mut converted = reqwest::Request::new(head.method, url);
    *converted.headers_mut() = head.headers;
    *converted.timeout_mut() = timeout;
    if !body.is_empty() {
        *converted.body_mut() = Some(body.into());
    }
    Ok(converted)
}

fn changed_url(uri: &Uri, base: &Url) -> Result<Url, Error> {
    let url = Url::parse(&uri.to_string())
        .map_err(|error| Error::configuration(format!("a middleware set an invalid URL: {error}")))?;
    if url.origin() != base.origin() {
        return Err(Error::configuration(
            "a middleware changed the scheme, host or port of the request; the token is sent to the base URL only",
        ));
    }
    Ok(url)
}

/// The response without the token, should the service have repeated it.
fn into_http(response: RawResponse, token: &Token) -> http::Response<Bytes> {
    let RawResponse { status, mut headers, body, has_length } = response;
    for value in headers.values_mut() {
        let scrubbed = token.scrub_bytes(value.as_bytes());
        if let Some(clean) = scrubbed.and_then(|bytes| http::HeaderValue::from_bytes(&bytes).ok()) {
            *value = clean;
        }
    }
    let body = token.scrub_bytes(&body).map_or(body, Bytes::from);
    let mut converted = http::Response::new(body);
    *converted.status_mut() = status;
    *converted.headers_mut() = headers;
    if !has_length {
        converted.extensions_mut().insert(NoLength);
    }
    converted
}
