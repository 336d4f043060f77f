use super::{FailureKind, Response, WireFailure};

/// A failure that may be of the connection, of a gateway in between or of a moment, and says nothing about the request. Runs and
/// recorded traffic are judged by the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransientFailure {
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
    /// 500, or a gateway in front of the service got no valid response (502) or none in time (504). The request may have been
    /// handled.
    ServerError,
}

impl TransientFailure {
    /// None for a response about the request, and for a failure that would be the same again.
    pub(crate) fn new(result: &Result<Response, WireFailure>) -> Option<Self> {
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
    pub(crate) fn from_status(status: u16) -> Option<Self> {
        match status {
            408 | 421 => Some(Self::WrongConnection),
            429 | 503 => Some(Self::Busy),
            500 | 502 | 504 => Some(Self::ServerError),
            _ => None,
        }
    }
}
