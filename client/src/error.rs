use std::{fmt, time::Duration};

use reqwest::StatusCode;

use crate::{Refused, printable};

/// Everything that can go wrong. No variant holds the token or a URL with its query. Shown as one line, in which text of
/// the service is [`printable`]; the fields have it as it came.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The client was set up wrongly. Nothing was sent.
    #[error("{}", printable(.0))]
    Configuration(String),
    /// The contract forbids what was asked for. Nothing was sent.
    #[error("not sent: {0}")]
    Refused(#[from] Refused),
    /// The service said no.
    #[error("rejected by the service: {0}")]
    Rejected(Box<Rejection>),
    /// The service asks for fewer requests.
    #[error("throttled by the service: {0}")]
    Throttled(Box<Rejection>),
    /// There are not enough gateways at the moment.
    #[error("the service is short of resources: {0}")]
    Shortage(Box<Rejection>),
    /// No complete answer arrived.
    #[error("{0}")]
    Transport(Box<TransportError>),
    /// Time ran out.
    #[error("{0}")]
    Timeout(Box<TimeoutError>),
    /// An answer arrived that is none of the contract's.
    #[error("{0}")]
    NotUnderstood(Box<NotUnderstood>),
}

/// What the service said when it said no.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rejection {
    /// HTTP status; a rejection may come with 200.
    pub status: StatusCode,
    /// Business code, when the body has one.
    pub code: Option<BusinessCode>,
    /// Words of the service, or the beginning of a body that is not the contract's.
    pub message: String,
    /// Id of the request; see [`Error::request_id`].
    pub request_id: Option<String>,
    /// How long the service asks to wait.
    pub retry_after: Option<Duration>,
}

/// A business code. The contract has numbers; some services send text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BusinessCode {
    /// A number.
    Number(i64),
    /// Anything else, as text.
    Text(String),
}

/// Why no complete answer arrived.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TransportError {
    /// Whether not even a connection was made, so that the service has seen nothing.
    pub connecting: bool,
    /// What happened, without any address.
    pub detail: String,
    /// Id of the request; see [`Error::request_id`].
    pub request_id: Option<String>,
}

/// Which limit ran out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TimeoutError {
    /// Whether it was the limit for the call with all its retries; otherwise that of one request.
    pub total: bool,
    /// The limit, where it is known.
    pub limit: Option<Duration>,
    /// Id of the request; see [`Error::request_id`].
    pub request_id: Option<String>,
}

/// An answer that is none of the contract's.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NotUnderstood {
    /// HTTP status.
    pub status: StatusCode,
    /// Headers that can be shown, in the order of the answer.
    pub headers: Vec<(String, String)>,
    /// What was expected and what came.
    pub reason: String,
    /// The beginning of the body.
    pub excerpt: String,
    /// Id of the request; see [`Error::request_id`].
    pub request_id: Option<String>,
}

impl Error {
    /// Whether the same call may succeed later. The client has already tried as often as its retry policy allows.
    pub fn is_retryable(&self) -> bool {
        match self {
            Error::Throttled(_) | Error::Shortage(_) | Error::Transport(_) | Error::Timeout(_) => true,
            Error::Rejected(rejection) => matches!(
                rejection.status,
                StatusCode::INTERNAL_SERVER_ERROR
                    | StatusCode::BAD_GATEWAY
                    | StatusCode::SERVICE_UNAVAILABLE
                    | StatusCode::GATEWAY_TIMEOUT
            ),
            Error::Configuration(_) | Error::Refused(_) | Error::NotUnderstood(_) => false,
        }
    }

    /// How long the service asks to wait, if it does.
    pub fn retry_after(&self) -> Option<Duration> {
        self.rejection()?.retry_after
    }

    /// For an extraction the number to repeat it with, so that it is not made a second time; for other operations the
    /// service's trace id, for its support.
    pub fn request_id(&self) -> Option<&str> {
        match self {
            Error::Rejected(rejection) | Error::Throttled(rejection) | Error::Shortage(rejection) => {
                rejection.request_id.as_deref()
            }
            Error::Transport(error) => error.request_id.as_deref(),
            Error::Timeout(error) => error.request_id.as_deref(),
            Error::NotUnderstood(error) => error.request_id.as_deref(),
            Error::Configuration(_) | Error::Refused(_) => None,
        }
    }

    /// HTTP status, if an answer arrived.
    pub fn status(&self) -> Option<StatusCode> {
        match self {
            Error::NotUnderstood(error) => Some(error.status),
            _ => self.rejection().map(|rejection| rejection.status),
        }
    }

    /// Business code, if the service gave one.
    pub fn code(&self) -> Option<&BusinessCode> {
        self.rejection()?.code.as_ref()
    }

    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Error::Configuration(message.into())
    }

    /// The error with the number that its call can be repeated with.
    pub(crate) fn with_request_id(mut self, id: &str) -> Self {
        let place = match &mut self {
            Error::Rejected(rejection) | Error::Throttled(rejection) | Error::Shortage(rejection) => {
                &mut rejection.request_id
            }
            Error::Transport(error) => &mut error.request_id,
            Error::Timeout(error) => &mut error.request_id,
            Error::NotUnderstood(error) => &mut error.request_id,
            Error::Configuration(_) | Error::Refused(_) => return self,
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

impl fmt::Display for Rejection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HTTP {}", self.status.as_u16())?;
        if let Some(code) = &self.code {
            write!(out, ", code {code}")?;
        }
        if !self.message.is_empty() {
            write!(out, ": {}", printable(&self.message))?;
        }
        if let Some(wait) = self.retry_after {
            write!(out, "; retry after {wait:?}")?;
        }
        write_request_id(out, self.request_id.as_deref())
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
        let what =
            if self.connecting { "no connection to the service" } else { "the answer was interrupted" };
        write!(out, "{what}: {}", printable(&self.detail))?;
        write_request_id(out, self.request_id.as_deref())
    }
}

impl fmt::Display for TimeoutError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.total { "the call with its retries" } else { "one request" };
        write!(out, "no answer in the time for {what}")?;
        if let Some(limit) = self.limit {
            write!(out, " ({limit:?})")?;
        }
        write_request_id(out, self.request_id.as_deref())
    }
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "answer not understood: {} (HTTP {}, body {:?})",
            printable(&self.reason),
            self.status.as_u16(),
            self.excerpt
        )?;
        write_request_id(out, self.request_id.as_deref())
    }
}

fn write_request_id(out: &mut fmt::Formatter<'_>, id: Option<&str>) -> fmt::Result {
    match id {
        Some(id) => write!(out, " [request {}]", printable(id)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEERING: &str = "\u{1b}[2J\u{9b}1m\n\r\u{7f}\u{202e}\u{2066}";

    #[test]
    fn no_text_of_a_service_steers_the_terminal() {
        let text = || format!("北京{STEERING}");
        let rejection = Rejection {
            status: StatusCode::BAD_REQUEST,
            code: Some(BusinessCode::Text(text())),
            message: text(),
            request_id: Some(text()),
            retry_after: None,
        };
        let transport = TransportError { connecting: true, detail: text(), request_id: Some(text()) };
        let timeout = TimeoutError { total: true, limit: None, request_id: Some(text()) };
        let not_understood = NotUnderstood {
            status: StatusCode::OK,
            headers: Vec::new(),
            reason: text(),
            excerpt: text(),
            request_id: Some(text()),
        };
        for error in [
            Error::Configuration(text()),
            Error::Refused(Refused::new("query request_id", "c", "less", crate::check::quoted(text()))),
            Error::Rejected(Box::new(rejection.clone())),
            Error::Throttled(Box::new(rejection.clone())),
            Error::Shortage(Box::new(rejection)),
            Error::Transport(Box::new(transport)),
            Error::Timeout(Box::new(timeout)),
            Error::NotUnderstood(Box::new(not_understood)),
        ] {
            for shown in [error.to_string(), format!("{error:?}")] {
                assert!(
                    !STEERING.chars().any(|letter| !letter.is_ascii_graphic() && shown.contains(letter)),
                    "{shown}"
                );
                assert!(shown.contains("北京") && shown.contains(r"\u{1b}"), "{shown}");
            }
        }
    }
}
