//! The operator's address: health, readiness, metrics and the contract as a page. It is apart from the callers' address, and has no tokens:
//! who may reach it is decided by the network.

pub(crate) mod docs;

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
    domain::token::TokenDigest,
    metrics::Metrics,
    store::Store,
};

/// A store that takes longer than this is no storage to send callers to.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the operator's pages know.
#[derive(Debug)]
pub(crate) struct Admin {
    pub(crate) metrics: Arc<Metrics>,
    /// The store itself: what is asked here is no caller's question and is not measured.
    pub(crate) store: Arc<dyn Store>,
    /// Requests count here too, so that the connections of who reads these pages have the same deadlines.
    pub(crate) connections: Arc<Connections>,
    pub(crate) draining: Arc<AtomicBool>,
}

/// The operator's pages.
///
/// # Errors
/// Says which pages Dropshot rejects.
pub(crate) fn api() -> Result<ApiDescription<Admin>, String> {
    let mut api = ApiDescription::new();
    api.register(healthz).map_err(|error| error.to_string())?;
    api.register(readyz).map_err(|error| error.to_string())?;
    api.register(metrics).map_err(|error| error.to_string())?;
    api.register(contract).map_err(|error| error.to_string())?;
    Ok(api)
}

type Page = Result<Response<Body>, HttpError>;

/// Whether the process responds at all; a supervisor restarts it when it does not.
#[endpoint { method = GET, path = "/healthz" }]
async fn healthz(rqctx: RequestContext<Admin>) -> Page {
    let _request = begin(&rqctx);
    Ok(text(StatusCode::OK, "ok\n".to_owned()))
}

/// Whether callers should be sent here.
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
    let text = metrics.render(store.as_ref()).await;
    let text = text.map_err(|error| HttpError::for_internal_error(error.to_string()))?;
    Ok(page(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", text))
}

/// The contract as a page for integrators, with the error codes of this server.
#[endpoint { method = GET, path = "/docs" }]
async fn contract(rqctx: RequestContext<Admin>) -> Page {
    let _request = begin(&rqctx);
    Ok(html(docs::page()))
}

/// A page for browsers that loads nothing and is in no frame.
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
    // A query that calls make, for a token that nobody has: no token's digest is known to be zero.
    let query = admin.store.groups(TokenDigest::from_bytes([0; 32]));
    match tokio::time::timeout(PATIENCE, query).await {
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
