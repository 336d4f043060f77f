//! The operator's address: health, readiness, metrics and the contract as a page. It is separate from the callers' address and
//! takes no tokens: the network decides who can reach it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dropshot::{ApiDescription, Body, HttpError, RequestContext, endpoint};
use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
};

use crate::{
    connections::{Connections, RequestUnderWay},
    docs,
    domain::{StaticGroup, ports::Lists, token::TokenDigest},
    metrics::Metrics,
    store::Store,
};

/// A server whose storage takes longer than this to respond is not ready.
const STORAGE_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) metrics: Arc<Metrics>,
    /// The store itself: the metrics must not count the queries of these pages.
    pub(crate) store: Arc<dyn Store>,
    /// Counts the requests for these pages, so that their connections have the same timeouts.
    pub(crate) connections: Arc<Connections>,
    pub(crate) draining: Arc<AtomicBool>,
}

/// The API of the operator's pages.
pub(crate) fn api() -> Result<ApiDescription<Admin>, String> {
    let mut api = ApiDescription::new();
    api.register(healthz).map_err(|error| error.to_string())?;
    api.register(readyz).map_err(|error| error.to_string())?;
    api.register(metrics).map_err(|error| error.to_string())?;
    api.register(contract).map_err(|error| error.to_string())?;
    Ok(api)
}

type Page = Result<Response<Body>, HttpError>;

/// Responds while the process works; a supervisor restarts it otherwise.
#[endpoint { method = GET, path = "/healthz" }]
async fn healthz(rqctx: RequestContext<Admin>) -> Page {
    let _request = begin(&rqctx);
    Ok(text(StatusCode::OK, "ok\n".to_owned()))
}

/// Says whether load balancers should send callers here.
#[endpoint { method = GET, path = "/readyz" }]
async fn readyz(rqctx: RequestContext<Admin>) -> Page {
    let _request = begin(&rqctx);
    let (status, line) = match unready(rqctx.context()).await {
        None => (StatusCode::OK, "ready"),
        Some(why) => (StatusCode::SERVICE_UNAVAILABLE, why),
    };
    Ok(text(status, format!("{line}\n")))
}

/// What Prometheus scrapes.
#[endpoint { method = GET, path = "/metrics" }]
async fn metrics(rqctx: RequestContext<Admin>) -> Page {
    let _request = begin(&rqctx);
    let Admin { metrics, store, connections: _, draining: _ } = rqctx.context();
    let text = metrics.render(store.as_ref());
    let text = text.map_err(|error| HttpError::for_internal_error(error.to_string()))?;
    Ok(page(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", text))
}

/// The contract as a page for integrators, with the error codes of this server.
#[endpoint { method = GET, path = "/docs" }]
async fn contract(rqctx: RequestContext<Admin>) -> Page {
    let _request = begin(&rqctx);
    Ok(html(docs::page().to_owned()))
}

/// An HTML page that loads nothing and cannot be framed.
pub(crate) fn html(text: String) -> Response<Body> {
    let mut response = page(StatusCode::OK, "text/html; charset=utf-8", text);
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(docs::POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

fn begin(rqctx: &RequestContext<Admin>) -> RequestUnderWay {
    rqctx.context().connections.connection(rqctx.request.remote_addr()).begin_request()
}

async fn unready(admin: &Admin) -> Option<&'static str> {
    if admin.draining.load(Ordering::Relaxed) {
        return Some("draining");
    }
    // The same query as for callers, for a token that nobody has: no token is known whose digest is zero.
    let query = Lists::<StaticGroup>::items(&*admin.store, TokenDigest::from_bytes([0; 32]), Vec::new());
    match tokio::time::timeout(STORAGE_TIMEOUT, query).await {
        Ok(Ok(_)) => None,
        Ok(Err(error)) => {
            tracing::warn!(%error, "not ready: the storage failed");
            Some("the storage does not respond")
        }
        Err(_) => Some("the storage does not respond in time"),
    }
}

fn text(status: StatusCode, text: String) -> Response<Body> {
    page(status, "text/plain; charset=utf-8", text)
}

pub(crate) fn page(status: StatusCode, content_type: &'static str, text: String) -> Response<Body> {
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
