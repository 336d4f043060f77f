//! A proxy between the suite and the reference server that changes what passes through it.
//!
//! A tamper sees the request before it goes on and the response before it goes back, so that a server that breaks
//! exactly one clause can be had without a switch in the server itself.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::StreamExt as _;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use hyper::service::service_fn;
use hyper::{HeaderMap, Method, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// A request on its way to the server.
#[derive(Clone, Debug)]
pub struct ProxiedRequest {
    /// Method as it came.
    pub method: Method,
    /// Path without the query.
    pub path: String,
    /// Raw query without the question mark; `None` when there was none.
    pub query: Option<String>,
    /// Headers as they came.
    pub headers: HeaderMap,
    /// Whole body.
    pub body: Bytes,
}

impl ProxiedRequest {
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
            change(&mut object);
            self.set_json(&Value::Object(object));
        }
    }
}

/// A response on its way back.
#[derive(Clone, Debug)]
pub struct Reply {
    /// Status as the server gave it.
    pub status: StatusCode,
    /// Headers without those of the connection.
    pub headers: HeaderMap,
    /// Whole body.
    pub body: Bytes,
    /// How the body is sent.
    pub framing: Framing,
}

/// How the body of a response is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// At once, with its length.
    #[default]
    Whole,
    /// In pieces of so many bytes, without its length.
    Pieces(usize),
    /// In pieces of so many bytes, with a short wait before each.
    Drip(usize),
}

impl Reply {
    /// The body as JSON, or null.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    /// Replaces the body by a JSON value.
    pub fn set_json(&mut self, value: &Value) {
        self.body = value.to_string().into();
    }

    /// Changes the body where it is JSON; leaves it alone where it is not.
    pub fn edit(&mut self, change: impl FnOnce(&mut Value)) {
        if let Ok(mut value) = serde_json::from_slice::<Value>(&self.body) {
            change(&mut value);
            self.set_json(&value);
        }
    }

    /// A response made up on the spot.
    pub fn json_with(status: u16, value: &Value) -> Self {
        let mut headers = HeaderMap::new();
        headers
            .insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
        let status = StatusCode::from_u16(status).expect("tests use real statuses");
        Self { status, headers, body: value.to_string().into(), framing: Framing::Whole }
    }
}

/// The server behind the proxy; a tamper may ask it something of its own.
#[derive(Clone)]
pub struct Upstream {
    base: String,
    http: reqwest::Client,
}

impl Upstream {
    /// A server by its base URL.
    pub fn new(base: &str) -> Self {
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .tls_certs_only([])
            .build()
            .expect("a client without options can be built");
        Self { base: base.trim_end_matches('/').to_owned(), http }
    }

    /// Sends a request and reads the whole response.
    pub async fn call(&self, seen: &ProxiedRequest) -> Reply {
        let query = seen.query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
        let mut headers = seen.headers.clone();
        for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
            headers.remove(name);
        }
        let request = self
            .http
            .request(seen.method.clone(), format!("{}{}{query}", self.base, seen.path))
            .headers(headers)
            .body(seen.body.clone());
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => return Reply::json_with(502, &Value::String(error.without_url().to_string())),
        };
        let (status, mut headers) = (response.status(), response.headers().clone());
        for name in [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
            headers.remove(name);
        }
        let body = response.bytes().await.unwrap_or_default();
        Reply { status, headers, body, framing: Framing::Whole }
    }
}

/// What happens to an exchange on its way through.
pub trait Tamper: Send + Sync + 'static {
    /// Handles a request; the plain proxy would be `upstream.call(&seen).await`.
    fn pass(&self, seen: ProxiedRequest, upstream: &Upstream) -> impl Future<Output = Reply> + Send;
}

/// A running proxy; stops when it is dropped.
pub struct Proxy {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Starts a proxy on a free port of the loopback interface.
    pub async fn start<T: Tamper>(upstream: Upstream, tamper: T) -> Self {
        Self::start_with(upstream, tamper, false).await
    }

    /// Starts a proxy that may spell the names of headers with capitals.
    pub async fn start_with<T: Tamper>(upstream: Upstream, tamper: T, capitals: bool) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("loopback has a free port");
        let address = listener.local_addr().expect("a bound listener has an address");
        let tamper = Arc::new(tamper);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let _ = stream.set_nodelay(true);
                let (upstream, tamper) = (upstream.clone(), Arc::clone(&tamper));
                let service = service_fn(move |request| {
                    let (upstream, tamper) = (upstream.clone(), Arc::clone(&tamper));
                    async move { Ok::<_, Infallible>(serve(request, &upstream, &*tamper).await) }
                });
                tokio::spawn(async move {
                    // A caller that leaves early is the caller's business.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .title_case_headers(capitals)
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { address, task }
    }

    /// Base URL of the proxy.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve<T: Tamper>(
    request: hyper::Request<Incoming>,
    upstream: &Upstream,
    tamper: &T,
) -> Response<BoxBody<Bytes, Infallible>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let seen = ProxiedRequest {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parts.uri.query().map(str::to_owned),
        headers: parts.headers,
        body,
    };
    let reply = tamper.pass(seen, upstream).await;
    let mut response = Response::new(framed(reply.body, reply.framing));
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    response
}

fn framed(body: Bytes, framing: Framing) -> BoxBody<Bytes, Infallible> {
    let (size, wait) = match framing {
        Framing::Whole => return http_body_util::BodyExt::boxed(Full::new(body)),
        Framing::Pieces(size) => (size, Duration::ZERO),
        Framing::Drip(size) => (size, Duration::from_millis(2)),
    };
    let pieces: Vec<Bytes> = body.chunks(size.max(1)).map(Bytes::copy_from_slice).collect();
    let frames = futures::stream::iter(pieces).then(move |piece| async move {
        // Even no time takes a tick of the timer.
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        Ok(Frame::data(piece))
    });
    http_body_util::BodyExt::boxed(StreamBody::new(frames))
}
