//! The parts of a request by name: what they hold, and small changes to them.

use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;

use crate::contract::{Extract, Input, Search};
use crate::lab::Call;

/// A part of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// A parameter of the query.
    Query(fn(&'static Extract) -> &'static Input),
    /// A header.
    Header(fn(&'static Extract) -> &'static str),
    /// A property of the body of a search.
    Body(fn(&Search) -> &Input),
    /// The same by its name, as for a filter.
    Property(&'static str),
}

pub(crate) const API_KEY: Part = Part::Query(|extract| &extract.operation.api_key);
pub(crate) const API_KEY_HEADER: Part = Part::Header(|extract| &extract.api_key_header);
pub(crate) const BEARER: Part = Part::Header(|_| "authorization");
pub(crate) const NUM: Part = Part::Query(|extract| &extract.num);
pub(crate) const REGIONS: Part = Part::Query(|extract| &extract.regions);
pub(crate) const COUNTRY: Part = Part::Query(|extract| &extract.country);
pub(crate) const PROTOCOL: Part = Part::Query(|extract| &extract.protocol);
pub(crate) const RETURN_TYPE: Part = Part::Query(|extract| &extract.return_type);
pub(crate) const LB: Part = Part::Query(|extract| &extract.lb);
pub(crate) const SB: Part = Part::Query(|extract| &extract.sb);
pub(crate) const REQUEST_ID: Part = Part::Query(|extract| &extract.request_id);
pub(crate) const REQUEST_ID_HEADER: Part = Part::Header(|extract| &extract.request_id_header.name);

pub(crate) const IPS: Part = Part::Body(|search| &search.ips);
pub(crate) const PAGE: Part = Part::Body(|search| &search.page);
pub(crate) const SIZE: Part = Part::Body(|search| &search.page_size);
pub(crate) const STATUS: Part = Part::Body(|search| &search.status);
pub(crate) const GROUP: Part = Part::Body(|search| &search.group_id);
pub(crate) const CITY: Part = Part::Body(|search| &search.city_code);
pub(crate) const COUNTRY_CODE: Part = Part::Body(|search| &search.country_code);
pub(crate) const ORDER: Part = Part::Body(|search| &search.order_no);
pub(crate) const FROM: Part = Part::Body(|search| &search.activated_from);
pub(crate) const TO: Part = Part::Body(|search| &search.activated_to);

/// The parts, as rows name them.
const NAMED: [(&str, Part); 22] = [
    ("api_key", API_KEY),
    ("api_key_header", API_KEY_HEADER),
    ("bearer", BEARER),
    ("num", NUM),
    ("regions", REGIONS),
    ("country", COUNTRY),
    ("protocol", PROTOCOL),
    ("return_type", RETURN_TYPE),
    ("lb", LB),
    ("sb", SB),
    ("request_id", REQUEST_ID),
    ("request_id_header", REQUEST_ID_HEADER),
    ("ips", IPS),
    ("page", PAGE),
    ("size", SIZE),
    ("status", STATUS),
    ("group", GROUP),
    ("city", CITY),
    ("country_code", COUNTRY_CODE),
    ("order", ORDER),
    ("from", FROM),
    ("to", TO),
];

impl Part {
    /// The part that rows name so.
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMED.into_iter().find(|(known, _)| *known == name).map(|(_, part)| part)
    }

    /// Its name in the contract.
    pub(crate) fn name(self, call: &Call<'_>) -> &'static str {
        let (extract, search) = (&call.contract.extract, &call.contract.search);
        match self {
            Self::Query(part) => &part(extract).name,
            Self::Header(name) => name(extract),
            Self::Body(part) => &part(search).name,
            Self::Property(name) => name,
        }
    }
}

/// What a part holds, when it is sent and not null.
pub(crate) fn value(call: &Call<'_>, part: Part) -> Option<Value> {
    let name = part.name(call);
    match part {
        Part::Query(_) => call.param(name).map(Value::from),
        Part::Header(_) => call.header(name).map(Value::from),
        Part::Body(_) | Part::Property(_) => call.json().get(name).filter(|value| !value.is_null()).cloned(),
    }
}

/// The same, when it is a text.
pub(crate) fn text(call: &Call<'_>, part: Part) -> Option<String> {
    value(call, part)?.as_str().map(str::to_owned)
}

/// The same, when it is an integer.
pub(crate) fn integer(call: &Call<'_>, part: Part) -> Option<i64> {
    value(call, part)?.as_i64()
}

/// Gives a part another value; a body that is no object stays as it is.
pub(crate) fn put(call: &mut Call<'_>, part: Part, value: impl Into<Value>) {
    let (name, value) = (part.name(call), value.into());
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match part {
        Part::Query(_) => call.set_param(name, &text),
        Part::Header(_) => {
            if let (Ok(name), Ok(text)) = (name.parse::<HeaderName>(), HeaderValue::from_str(&text)) {
                call.headers.insert(name, text);
            }
        }
        Part::Body(_) | Part::Property(_) => call.edit(|body| drop(body.insert(name.to_owned(), value))),
    }
}

/// Takes a part out of the request.
pub(crate) fn ignore(call: &mut Call<'_>, part: Part) {
    let name = part.name(call);
    match part {
        Part::Query(_) => call.drop_param(name),
        Part::Header(_) => drop(call.headers.remove(name)),
        Part::Body(_) | Part::Property(_) => call.edit(|body| drop(body.shift_remove(name))),
    }
}
