//! The wire: requests as the server reads them, and replies as it puts them together.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use sallyport_conformance::lab::{self, Framing, ProxiedRequest};
use serde_json::Value;

/// Whoever calls, since the server listens on loopback alone.
pub(crate) const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// A request, its query decoded.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    /// As it was sent.
    pub(crate) raw_query: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Bytes,
}

/// A reply.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl From<ProxiedRequest> for Request {
    fn from(seen: ProxiedRequest) -> Self {
        let query = seen.params();
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let ProxiedRequest { method, path, query: raw_query, headers, body } = seen;
        Self {
            method: method.to_string(),
            path,
            raw_query: raw_query.unwrap_or_default(),
            query,
            headers: headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect(),
            body,
        }
    }
}

impl Request {
    /// The values of a query parameter, in their order.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.query.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The first value of a query parameter.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied()
    }

    /// The values of a header, in their order.
    pub(crate) fn header_all(&self, name: &str) -> Vec<&str> {
        self.headers.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
    }

    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.header_all(name).first().copied()
    }
}

impl Reply {
    pub(crate) fn json(status: u16, value: &Value) -> Self {
        Self::bytes(status, "application/json", value.to_string().into_bytes())
    }

    pub(crate) fn text(status: u16, text: &str) -> Self {
        Self::bytes(status, "text/plain; charset=utf-8", text.as_bytes().to_vec())
    }

    pub(crate) fn bytes(status: u16, media: &str, body: Vec<u8>) -> Self {
        Self { status, headers: vec![("Content-Type".into(), media.into())], body }
    }

    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }
}

impl From<Reply> for lab::Reply {
    fn from(Reply { status, headers, body }: Reply) -> Self {
        let mut sent = HeaderMap::new();
        for (name, value) in &headers {
            let name = name.parse::<HeaderName>().expect("a name of the server's own");
            // A request id that came as a header may hold what no header can carry back.
            if let Ok(value) = HeaderValue::try_from(value) {
                sent.append(name, value);
            }
        }
        let status = StatusCode::from_u16(status).expect("a status of the server's own");
        Self { status, headers: sent, body: body.into(), framing: Framing::Whole }
    }
}
