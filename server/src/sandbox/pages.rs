//! The pages on a sandbox's main address: `/docs` and `/sandbox/clock`. Other paths get the same responses as from any
//! server.

use std::sync::Arc;

use dropshot::{
    ApiDescription, ApiEndpoint, ApiEndpointVersions, Body, HttpError, RequestContext, UntypedBody,
};
use http::{HeaderMap, Method, Response, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::{
    ClockError, Control,
    description::{CLOCK, DOCS},
};
use crate::{admin, connections::RequestUnderWay, docs, edge::serve::Context};

/// The API that the pages are added to.
pub(super) type Api = ApiDescription<Context>;

type Page = Result<Response<Body>, HttpError>;

/// Adds the pages.
pub(super) fn register(api: &mut Api, control: &Arc<Control>) -> Result<(), String> {
    // Closures capture the sandbox, because the context of the API is the same for every server.
    let (read, set, reset) = (Arc::clone(control), Arc::clone(control), Arc::clone(control));
    let contract = |rqctx: Request| std::future::ready(contract_page(&rqctx));
    let read = move |rqctx: Request| std::future::ready(read_clock(&rqctx, &read));
    let set = move |rqctx: Request, body: UntypedBody| {
        let control = Arc::clone(&set);
        async move { set_clock(&rqctx, &control, &body).await }
    };
    let reset = move |rqctx: Request| {
        let control = Arc::clone(&reset);
        async move { reset_clock(&rqctx, &control).await }
    };
    let pages = [
        ApiEndpoint::new("contract".to_owned(), contract, Method::GET, JSON, DOCS, ALL),
        ApiEndpoint::new("read clock".to_owned(), read, Method::GET, JSON, CLOCK, ALL),
        ApiEndpoint::new("set clock".to_owned(), set, Method::PUT, JSON, CLOCK, ALL),
        ApiEndpoint::new("reset clock".to_owned(), reset, Method::DELETE, JSON, CLOCK, ALL),
    ];
    let mut pages = pages.into_iter();
    // The OpenAPI document must not show them.
    pages.try_for_each(|page| api.register(page.visible(false)).map_err(|error| error.to_string()))
}

const JSON: &str = "application/json";

const ALL: ApiEndpointVersions = ApiEndpointVersions::All;

type Request = RequestContext<Context>;

/// Counts the request, so that its connection has the same timeouts as those of calls.
fn begin(rqctx: &Request) -> RequestUnderWay {
    rqctx.context().admission.connections.connection(rqctx.request.remote_addr()).begin_request()
}

/// The contract, with examples that call this sandbox.
fn contract_page(rqctx: &Request) -> Page {
    let _request = begin(rqctx);
    let scheme = if rqctx.server.using_tls() { "https" } else { "http" };
    Ok(admin::html(docs::page_at(&format!("{scheme}://{}", rqctx.server.local_addr))))
}

fn read_clock(rqctx: &Request, control: &Control) -> Page {
    let _request = begin(rqctx);
    Ok(clock(control))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Change {
    /// Stop the clock at this time.
    Now(Timestamp),
    /// Move the clock by this many seconds and stop it.
    AdvanceSeconds(i64),
}

async fn set_clock(rqctx: &Request, control: &Control, body: &UntypedBody) -> Page {
    let _request = begin(rqctx);
    if let Some(rejection) = reject_web_page(rqctx.request.headers()) {
        return Ok(rejection);
    }
    let Ok(change) = serde_json::from_slice(body.as_bytes()) else {
        let expected = r#"expected {"now": "2030-01-01T00:00:00Z"} or {"advanceSeconds": 3600}"#;
        return Ok(message(StatusCode::BAD_REQUEST, expected));
    };
    let changed = match change {
        Change::Now(time) => control.set(Some(time)).await,
        Change::AdvanceSeconds(seconds) => {
            control.advance(SignedDuration::from_secs(seconds)).await.map(|_| ())
        }
    };
    Ok(changed_clock(control, changed))
}

async fn reset_clock(rqctx: &Request, control: &Control) -> Page {
    let _request = begin(rqctx);
    Ok(match reject_web_page(rqctx.request.headers()) {
        Some(rejection) => rejection,
        None => changed_clock(control, control.set(None).await),
    })
}

fn changed_clock(control: &Control, changed: Result<(), ClockError>) -> Response<Body> {
    match changed {
        Ok(()) => clock(control),
        Err(error @ ClockError::Range) => message(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(ClockError::Store(error)) => {
            tracing::error!(%error, "cannot delete old request ids");
            message(StatusCode::INTERNAL_SERVER_ERROR, "the storage failed")
        }
    }
}

fn clock(control: &Control) -> Response<Body> {
    let is_set = control.clock.stopped_at().is_some();
    json_page(StatusCode::OK, &json!({"now": control.clock.now(), "isSet": is_set}))
}

/// The rejection of a request of a web page, to which a browser adds `Origin`.
fn reject_web_page(headers: &HeaderMap) -> Option<Response<Body>> {
    let reason = "expected no Origin: web pages may not set the clock";
    headers.contains_key(header::ORIGIN).then(|| message(StatusCode::FORBIDDEN, reason))
}

fn message(status: StatusCode, message: &str) -> Response<Body> {
    json_page(status, &json!({"message": message}))
}

fn json_page(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    admin::page(status, JSON, format!("{value}\n"))
}
