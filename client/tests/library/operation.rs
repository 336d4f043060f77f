//! What generated code says of an operation, in the shape of `client/src/operation.rs`.

#[derive(Debug)]
pub(crate) struct Operation {
    pub(crate) id: &'static str,
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) status: u16,
    pub(crate) code_field: &'static str,
    pub(crate) code: i64,
    pub(crate) credential: Credential,
    pub(crate) retry: Retry,
    pub(crate) request_id: Option<&'static str>,
    pub(crate) shortage: bool,
    pub(crate) text: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retry {
    Safe,
    IdempotencyKey,
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credential {
    Query(&'static str),
    Header(&'static str),
    Bearer,
}
