//! The query, parsed strictly: every name is known and sent once, every value is percent-encoded UTF-8.

use std::borrow::Cow;

use sallyport_contract::table::{Location, Operation, Schema, Type};
use serde_json::{Map, Value};

use super::{
    percent::decode_form,
    request_error::{RequestError, Result},
};

/// The parameters of a query.
#[derive(Debug)]
pub struct Query<'a> {
    /// The text of the token, if the operation takes it in the query. It is wrapped before anything can print it.
    pub token: Option<Cow<'a, str>>,
    /// The other values by name; those of a list together.
    pub values: Map<String, Value>,
}

impl<'a> Query<'a> {
    /// Parses the query, without its `?`. Each name must be one of the operation's. As in forms, `+` is a space.
    ///
    /// # Errors
    /// Broken percent-encoding, text that is not UTF-8, unknown and repeated names
    /// (`open.static.unknown-fields`, `open.extract.repeated-parameter`). No value is shown.
    pub fn parse(raw: Option<&'a str>, operation: &Operation) -> Result<Self> {
        let mut query = Self { token: None, values: Map::new() };
        for pair in raw.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode_form(name, || "query".to_owned())?;
            let Some(schema) = schema(operation, &name) else {
                return Err(RequestError::unknown("query parameter", &name, &names(operation)));
            };
            let place = || Location::Query.place(&name);
            let value = decode_form(value, place)?;
            let is_first = match schema {
                None => query.token.replace(value).is_none(),
                Some(schema) => add(&mut query.values, &name, schema, value),
            };
            if !is_first {
                return Err(RequestError::repeated(place()));
            }
        }
        Ok(query)
    }
}

/// The schema of a parameter of the query: `Some(None)` for the token, which has none.
fn schema<'o>(operation: &'o Operation, name: &str) -> Option<Option<&'o Schema>> {
    // Compared by bytes, because `==` calls a function, and most names differ in the first byte.
    let same = |known: &str| known.len() == name.len() && known.bytes().eq(name.bytes());
    let mut parameters = operation.parameters.iter().filter(|part| part.location == Location::Query);
    let parameter = parameters.find(|part| same(&part.name)).map(|part| Some(&part.schema));
    let is_token = || operation.token.location == Location::Query && same(&operation.token.name);
    parameter.or_else(|| is_token().then_some(None))
}

fn names(operation: &Operation) -> Vec<&str> {
    let parameters = operation.parameters.iter().filter(|part| part.location == Location::Query);
    let token = Some(&operation.token).filter(|token| token.location == Location::Query);
    parameters.map(|part| part.name.as_str()).chain(token.map(|token| token.name.as_str())).collect()
}

/// Adds a value, and says whether it is the first of its name or an item of a list.
fn add(values: &mut Map<String, Value>, name: &str, schema: &Schema, value: Cow<'_, str>) -> bool {
    if let (Type::Array, Some(items)) = (schema.kind, schema.items()) {
        let list = values.entry(name).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = list {
            list.push(items.value_of(value));
        }
        return true;
    }
    let is_first = !values.contains_key(name);
    if is_first {
        values.insert(name.to_owned(), schema.value_of(value));
    }
    is_first
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::edge::responding::error_code::ErrorCode;

    fn operation() -> Operation {
        let parameter = |name: &str, schema: Value| json!({ "name": name, "in": "query", "schema": schema });
        let document = json!({ "paths": { "/x": { "get": { "operationId": "x", "responses": { "200": {} }, "parameters": [
            parameter("num", json!({ "type": "array", "items": { "type": "integer" } })),
            parameter("sb", json!({ "type": "string" })),
            { "name": "api_key", "in": "query", "x-credential": true, "schema": { "type": "string" } },
        ] } } } });
        sallyport_contract::read::operations(&document).unwrap().remove(0)
    }

    fn parse(raw: &str) -> Result<Map<String, Value>> {
        Query::parse(Some(raw), &operation()).map(|query| query.values)
    }

    #[test]
    fn values_are_decoded() {
        let value = |raw| parse(raw).unwrap().get("sb").cloned();
        assert_eq!(value("sb=%E6%97%A5+%2b&num=1"), Some(json!("日 +")));
        assert_eq!(value("%73b=a=b"), Some(json!("a=b")));
        assert_eq!(value("sb"), Some(json!("")));
        assert_eq!(value("num=1"), None);
    }

    #[test]
    fn only_lists_may_be_repeated() {
        assert_eq!(
            Value::Object(parse("num=3&sb=x&num=01&num=").unwrap()),
            json!({ "num": [3, "01", ""], "sb": "x" })
        );
        for twice in ["sb=x&sb=y", "sb=x&%73b=x", "api_key=x&api_key=x"] {
            assert_eq!(parse(twice).unwrap_err().code, ErrorCode::Repeated, "{twice}");
        }
    }

    #[test]
    fn ambiguous_queries_are_rejected() {
        for bad in ["sb=%", "sb=%4", "sb=%4g", "sb=%ff", "sb=%ED%A0%80", "%ff=1", "sb=%C0%80", "sb=%+1"] {
            assert_eq!(parse(bad).unwrap_err().code, ErrorCode::MalformedQuery, "{bad}");
        }
        for unknown in ["session=1", "=1"] {
            assert_eq!(parse(unknown).unwrap_err().code, ErrorCode::Unknown);
        }
    }

    #[test]
    fn no_message_shows_a_value() {
        for bad in ["api_key=sesame%", "api_key=sesame%ff", "api_key=sesame&api_key=sesame", "api_kex=sesame"]
        {
            let error = parse(bad).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("sesame"), "{error:?}");
        }
    }
}
