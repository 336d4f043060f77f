//! Requests as the server reads them, and replies as it puts them together.

use std::net::{IpAddr, Ipv4Addr};

use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::HeaderValue;
use sallyport_conformance::lab::{ProxiedRequest, Reply};
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
        all(&self.query, name)
    }

    /// The first value of a query parameter.
    pub(crate) fn first(&self, name: &str) -> Option<&str> {
        self.all(name).first().copied()
    }

    /// The values of a header, in their order.
    pub(crate) fn header_all(&self, name: &str) -> Vec<&str> {
        all(&self.headers, name)
    }

    /// The first value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.header_all(name).first().copied()
    }
}

fn all<'a>(pairs: &'a [(String, String)], name: &str) -> Vec<&'a str> {
    pairs.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str()).collect()
}

pub(crate) fn json(status: u16, value: &Value) -> Reply {
    Reply::json_with(status, value)
}

pub(crate) fn text(status: u16, text: impl Into<Bytes>) -> Reply {
    bytes(status, "text/plain; charset=utf-8", text)
}

pub(crate) fn bytes(status: u16, media: &str, body: impl Into<Bytes>) -> Reply {
    let reply = Reply { body: body.into(), ..json(status, &Value::Null) };
    with(reply, "content-type", media)
}

/// The reply with a header. A request id that came as a header may hold what no header can carry back.
pub(crate) fn with(mut reply: Reply, name: &'static str, value: &str) -> Reply {
    reply.set_header(name, value);
    reply
}

pub(crate) fn with_status(reply: Reply, status: u16) -> Reply {
    Reply { status: StatusCode::from_u16(status).expect("a status of the server's own"), ..reply }
}
