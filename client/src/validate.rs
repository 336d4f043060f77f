//! Checks requests by the document's table of constraints before they are sent.

use std::{borrow::Cow, convert::Infallible};

use reqwest::{Body, Request};
use sallyport_contract::{check::Violation, table::Location};

use crate::operation::Operation;

/// An argument that breaks a limit of the contract. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{argument}`: expected {expected}, found {found}{}{}", self.advice(), self.cited())]
#[non_exhaustive]
pub struct InvalidArgument {
    /// Where the value would have been sent, such as `query num` or `body ips`.
    pub argument: String,
    /// Id of the clause that sets the limit, such as `extract.num-range`; of several, separated by commas.
    pub clause: &'static str,
    /// What is allowed, such as `an integer from 1 to 9`.
    pub expected: String,
    /// What was passed: the value, shortened, or its size.
    pub found: String,
    /// What to do, where it is not obvious.
    pub help: Option<&'static str>,
}

impl InvalidArgument {
    pub(crate) fn new(
        argument: impl Into<String>,
        clause: &'static str,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self { argument: argument.into(), clause, expected: expected.into(), found: found.into(), help: None }
    }

    fn advice(&self) -> Cow<'static, str> {
        self.help.map_or(Cow::Borrowed(""), |help| format!("; {help}").into())
    }

    fn cited(&self) -> Cow<'static, str> {
        if self.clause.is_empty() { "".into() } else { format!(" (clause {})", self.clause).into() }
    }
}

/// Lets [`Client::search`](crate::Client::search) take values whose conversion cannot fail.
impl From<Infallible> for InvalidArgument {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// Checks what a request sends in its query and its body.
pub(crate) fn request(request: &Request, operation: &Operation) -> Result<(), InvalidArgument> {
    // Only an operation of a test is not in the document.
    let Some(operation) = sallyport_contract::operation(operation.id) else { return Ok(()) };
    let mut values = sallyport_contract::request::Request::new(operation);
    for (name, text) in request.url().query_pairs() {
        if let Some((part, value)) = values.sent(Location::Query, &name) {
            *value = Some(part.schema.value_of(text.into_owned()));
        }
    }
    let body = request.body().and_then(Body::as_bytes).and_then(|bytes| serde_json::from_slice(bytes).ok());
    if let (Some((_, value)), Some(body)) = (values.sent(Location::Body, "body"), body) {
        *value = body;
    }
    values.check().map_err(|Violation { location, path, expected, found, clauses, .. }| {
        InvalidArgument::new(format!("{location} {path}"), clauses, expected, found)
    })
}
