//! What the hooks need to know about an operation. The values are generated, in [`contract`](crate::contract).

/// One operation of the document.
#[derive(Debug)]
#[cfg_attr(
    not(any(feature = "tracing", feature = "opentelemetry")),
    expect(dead_code, reason = "method and path are for telemetry")
)]
pub(crate) struct Operation {
    /// `operationId`.
    pub(crate) id: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    /// HTTP status of a success.
    pub(crate) status: u16,
    /// Field of the body that holds the business code, and its value for a success.
    pub(crate) code_field: &'static str,
    pub(crate) code: i64,
    pub(crate) credential: Credential,
    /// Query parameter that carries the idempotency id; the header of [`REQUEST_ID_HEADER`](crate::contract::REQUEST_ID_HEADER)
    /// is used when it is absent.
    pub(crate) request_id: Option<&'static str>,
    /// Whether a rejection with `Retry-After` means a shortage.
    pub(crate) shortage: bool,
    /// Whether a success is plain text.
    pub(crate) text: bool,
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
