//! The operator's address: health, readiness, metrics and the contract as a page. It is separate from the callers' address and
//! takes no tokens: the network decides who can reach it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dropshot::{ApiDescription, ApiEndpoint, ApiEndpointVersions, Body, HttpError, RequestContext};
use http::{
    HeaderValue, Method, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS},
};

use crate::{
    connections::Connections,
    docs,
    domain::{StaticGroup, ports::Lists, token::TokenDigest},
    metrics::Metrics,
    store::Store,
};

/// A server whose storage takes longer than this to respond is not ready.
const STORAGE_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) struct Admin {
    pub(crate) metrics: Arc<Metrics>,
    /// The store itself: the metrics must not count the queries of these pages.
    pub(crate) store: Arc<Store>,
    /// Counts the requests for these pages, so that their connections have the same timeouts.
    pub(crate) connections: Arc<Connections>,
    pub(crate) draining: Arc<AtomicBool>,
}

/// The API of the operator's pages.
pub(crate) fn api() -> Result<ApiDescription<Admin>, String> {
    let mut api = ApiDescription::new();
    for path in ["/healthz", "/readyz", "/metrics", "/docs"] {
        let page = move |rqctx: RequestContext<Admin>| async move { respond(&rqctx, path).await };
        let (name, all) = (path.to_owned(), ApiEndpointVersions::All);
        let page = ApiEndpoint::new(name, page, Method::GET, "application/json", path, all);
        api.register(page.visible(false)).map_err(|error| error.to_string())?;
    }
    Ok(api)
}

async fn respond(rqctx: &RequestContext<Admin>, path: &str) -> Result<Response<Body>, HttpError> {
    let admin = rqctx.context();
    let _request = admin.connections.connection(rqctx.request.remote_addr()).begin_request();
    Ok(match path {
        // Responds while the process works; a supervisor restarts it otherwise.
        "/healthz" => text(StatusCode::OK, "ok\n".to_owned()),
        // Says whether load balancers should send callers here.
        "/readyz" => match unready(admin).await {
            None => text(StatusCode::OK, "ready\n".to_owned()),
            Some(why) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")),
        },
        // What Prometheus scrapes.
        "/metrics" => {
            let metrics = admin.metrics.render(admin.store.as_ref());
            let metrics = metrics.map_err(|error| HttpError::for_internal_error(error.to_string()))?;
            page(StatusCode::OK, "application/openmetrics-text; version=1.0.0; charset=utf-8", metrics)
        }
        // The contract as a page for integrators, with the error codes of this server.
        _ => html(docs::page().to_owned()),
    })
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

async fn unready(admin: &Admin) -> Option<&'static str> {
    if admin.draining.load(Ordering::Relaxed) {
        return Some("draining");
    }
    // The same query as for callers, for a token that nobody has: no token is known whose digest is zero.
    let query = Lists::<StaticGroup>::items(&*admin.store, TokenDigest([0; 32]), Vec::new());
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
