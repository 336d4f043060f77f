use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::header::HOST;
use hyper::{HeaderMap, Method, StatusCode};
use sallyport_conformance::lab::{Framing, Handler, ProxiedRequest, Reply};
use sallyport_conformance::wire::is_loopback;
use url::Url;

/// What is served, as of the last run.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    /// Maximum time between the ends of two runs of a healthy watch.
    max_gap: Duration,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    page: Bytes,
    metrics: Bytes,
    /// When the last run ended, or when the watch began.
    ended: Instant,
}

impl Pages {
    /// Pages without a run, for runs that start at an interval of `every` and take at most `longest_run`.
    pub(super) fn new(every: Duration, longest_run: Duration) -> Self {
        let max_gap = every.saturating_mul(2).saturating_add(longest_run);
        let page = Bytes::from_static(b"<!doctype html><title>Conformance</title><p>No run has ended yet.");
        let state = State { page, metrics: Bytes::new(), ended: Instant::now() };
        Self { max_gap, state: Arc::new(Mutex::new(state)) }
    }

    /// Sets what is served after a run.
    pub(super) fn set(&self, page: String, metrics: String) {
        *self.lock() = State { page: page.into(), metrics: metrics.into(), ended: Instant::now() };
    }

    /// Nothing panics while it is locked, so a poisoned state is complete.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn respond(&self, request: &ProxiedRequest) -> (StatusCode, &'static str, Bytes) {
        const TEXT: &str = "text/plain; charset=utf-8";
        let text = |status, text: &str| (status, TEXT, format!("{text}\n").into());
        // A page of another site, whose name leads here, must not read what is served. Browsers always send a Host; health checks
        // that speak HTTP/1.0 need not.
        let here = |host: &str| Url::parse(&format!("http://{host}/")).is_ok_and(|url| is_loopback(&url));
        if request.headers.get(HOST).is_some_and(|host| !host.to_str().is_ok_and(here)) {
            let expected = "expected a Host of the loopback interface, such as 127.0.0.1 or localhost";
            return text(StatusCode::FORBIDDEN, expected);
        }
        if !matches!(request.method, Method::GET | Method::HEAD) {
            return text(StatusCode::METHOD_NOT_ALLOWED, "expected GET or HEAD");
        }
        let state = self.lock();
        match request.path.as_str() {
            "/" => (StatusCode::OK, "text/html; charset=utf-8", state.page.clone()),
            "/metrics" => (StatusCode::OK, "text/plain; version=0.0.4; charset=utf-8", state.metrics.clone()),
            "/healthz" if state.ended.elapsed() <= self.max_gap => text(StatusCode::OK, "ok"),
            "/healthz" => text(
                StatusCode::SERVICE_UNAVAILABLE,
                "unhealthy: no run has ended within two intervals plus the maximum time of a run",
            ),
            _ => text(StatusCode::NOT_FOUND, "unknown page; expected /, /metrics or /healthz"),
        }
    }
}

impl Handler for Pages {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        let (status, kind, body) = self.respond(&request);
        let (headers, framing) = (HeaderMap::new(), Framing::Whole);
        let mut reply = Reply { status, headers, body, framing };
        for (name, value) in [
            ("content-type", kind),
            ("cache-control", "no-store"),
            ("connection", "close"),
            ("x-content-type-options", "nosniff"),
            (
                "content-security-policy",
                "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'",
            ),
        ] {
            reply.set_header(name, value);
        }
        if status == StatusCode::METHOD_NOT_ALLOWED {
            reply.set_header("allow", "GET, HEAD");
        }
        reply
    }
}

#[test]
fn a_watch_whose_runs_do_not_end_is_not_healthy() {
    let request = ProxiedRequest::new(Method::GET, "/healthz");
    let pages = Pages::new(Duration::from_millis(10), Duration::from_millis(10));
    assert_eq!(pages.respond(&request).0, StatusCode::OK);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(pages.respond(&request).0, StatusCode::SERVICE_UNAVAILABLE);
    pages.set("page".to_owned(), "metrics".to_owned());
    assert_eq!(pages.respond(&request).0, StatusCode::OK);
}
