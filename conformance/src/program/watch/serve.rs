use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{
    ALLOW, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HOST, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use sallyport_conformance::wire::is_loopback;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use url::Url;

use super::pages::Pages;
use crate::program::UsageError;

/// Maximum length of the head of a request, in bytes, and of what is read at once.
const MAX_HEAD: usize = 16 << 10;

/// Maximum number of concurrent connections. A scraper and a browser need a few.
const MAX_CONNECTIONS: usize = 32;
/// Time limit of a connection: one request and its response.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves the pages on the loopback interface.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    ending: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl Server {
    /// Listens, and serves from now on.
    pub(super) async fn start(address: SocketAddr, pages: Arc<Pages>) -> Result<Self, UsageError> {
        let wrong = |error| format!("--listen {address}: {error}; choose another address");
        let listener = TcpListener::bind(address).await.map_err(wrong)?;
        let address = listener.local_addr().map_err(wrong)?;
        let (ending, ended) = watch::channel(false);
        let serving = tokio::spawn(serve(listener, pages, ended));
        Ok(Self { address, ending, serving })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops listening.
    pub(super) async fn end(self) {
        let _ = self.ending.send(true);
        // The task can only fail when the runtime ends.
        let _ = self.serving.await;
    }
}

async fn serve(listener: TcpListener, pages: Arc<Pages>, mut ended: watch::Receiver<bool>) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // For instance, no descriptor is free; the caller retries.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
            _ = ended.changed() => return,
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else { continue };
        let pages = Arc::clone(&pages);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(CONNECTION_TIMEOUT, connection(stream, &pages)).await;
            drop(place);
        });
    }
}

async fn connection(stream: TcpStream, pages: &Pages) {
    let service =
        service_fn(|request: Request<Incoming>| async move { Ok::<_, Infallible>(respond(&request, pages)) });
    // A caller that sends no HTTP, or hangs up, gets nothing.
    let mut http = http1::Builder::new();
    let _ =
        http.keep_alive(false).max_buf_size(MAX_HEAD).serve_connection(TokioIo::new(stream), service).await;
}

fn respond(request: &Request<Incoming>, pages: &Pages) -> Response<Full<Bytes>> {
    const TEXT: &str = "text/plain; charset=utf-8";
    // A page of another site, whose name leads here, must not read what is served. Browsers always send a Host; health checks that
    // speak HTTP/1.0 need not.
    let is_here = |host: &HeaderValue| {
        let host = host.to_str().unwrap_or_default();
        Url::parse(&format!("http://{host}/")).is_ok_and(|url| is_loopback(&url))
    };
    if !request.headers().get(HOST).is_none_or(is_here) {
        let expected = "expected a Host of the loopback interface, such as 127.0.0.1 or localhost\n";
        return text(StatusCode::FORBIDDEN, TEXT, expected.to_owned());
    }
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = text(StatusCode::METHOD_NOT_ALLOWED, TEXT, "expected GET or HEAD\n".to_owned());
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        return response;
    }
    match request.uri().path() {
        "/" => text(StatusCode::OK, "text/html; charset=utf-8", pages.page()),
        "/metrics" => text(StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", pages.metrics()),
        "/healthz" if pages.is_healthy() => text(StatusCode::OK, TEXT, "ok\n".to_owned()),
        "/healthz" => text(
            StatusCode::SERVICE_UNAVAILABLE,
            TEXT,
            "unhealthy: no run has ended within two intervals plus the maximum time of a run\n".to_owned(),
        ),
        _ => text(StatusCode::NOT_FOUND, TEXT, "unknown page; expected /, /metrics or /healthz\n".to_owned()),
    }
}

fn text(status: StatusCode, kind: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    let policy =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'";
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    response
}
