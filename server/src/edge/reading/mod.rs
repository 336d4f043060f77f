//! Parses raw requests strictly and checks them by the contract's table of constraints, or returns the first request error.

pub mod body;
pub mod caller;
pub mod credential;
mod headers;
pub mod json;
mod percent;
pub mod query;
pub mod request_error;

use http::HeaderMap;
use sallyport_contract::{
    request::Request,
    table::{Location, Operation},
};
use serde::{Deserialize, Deserializer, de::DeserializeOwned};
use serde_json::Value;

use crate::{domain::token::Token, edge::responding::error_code::ErrorCode};
use query::Query;
use request_error::{RequestError, Result};

/// The parts of a raw request that an operation reads.
#[derive(Debug)]
pub struct RequestParts<'a> {
    /// The query, without the `?`.
    pub query: Option<&'a str>,
    /// The headers.
    pub headers: &'a HeaderMap,
    /// The body, for operations that have one.
    pub json: Option<Value>,
}

/// Reads the token and all else of a request of `operation`, whose type is `T`.
///
/// # Errors
/// The first error, in the query as a whole, in a parameter, in the body, between them, in the token.
pub fn read<T: DeserializeOwned>(
    operation: &'static Operation,
    parts: RequestParts<'_>,
) -> Result<(Token, T)> {
    let RequestParts { query, headers, json } = parts;
    let Query { token, mut request } = Query::parse(query, operation)?;
    add_headers(&mut request, headers)?;
    if let Some((_, value)) = request.sent(Location::Body, "body") {
        *value = json;
    }
    request.check()?;
    request.complete();
    let token = credential::read(token, headers, &operation.token)?;
    let request = request.deserialize().map_err(|error| {
        tracing::error!(operation = operation.id.as_str(), %error, "the type of a request and the table of constraints differ");
        RequestError::new(ErrorCode::Internal, "", ErrorCode::Internal.description())
    })?;
    Ok((token, request))
}

fn add_headers(request: &mut Request<'static>, headers: &HeaderMap) -> Result<()> {
    let operation = request.operation();
    for part in operation.parameters.iter().filter(|part| part.location == Location::Header) {
        // A header that is read instead of a parameter may be anything beside it.
        if operation.substituted_by(&part.name).is_some_and(|name| request.get(name).is_some()) {
            continue;
        }
        if let (Some(text), Some((_, value))) =
            (headers::single(headers, &part.name)?, request.sent(part.location, &part.name))
        {
            *value = Some(part.schema.value_of(text));
        }
    }
    Ok(())
}

/// Tells null from an absent member: for fields of type `Option<Option<T>>`.
pub fn nullable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> std::result::Result<Option<Option<T>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}
