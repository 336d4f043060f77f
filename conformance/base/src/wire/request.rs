use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value};

use super::{Secret, debug_as};
use crate::contract::Operation;

/// Everything but what RFC 3986 calls unreserved.
const QUERY: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A request with arbitrary content: repeated keys, raw query text, any header, any bytes.
#[derive(Clone, Default)]
#[must_use]
pub struct Request {
    method: String,
    path: String,
    /// Names and values; raw text has no name.
    query: Vec<(Option<String>, String)>,
    spelling: QuerySpelling,
    headers: Vec<(String, Vec<u8>)>,
    body: Body,
    /// Whether a conforming service returns no further gateways.
    pub gives_nothing: bool,
    is_invalid: bool,
    /// Whether others sent it, and this suite only read it.
    pub is_recorded: bool,
    /// The gateways of the earlier response that a conforming service repeats, sorted.
    pub given: Option<Arc<[String]>>,
}

#[derive(Clone, Default, PartialEq)]
enum Body {
    #[default]
    None,
    /// Members of a JSON object. Requests are copied for every recording and a batch may be long, so copies share them.
    Fields(Arc<Map<String, Value>>),
    Bytes(Bytes),
}

/// How the pairs of a query are written. All three mean the same (RFC 3986, 2.1 and 6.2.2.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QuerySpelling {
    /// Percent-encoded where required.
    #[default]
    Usual,
    /// Each byte of the values is percent-encoded.
    EncodedValues,
    /// Each byte of names and values is percent-encoded, in lower case.
    Encoded,
}

impl Request {
    /// A request to an operation, without parameters, headers and body.
    pub fn to(operation: &Operation) -> Self {
        Self { method: operation.method.clone(), path: operation.path.clone(), ..Self::default() }
    }

    /// A recorded request of another client, without headers and body. Pairs of its query are decoded where possible.
    pub fn recorded(method: &str, path: &str, query: &str) -> Self {
        let decoded =
            |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8().ok().map(Cow::into_owned);
        let pair = |text: &str| {
            let (name, value) = text.split_once('=')?;
            Some((Some(decoded(name)?), decoded(value)?))
        };
        let pairs = query.split('&').filter(|text| !text.is_empty());
        let query = pairs.map(|text| pair(text).unwrap_or_else(|| (None, text.into())));
        let (method, path, query) = (method.to_owned(), path.to_owned(), query.collect());
        Self { method, path, query, is_recorded: true, ..Self::default() }
    }

    /// Adds a query parameter whose value is replaced, as the redactor does.
    pub fn stand_in(self, name: &str, value: &str) -> Self {
        self.raw_query(format!("{}={value}", utf8_percent_encode(name, QUERY)))
    }

    /// Names and values of the query; raw text has no name.
    pub fn query_pairs(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        self.query.iter().map(|(name, value)| (name.as_deref(), value.as_str()))
    }

    /// Removes every header of that name.
    pub fn without_header(mut self, wanted: &str) -> Self {
        self.headers.retain(|(name, _)| !name.eq_ignore_ascii_case(wanted));
        self
    }

    /// Removes white space around the values of headers.
    pub(super) fn trim_headers(&mut self) {
        for (_, value) in &mut self.headers {
            *value = value.trim_ascii().to_vec();
        }
    }

    /// Adds a query parameter, percent-encoded, beside any of the same name.
    pub fn add_query(mut self, name: &str, value: impl fmt::Display) -> Self {
        self.query.push((Some(name.to_owned()), value.to_string()));
        self
    }

    /// Sets a query parameter in place of all of the same name.
    pub fn query(self, name: &str, value: impl fmt::Display) -> Self {
        self.without_query(name).add_query(name, value)
    }

    /// Removes a query parameter.
    pub fn without_query(mut self, name: &str) -> Self {
        self.query.retain(|(known, _)| known.as_deref() != Some(name));
        self
    }

    /// Adds text to the query as it is, for instance `num=%ff`.
    pub fn raw_query(mut self, text: impl Into<String>) -> Self {
        self.query.push((None, text.into()));
        self
    }

    /// Sets how the pairs of the query are written. Raw text stays as it is.
    pub const fn spelling(mut self, spelling: QuerySpelling) -> Self {
        self.spelling = spelling;
        self
    }

    /// Adds a header, beside any of the same name.
    pub fn header(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    /// Sets a member of the JSON object that is the body, in place of any of the same name.
    pub fn field(mut self, name: &str, value: impl Into<Value>) -> Self {
        let mut fields = match self.body {
            Body::Fields(fields) => fields,
            Body::None | Body::Bytes(_) => Arc::default(),
        };
        Arc::make_mut(&mut fields).insert(name.to_owned(), value.into());
        self.body = Body::Fields(fields);
        self.content_type("application/json")
    }

    /// Removes a member of the JSON body.
    pub fn without_field(mut self, name: &str) -> Self {
        if let Body::Fields(fields) = &mut self.body {
            Arc::make_mut(fields).shift_remove(name);
        }
        self
    }

    /// Sets the body to bytes of any kind.
    pub fn body(mut self, content_type: &str, body: impl Into<Bytes>) -> Self {
        self.body = Body::Bytes(body.into());
        self.content_type(content_type)
    }

    /// Marks a request that gets no gateways from a conforming service, so that it is sent even when the budget has none left.
    pub fn giving_nothing(mut self) -> Self {
        self.gives_nothing = true;
        self
    }

    /// Marks a request that a conforming service rejects. Accepting it is a finding, and nothing is concluded from its result.
    pub fn as_invalid(mut self) -> Self {
        self.is_invalid = true;
        self.giving_nothing()
    }

    /// Whether a conforming service rejects it.
    pub fn is_invalid(&self) -> bool {
        self.is_invalid
    }

    /// Marks a repetition, which returns the gateways of an earlier response. The budget does not count them twice.
    pub fn giving_again(mut self, gateways: impl Into<Arc<[String]>>) -> Self {
        self.given = Some(gateways.into());
        self.giving_nothing()
    }

    /// Sets the method.
    pub fn method(mut self, method: &str) -> Self {
        self.method = method.to_owned();
        self
    }

    /// The method as it is sent.
    pub fn method_name(&self) -> &str {
        &self.method
    }

    /// The path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Path and query as they are sent; contains the token.
    pub fn target(&self) -> String {
        let usual = |text: &str| utf8_percent_encode(text, QUERY).to_string();
        let lower = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
        let pairs = self.query_pairs().map(|(name, value)| {
            let Some(name) = name else { return value.to_owned() };
            let (name, value) = match self.spelling {
                QuerySpelling::Usual => (usual(name), usual(value)),
                QuerySpelling::EncodedValues => (usual(name), percent_encoded(value)),
                QuerySpelling::Encoded => (lower(name), lower(value)),
            };
            format!("{name}={value}")
        });
        let query = pairs.collect::<Vec<_>>().join("&");
        if query.is_empty() { self.path.clone() } else { format!("{}?{query}", self.path) }
    }

    /// Every header as it is sent; one may contain the token.
    pub fn headers(&self) -> &[(String, Vec<u8>)] {
        &self.headers
    }

    /// The first value of a header.
    pub fn header_value(&self, wanted: &str) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }

    /// Whether a query parameter or a header is this token.
    pub(super) fn has_token(&self, token: &str) -> bool {
        let in_query = self.query_pairs().any(|(name, value)| name.is_some() && value == token);
        in_query || self.headers.iter().any(|(_, value)| is_token(value, token))
    }

    /// The request with another token in place of this one, wherever it is, and also where a check sends what is nearly the token: a
    /// service that has withdrawn a token rejects those of it for that reason alone.
    pub(super) fn with_token(&self, token: &Secret, other: &Secret) -> Self {
        let nearly = token.shown().into_iter().zip(other.shown()).map(|((_, old), (_, new))| (old, new));
        let encoded = (percent_encoded(token.expose()), percent_encoded(other.expose()));
        let texts: Vec<(String, String)> = nearly.chain([encoded]).collect();
        let renewed = |text: &str| {
            let (old, new) = texts.iter().find(|(old, _)| text.contains(old.as_str()))?;
            Some(text.replace(old, new))
        };
        let mut request = self.clone();
        for (_, value) in &mut request.query {
            if let Some(new) = renewed(value) {
                *value = new;
            }
        }
        for (_, value) in &mut request.headers {
            if let Some(new) = std::str::from_utf8(value).ok().and_then(renewed) {
                *value = new.into_bytes();
            }
        }
        if let Body::Fields(fields) = &mut request.body {
            let new =
                |(name, value): (&String, &Value)| Some((name.clone(), renewed(value.as_str()?)?.into()));
            let new: Vec<(String, Value)> = fields.iter().filter_map(new).collect();
            if !new.is_empty() {
                Arc::make_mut(fields).extend(new);
            }
        }
        request
    }

    /// The body as it is sent.
    pub fn body_bytes(&self) -> Option<Bytes> {
        match &self.body {
            Body::None => None,
            Body::Fields(fields) => Some(serde_json::to_vec(&**fields).unwrap_or_default().into()),
            Body::Bytes(bytes) => Some(bytes.clone()),
        }
    }

    /// Number of bytes of target, headers and body.
    pub(super) fn length(&self) -> usize {
        let headers = self.headers().iter().map(|(name, value)| name.len() + value.len());
        self.target().len() + headers.sum::<usize>() + self.body_bytes().map_or(0, |body| body.len())
    }

    /// The members of the body, if it is a JSON object.
    pub fn body_members(&self) -> Option<Cow<'_, Map<String, Value>>> {
        match &self.body {
            Body::None => None,
            Body::Fields(fields) => Some(Cow::Borrowed(&**fields)),
            Body::Bytes(bytes) => serde_json::from_slice(bytes).ok().map(Cow::Owned),
        }
    }

    /// The last value of a query parameter, raw text aside.
    pub fn query_value(&self, wanted: &str) -> Option<&str> {
        self.query_pairs().filter(|(name, _)| *name == Some(wanted)).last().map(|(_, value)| value)
    }

    /// The value of a query parameter, if nothing else in the query may set it.
    pub fn only_query_value(&self, wanted: &str) -> Option<&str> {
        let may_set = self.query_pairs().filter(|(name, _)| name.is_none_or(|name| name == wanted));
        self.query_value(wanted).filter(|_| may_set.count() == 1)
    }

    fn content_type(self, value: &str) -> Self {
        self.without_header("Content-Type").header("Content-Type", value)
    }
}

/// Each byte percent-encoded.
pub fn percent_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Whether the value of a header is a token, perhaps behind the name of a scheme.
fn is_token(value: &[u8], token: &str) -> bool {
    value.strip_suffix(token.as_bytes()).is_some_and(|scheme| scheme.is_empty() || scheme.ends_with(b" "))
}

debug_as!(Request, |Self { method, path, .. }| "Request({method} {path})");

impl PartialEq for Request {
    fn eq(&self, other: &Self) -> bool {
        self.method == other.method
            && self.target() == other.target()
            && self.headers == other.headers
            && self.body == other.body
    }
}
