//! What is sent and what is retried, by operation. The values are generated, in [`contract`](crate::contract).

use crate::Error;

/// One operation of the document.
#[derive(Debug)]
#[cfg_attr(not(feature = "tracing"), expect(dead_code, reason = "method and path are for telemetry"))]
pub(crate) struct Operation {
    /// `operationId`.
    pub(crate) id: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// HTTP status of a success.
    pub(crate) status: u16,
    /// Field of the body that holds the business code, and its value for a success. Empty where a success has no body.
    pub(crate) code_field: &'static str,
    pub(crate) code: i64,
    pub(crate) credential: Credential,
    /// Whether the operation may be repeated.
    pub(crate) retry: Retry,
    /// Query parameter that carries the idempotency id; the header of [`REQUEST_ID_HEADER`](crate::contract::REQUEST_ID_HEADER)
    /// is used when it is absent.
    pub(crate) request_id: Option<&'static str>,
    /// Whether a rejection with `Retry-After` means a shortage.
    pub(crate) shortage: bool,
    /// Whether a success is plain text.
    pub(crate) text: bool,
}

/// Whether an operation may be repeated when its outcome is unknown (`x-retry` of the document).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the document decides which of these it uses")]
pub(crate) enum Retry {
    /// Repeating it changes nothing.
    Safe,
    /// With the same request id it is the same call.
    IdempotencyKey,
    /// Repeating it may have its effect twice.
    Never,
}

impl Retry {
    /// Whether a call that ended with `error` may be repeated. A call of [`Retry::Never`] is repeated only where the service
    /// has certainly done nothing: it responded with 429, or no request was sent, because no connection was established or
    /// the token source failed.
    pub(crate) fn allows(self, error: &Error) -> bool {
        match self {
            Retry::Safe | Retry::IdempotencyKey => true,
            Retry::Never => match error {
                Error::Throttled(_) | Error::Token(_) => true,
                Error::Transport(error) => error.is_connect,
                _ => false,
            },
        }
    }
}

/// Where the token is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "the document decides which of these it uses")]
pub(crate) enum Credential {
    /// A query parameter of this name.
    Query(&'static str),
    /// A header of this name.
    Header(&'static str),
    /// `Authorization: Bearer`.
    Bearer,
}
