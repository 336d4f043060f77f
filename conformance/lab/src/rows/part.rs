//! The parts of a request by name: what they hold, and small changes to them.

use hyper::header::{HeaderName, HeaderValue};
use sallyport_conformance_base::contract::{Contract, part};
use serde_json::Value;

use crate::call::Call;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    Query(&'static str),
    Header(&'static str),
    /// A property of the body of a search.
    Body(&'static str),
}

impl Part {
    /// The part that rows name so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let contract = Contract::embedded().ok()?;
        let (extract, search) = (&contract.extract, &contract.search);
        Some(match name {
            "api_key" => Self::Query(&extract.operation.api_key.name),
            "api_key_header" => Self::Header(&extract.api_key_header),
            "bearer" => Self::Header("authorization"),
            "request_id_header" => Self::Header(&extract.request_id_header.name),
            "content_type" => Self::Header("content-type"),
            "size" => Self::Body(&search.page_size.name),
            "group" => Self::Body(part::GROUP_ID),
            "city" => Self::Body(part::CITY_CODE),
            "country_code" => Self::Body(part::COUNTRY_CODE),
            "order" => Self::Body(part::ORDER_NO),
            "from" => Self::Body(part::ACTIVATED_FROM),
            "to" => Self::Body(part::ACTIVATED_TO),
            _ => {
                let parameter = extract.operation.parameters.iter().find(|input| input.name == name);
                let member = || search.operation.body.iter().find(|input| input.name == name);
                let parameter = parameter.map(|input| Self::Query(&input.name));
                return parameter.or_else(|| Some(Self::Body(&member()?.name)));
            }
        })
    }
}

/// What a part holds, when it is sent and not null.
pub(crate) fn value(call: &Call, part: Part) -> Option<Value> {
    match part {
        Part::Query(name) => call.param(name).map(Value::from),
        Part::Header(name) => call.header(name).map(Value::from),
        Part::Body(name) => call.json().get(name).filter(|value| !value.is_null()).cloned(),
    }
}

/// Gives a part another value; a body that is no object stays as it is.
pub(crate) fn put(call: &mut Call, part: Part, value: impl Into<Value>) {
    let value = value.into();
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match part {
        Part::Query(name) => call.set_param(name, &text),
        Part::Header(name) => {
            if let (Ok(name), Ok(text)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&text)) {
                call.headers.insert(name, text);
            }
        }
        Part::Body(name) => call.edit(|body| drop(body.insert(name.to_owned(), value))),
    }
}

/// Takes a part out of the request.
pub(crate) fn ignore(call: &mut Call, part: Part) {
    match part {
        Part::Query(name) => call.drop_param(name),
        Part::Header(name) => drop(call.headers.remove(name)),
        Part::Body(name) => call.edit(|body| drop(body.shift_remove(name))),
    }
}

pub(crate) fn request_id(call: &Call) -> Option<String> {
    call.request_id(&call.contract.extract)
}

/// What separates the entries of a plain-text response.
pub(crate) fn separator(call: &Call) -> String {
    let extract = &call.contract.extract;
    extract.separator(call.param(&extract.lb.name), call.param(&extract.sb.name))
}

/// Every token that a request carries, in whatever way.
pub(crate) fn credentials(call: &Call) -> Vec<String> {
    let extract = &call.contract.extract;
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let header = call.headers.get_all(extract.api_key_header.as_str()).iter().map(text);
    let bearer = call.headers.get_all(hyper::header::AUTHORIZATION).iter().map(text);
    let bearer = bearer.map(|value| value.trim_start_matches("Bearer").trim_start().to_owned());
    query_tokens(call).into_iter().chain(header).chain(bearer).collect()
}

pub(crate) fn query_tokens(call: &Call) -> Vec<String> {
    let name = &call.contract.extract.operation.api_key.name;
    call.params().into_iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect()
}
