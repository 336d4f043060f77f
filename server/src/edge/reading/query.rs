//! The query, parsed strictly: every name is known and sent once, every value is percent-encoded UTF-8.

use std::borrow::Cow;

use sallyport_contract::{
    request::Request,
    table::{Location, Operation, Schema, Type},
};
use serde_json::Value;

use super::{
    percent::decode_form,
    request_error::{RequestError, Result},
};

/// The parameters of a query.
#[derive(Debug)]
pub struct Query<'a> {
    /// The text of the token, if the operation takes it in the query. It is wrapped before anything can print it.
    pub token: Option<Cow<'a, str>>,
    /// The request with the other values; those of a list together.
    pub request: Request<'static>,
}

impl<'a> Query<'a> {
    /// Parses the query, without its `?`. Each name must be one of the operation's. As in forms, `+` is a space.
    ///
    /// # Errors
    /// Broken percent-encoding, text that is not UTF-8, unknown and repeated names
    /// (`open.static.unknown-fields`, `open.extract.repeated-parameter`). No value is shown.
    pub fn parse(raw: Option<&'a str>, operation: &'static Operation) -> Result<Self> {
        let mut query = Self { token: None, request: Request::new(operation) };
        for pair in raw.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode_form(name, || "query".to_owned())?;
            let place = || Location::Query.place(&name);
            let is_first = match query.request.sent(Location::Query, &name) {
                Some((part, sent)) => add(sent, &part.schema, decode_form(value, place)?),
                None if is_token(operation, &name) => {
                    query.token.replace(decode_form(value, place)?).is_none()
                }
                None => return Err(RequestError::unknown("query parameter", &name, &names(operation))),
            };
            if !is_first {
                return Err(RequestError::repeated(place()));
            }
        }
        Ok(query)
    }
}

fn is_token(operation: &Operation, name: &str) -> bool {
    operation.token.location == Location::Query && operation.token.name == name
}

fn names(operation: &Operation) -> Vec<&str> {
    let parameters = operation.parameters.iter().filter(|part| part.location == Location::Query);
    let token = Some(&operation.token).filter(|token| token.location == Location::Query);
    parameters.map(|part| part.name.as_str()).chain(token.map(|token| token.name.as_str())).collect()
}

/// Adds a value, and says whether it is the first of its name or an item of a list.
fn add(sent: &mut Option<Value>, schema: &Schema, value: Cow<'_, str>) -> bool {
    if let (Type::Array, Some(items)) = (schema.kind, schema.items()) {
        let list = sent.get_or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(items.value_of(value));
        }
        return true;
    }
    sent.replace(schema.value_of(value)).is_none()
}
