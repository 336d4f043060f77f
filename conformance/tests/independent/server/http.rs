//! The wire: requests taken apart, replies put together, connections served by hyper.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::HeaderValue;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use percent_encoding::percent_decode;
use serde_json::Value;

use super::Server;

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
    pub(crate) peer: IpAddr,
}

/// A reply.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
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

/// Reads a query; `+` stands for a space.
pub(crate) fn pairs(raw: &str) -> Vec<(String, String)> {
    let decode = |text: &str| {
        let spaced = text.replace('+', " ");
        percent_decode(spaced.as_bytes()).decode_utf8_lossy().into_owned()
    };
    raw.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        })
        .collect()
}

pub(crate) async fn listen(
    server: Arc<Server>,
) -> std::io::Result<(SocketAddr, tokio::task::JoinHandle<()>)> {
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let accept = tokio::spawn(async move {
        let mut connections = tokio::task::JoinSet::new();
        loop {
            let Ok((socket, peer)) = listener.accept().await else { continue };
            let _ = socket.set_nodelay(true);
            let server = Arc::clone(&server);
            connections.spawn(async move {
                let decisions = &server.decisions;
                let mut builder = hyper::server::conn::http1::Builder::new();
                builder.timer(TokioTimer::new()).keep_alive(!decisions.close).max_buf_size(1 << 20);
                builder.title_case_headers(decisions.title_case);
                let handler = Arc::clone(&server);
                let service = service_fn(move |request| serve(Arc::clone(&handler), request, peer));
                // A connection that the client breaks off is the client's affair.
                let _ = builder.serve_connection(TokioIo::new(socket), service).await;
            });
            while connections.try_join_next().is_some() {}
        }
    });
    Ok((address, accept))
}

async fn serve(
    server: Arc<Server>,
    request: hyper::Request<Incoming>,
    peer: SocketAddr,
) -> Result<hyper::Response<BoxBody<Bytes, Infallible>>, hyper::Error> {
    let (head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let raw_query = head.uri.query().unwrap_or_default().to_owned();
    let headers = head.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    let request = Request {
        method: head.method.as_str().to_owned(),
        path: head.uri.path().to_owned(),
        query: pairs(&raw_query),
        raw_query,
        headers: headers.collect(),
        body,
        peer: peer.ip(),
    };
    if server.decisions.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(server.decisions.delay_ms)).await;
    }
    let answered = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| server.response(&request)));
    let reply = answered.unwrap_or_else(|_| {
        server.has_panicked.store(true, std::sync::atomic::Ordering::Relaxed);
        Reply::text(500, "the server has a bug")
    });
    let mut response = hyper::Response::builder().status(reply.status);
    for (name, value) in &reply.headers {
        // A request id that came as a header may hold what no header can carry back.
        if let Ok(value) = HeaderValue::try_from(value) {
            response = response.header(name, value);
        }
    }
    let full = Full::new(Bytes::from(reply.body.clone()));
    let body = if server.decisions.chunked {
        let parts: Vec<_> =
            reply.body.chunks(700).map(|part| Ok(Frame::data(Bytes::copy_from_slice(part)))).collect();
        StreamBody::new(futures::stream::iter(parts)).boxed()
    } else {
        full.boxed()
    };
    Ok(response.body(body).expect("every header of a reply is valid"))
}
