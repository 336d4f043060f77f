use std::{fmt, time::Duration};

use reqwest::StatusCode;

use crate::{InvalidArgument, contract::PATH_PREFIX, printable};

/// Every way in which a call can fail. No variant holds the token or a URL with its query.
///
/// `Display` writes one line in which text of the service is [`printable`], and which ends with the request id and the trace id
/// where there are such, so that a log needs neither beside it. The fields hold text as it was received.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The client is set up incorrectly. Nothing was sent.
    #[error("{}", printable(.0))]
    Configuration(String),
    /// The [`TokenSource`](crate::TokenSource) has no token at the moment. The request that needed it was not sent.
    #[error("cannot obtain the token: {}", printable(.0))]
    Token(String),
    /// An argument breaks a limit of the contract. Nothing was sent.
    #[error("invalid argument {0}")]
    InvalidArgument(#[from] InvalidArgument),
    /// The service rejected the request, for another reason than those of [`Throttled`](Self::Throttled) and
    /// [`Shortage`](Self::Shortage).
    #[error("rejected by the service: {0}")]
    Rejected(Box<Rejection>),
    /// HTTP 429: rate limit exceeded.
    #[error("rate limit exceeded: {0}")]
    Throttled(Box<Rejection>),
    /// Too few gateways at the moment: an extraction was rejected with a business code and `Retry-After`
    /// (`extract.shortage-retry-after`).
    #[error("too few gateways available: {0}")]
    Shortage(Box<Rejection>),
    /// No connection, or one that broke before the response was complete.
    #[error("{0}")]
    Transport(Box<TransportError>),
    /// A request or the whole call took longer than its timeout.
    #[error("{0}")]
    Timeout(Box<TimeoutError>),
    /// A response that the contract does not describe.
    #[error("{0}")]
    UnexpectedResponse(Box<UnexpectedResponse>),
}

/// A rejection: any response that is not a success.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rejection {
    /// HTTP status; 200 when only the business code says that the request was rejected.
    pub status: StatusCode,
    /// Business code; `None` when the body has none, as that of a proxy on the way.
    pub code: Option<BusinessCode>,
    /// The message of the service, or the beginning of a body that has none.
    pub message: String,
    /// See [`Error::request_id`].
    pub request_id: Option<String>,
    /// See [`Error::trace_id`].
    pub trace_id: Option<String>,
    /// The response's `Retry-After`: how long to wait before the next request.
    pub retry_after: Option<Duration>,
}

/// A business code. The contract defines numbers; some services send text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusinessCode {
    /// An integer.
    Number(i64),
    /// Any other JSON value, as text. A number in quotes is one of them, and never a success.
    Text(String),
}

/// Why no complete response was received.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransportError {
    /// Whether the connection could not be established, so that the service has received nothing.
    pub is_connect: bool,
    /// The cause, without the URL. Without a connection it begins with host and port of the service.
    pub detail: String,
    /// See [`Error::request_id`].
    pub request_id: Option<String>,
    /// Whether a connection that was kept alive had been closed by the service before the head of a response was complete.
    pub(crate) is_stale: bool,
}

/// Which timeout was exceeded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TimeoutError {
    /// `true` for [`total_timeout`](crate::ClientBuilder::total_timeout), `false` for
    /// [`request_timeout`](crate::ClientBuilder::request_timeout).
    pub is_total: bool,
    /// The timeout; `None` when it is unknown.
    pub limit: Option<Duration>,
    /// See [`Error::request_id`].
    pub request_id: Option<String>,
}

/// A response that the contract does not describe.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnexpectedResponse {
    /// HTTP status.
    pub status: StatusCode,
    /// The headers that help to find the cause, such as `content-type` and `server`, in lower case. Others may be
    /// private and are left out.
    pub headers: Vec<(String, String)>,
    /// What was expected and what was found.
    pub reason: String,
    /// The beginning of the body; empty when the body is compressed or was not kept.
    pub excerpt: String,
    /// See [`Error::request_id`].
    pub request_id: Option<String>,
    /// See [`Error::trace_id`].
    pub trace_id: Option<String>,
}

impl Error {
    /// A word for the variant, for logs, metrics and machine-readable messages, such as `invalid_argument`: it never changes, and
    /// holds nothing of the service. `error.type` of telemetry and `kind` of the program's JSON are this word.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Configuration(_) => "configuration",
            Error::Token(_) => "token",
            Error::InvalidArgument(_) => "invalid_argument",
            Error::Rejected(_) => "rejected",
            Error::Throttled(_) => "throttled",
            Error::Shortage(_) => "shortage",
            Error::Transport(_) => "transport",
            Error::Timeout(_) => "timeout",
            Error::UnexpectedResponse(_) => "unexpected_response",
        }
    }

    /// Whether the same call may succeed later. The client has already retried as often as its
    /// [`RetryPolicy`](crate::RetryPolicy) allows.
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Throttled(_)
            | Error::Shortage(_)
            | Error::Transport(_)
            | Error::Timeout(_)
            | Error::Token(_) => true,
            Error::Rejected(rejection) => matches!(
                rejection.status,
                StatusCode::INTERNAL_SERVER_ERROR
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            ),
            Error::Configuration(_) | Error::InvalidArgument(_) | Error::UnexpectedResponse(_) => false,
        }
    }

    /// The response's `Retry-After`: how long to wait before the next request.
    pub fn retry_after(&self) -> Option<Duration> {
        self.rejection()?.retry_after
    }

    /// The request id of an extraction that was sent; `None` for other operations.
    ///
    /// Pass it to [`Extract::request_id`](crate::Extract::request_id) to repeat the extraction: the service returns the
    /// same gateways instead of extracting a second time (`extract.idempotent`). Not to be confused with
    /// [`trace_id`](Self::trace_id).
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Error::Transport(error) => &error.request_id,
            Error::Timeout(error) => &error.request_id,
            Error::UnexpectedResponse(error) => &error.request_id,
            _ => &self.rejection()?.request_id,
        }
        .as_deref()
    }

    /// The id that the service gave this request, for its support; from the body, or else from the header
    /// [`X-Request-Id`](crate::contract::REQUEST_ID_HEADER). `None` when there was no response or none with an id.
    pub fn trace_id(&self) -> Option<&str> {
        match self {
            Error::UnexpectedResponse(error) => error.trace_id.as_deref(),
            _ => self.rejection()?.trace_id.as_deref(),
        }
    }

    /// HTTP status; `None` when there was no response.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Error::UnexpectedResponse(error) => Some(error.status),
            _ => self.rejection().map(|rejection| rejection.status),
        }
    }

    /// Business code of a rejection; `None` when its body has none.
    pub fn code(&self) -> Option<&BusinessCode> {
        self.rejection()?.code.as_ref()
    }

    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Error::Configuration(message.into())
    }

    /// The error with the request id that its extraction was sent with.
    pub(crate) fn with_request_id(mut self, id: &str) -> Self {
        let place = match &mut self {
            Error::Rejected(rejection) | Error::Throttled(rejection) | Error::Shortage(rejection) => {
                &mut rejection.request_id
            }
            Error::Transport(error) => &mut error.request_id,
            Error::Timeout(error) => &mut error.request_id,
            Error::UnexpectedResponse(error) => &mut error.request_id,
            Error::Configuration(_) | Error::Token(_) | Error::InvalidArgument(_) => return self,
        };
        *place = Some(id.to_owned());
        self
    }

    fn rejection(&self) -> Option<&Rejection> {
        match self {
            Error::Rejected(rejection) | Error::Throttled(rejection) | Error::Shortage(rejection) => {
                Some(rejection)
            }
            _ => None,
        }
    }
}

impl TransportError {
    /// An incomplete response, for a [`Middleware`](crate::Middleware) that stands in for the service.
    pub fn new(detail: impl Into<String>) -> Self {
        Self { is_connect: false, detail: detail.into(), request_id: None, is_stale: false }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HTTP {}", self.status.as_u16())?;
        if let Some(code) = &self.code {
            write!(out, ", code {code}")?;
        }
        if !self.message.is_empty() {
            // More may follow in this line, so a sentence of the service goes without its full stop.
            write!(out, ": {}", printable(self.message.strip_suffix('.').unwrap_or(&self.message)))?;
        }
        // The service itself sends a code; without one, something else answered.
        if self.status == StatusCode::NOT_FOUND && self.code.is_none() {
            write!(out, "; check the base URL, to which the client adds `{PATH_PREFIX}/…`")?;
        }
        if let Some(wait) = self.retry_after {
            // Many messages name `Retry-After` themselves.
            write!(out, "; wait {wait:?}")?;
        }
        write_ids(out, self.request_id.as_deref(), self.trace_id.as_deref())
    }
}

impl fmt::Display for BusinessCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BusinessCode::Number(code) => code.fmt(out),
            BusinessCode::Text(code) => printable(code).fmt(out),
        }
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.is_connect { "cannot connect to the service" } else { "incomplete response" };
        write!(out, "{what}: {}", printable(&self.detail))?;
        write_ids(out, self.request_id.as_deref(), None)
    }
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.is_total { "call, retries included, timed out" } else { "request timed out" })?;
        if let Some(limit) = self.limit {
            write!(out, " after {limit:?}")?;
        }
        write_ids(out, self.request_id.as_deref(), None)
    }
}

impl fmt::Display for UnexpectedResponse {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "unexpected response: {} (HTTP {}", printable(&self.reason), self.status.as_u16())?;
        if !self.excerpt.is_empty() {
            write!(out, ", body {:?}", self.excerpt)?;
        }
        out.write_str(")")?;
        write_ids(out, self.request_id.as_deref(), self.trace_id.as_deref())
    }
}

/// A service may use the request id as its trace id; it is then shown once.
fn write_ids(out: &mut fmt::Formatter<'_>, request: Option<&str>, trace: Option<&str>) -> fmt::Result {
    if let Some(id) = request {
        write!(out, " [request id {}]", printable(id))?;
    }
    match trace.filter(|trace| Some(*trace) != request) {
        Some(id) => write!(out, " [trace id {}]", printable(id)),
        None => Ok(()),
    }
}
