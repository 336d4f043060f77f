//! Requests and responses on their way through the lab, and small changes to both.

use std::time::Duration;

use bytes::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{HeaderMap, Method, StatusCode};
use sallyport_conformance_base::contract::Extract;
use sallyport_conformance_base::wire::debug_as;
use serde_json::Value;

/// A request on its way to the upstream.
#[derive(Clone)]
pub struct ProxiedRequest {
    /// Method.
    pub method: Method,
    /// Path without the query.
    pub path: String,
    /// Raw query without the question mark; `None` when there was none.
    pub query: Option<String>,
    /// Headers.
    pub headers: HeaderMap,
    /// Whole body.
    pub body: Bytes,
}

// Query, headers and body may hold a token, so only their sizes are shown.
debug_as!(
    ProxiedRequest,
    |Self { method, headers, body, .. }| "ProxiedRequest({method}, {} headers, {} bytes)",
    headers.len(),
    body.len()
);

impl ProxiedRequest {
    /// A request without query, headers and body.
    pub fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), query: None, headers: HeaderMap::new(), body: Bytes::new() }
    }

    /// A request with the head that a listener has read.
    pub fn from_parts(parts: hyper::http::request::Parts, body: Bytes) -> Self {
        let query = parts.uri.query().map(str::to_owned);
        Self { query, headers: parts.headers, body, ..Self::new(parts.method, parts.uri.path()) }
    }

    /// Decoded value of a query parameter (its first occurrence).
    pub fn param(&self, name: &str) -> Option<String> {
        self.params().into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// All query parameters, decoded, in order.
    pub fn params(&self) -> Vec<(String, String)> {
        let query = self.query.as_deref().unwrap_or_default();
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    /// Replaces the whole query.
    pub fn set_params(&mut self, params: &[(String, String)]) {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(params).finish();
        self.query = (!query.is_empty()).then_some(query);
    }

    /// Sets a parameter, in place of every occurrence of it.
    pub fn set_param(&mut self, name: &str, value: &str) {
        let mut params = self.params();
        params.retain(|(key, _)| key != name);
        params.push((name.to_owned(), value.to_owned()));
        self.set_params(&params);
    }

    /// Removes every occurrence of a parameter.
    pub fn drop_param(&mut self, name: &str) {
        let mut params = self.params();
        let before = params.len();
        params.retain(|(key, _)| key != name);
        if params.len() != before {
            self.set_params(&params);
        }
    }

    /// The request id that counts: that of the query, or else that of the header. It may be empty.
    pub fn request_id(&self, extract: &Extract) -> Option<String> {
        let header = || self.header(&extract.request_id_header.name).map(str::to_owned);
        self.param(&extract.request_id.name).or_else(header)
    }

    /// A header that is a text, the first of its name.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The body as JSON, or null.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Replaces the body by a JSON value.
    pub fn set_json(&mut self, value: &Value) {
        self.body = value.to_string().into();
    }

    /// Changes the body where it is a JSON object; leaves it alone where it is not.
    pub fn edit(&mut self, change: impl FnOnce(&mut serde_json::Map<String, Value>)) {
        if let Value::Object(mut object) = self.json() {
            let before = object.clone();
            change(&mut object);
            // An unchanged body keeps its spelling.
            if object != before {
                self.set_json(&Value::Object(object));
            }
        }
    }
}

/// A response on its way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: StatusCode,
    /// Headers without those of the connection.
    pub headers: HeaderMap,
    /// Whole body.
    pub body: Bytes,
    /// How the response is sent.
    pub framing: Framing,
}

/// How a response is sent. The variants after [`Framing::Drip`] break HTTP or take long; they come from scenarios.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// At once, with its length.
    #[default]
    Whole,
    /// In pieces of this many bytes, without Content-Length.
    Pieces(usize),
    /// In pieces of this many bytes, with a pause of two milliseconds before each.
    Drip(usize),
    /// In pieces of this many bytes, with this pause before each.
    Slow(usize, Duration),
    /// The body is followed by this many spaces, which are not part of its JSON.
    Padded(u64),
    /// The connection is closed after this many bytes of the body, although Content-Length declares all of it.
    Cut(usize),
    /// The connection is reset after this many bytes of the body, or before the head.
    Reset(Option<usize>),
    /// Nothing is sent for this time; then the connection is closed.
    Silent(Duration),
    /// Content-Length is wrong by this many bytes; then the connection is closed.
    WrongLength(i64),
}

impl Reply {
    /// Whether the caller gets an incomplete response or none. A body that is shorter than the cut is sent whole.
    pub fn is_broken(&self) -> bool {
        match self.framing {
            Framing::Cut(after) | Framing::Reset(Some(after)) => after < self.body.len(),
            Framing::Reset(None) | Framing::Silent(_) | Framing::WrongLength(_) => true,
            Framing::Whole
            | Framing::Pieces(_)
            | Framing::Drip(_)
            | Framing::Slow(..)
            | Framing::Padded(_) => false,
        }
    }

    /// The body as JSON, or null.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Replaces the body by a JSON value.
    pub fn set_json(&mut self, value: &Value) {
        self.body = value.to_string().into();
    }

    /// Changes the body where it is a JSON object; leaves it alone where it is not. Returns what `change` does.
    pub fn edit<T>(&mut self, change: impl FnOnce(&mut Value) -> T) -> Option<T> {
        let mut value = self.json();
        let changed = value.is_object().then(|| change(&mut value))?;
        self.set_json(&value);
        Some(changed)
    }

    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// A response with a JSON body. A number that is no HTTP status becomes 500.
    pub fn json_with(status: u16, value: &Value) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, headers, body: value.to_string().into(), framing: Framing::Whole }
    }

    /// Sets a header. A name or a value that cannot stand in a header changes nothing.
    pub fn set_header(&mut self, name: &str, value: &str) {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(value)) {
            self.headers.insert(name, value);
        }
    }
}
