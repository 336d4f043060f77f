//! The pages on a sandbox's main address: `/docs` and `/sandbox/clock`. Other paths get the same responses as from any
//! server.

use std::sync::Arc;

use dropshot::{
    ApiDescription, ApiEndpoint, ApiEndpointVersions, Body, HttpError, RequestContext, UntypedBody,
};
use http::{Method, Response, StatusCode, header};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::json;

use super::{
    ClockError, Control,
    description::{CLOCK, DOCS},
};
use crate::{admin, docs, edge::serve::Context};

/// The API that the pages are added to.
pub(super) type Api = ApiDescription<Context>;

pub(super) fn register(api: &mut Api, control: &Arc<Control>) -> Result<(), String> {
    for (method, path) in
        [(Method::GET, DOCS), (Method::GET, CLOCK), (Method::PUT, CLOCK), (Method::DELETE, CLOCK)]
    {
        // The closure captures the sandbox, because the context of the API is the same for every server.
        let control = Arc::clone(control);
        let page = move |rqctx: Request, body: UntypedBody| {
            let control = Arc::clone(&control);
            async move { Ok::<_, HttpError>(respond(&rqctx, &control, path, &body).await) }
        };
        let name = format!("{method} {path}");
        let page = ApiEndpoint::new(name, page, method, JSON, path, ApiEndpointVersions::All);
        // The OpenAPI document must not show it.
        api.register(page.visible(false)).map_err(|error| error.to_string())?;
    }
    Ok(())
}

const JSON: &str = "application/json";

type Request = RequestContext<Context>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Change {
    /// Stop the clock at this time.
    Now(Timestamp),
    /// Move the clock by this many seconds and stop it.
    AdvanceSeconds(i64),
}

async fn respond(rqctx: &Request, control: &Control, path: &str, body: &UntypedBody) -> Response<Body> {
    // Counts the request, so that its connection has the same timeouts as those of calls: once its body has been received, which
    // Dropshot does before, for each method.
    let connections = &rqctx.context().admission.connections;
    let _request = connections.connection(rqctx.request.remote_addr()).begin_request();
    let method = rqctx.request.method();
    if path == DOCS {
        // With examples that call this sandbox.
        let scheme = if rqctx.server.using_tls() { "https" } else { "http" };
        return admin::html(docs::page_at(&format!("{scheme}://{}", rqctx.server.local_addr)));
    }
    // A browser adds it to a request of a web page.
    if method != Method::GET && rqctx.request.headers().contains_key(header::ORIGIN) {
        return message(StatusCode::FORBIDDEN, "expected no Origin: web pages may not set the clock");
    }
    let changed = match (method, serde_json::from_slice(body.as_bytes())) {
        (&Method::GET, _) => Ok(()),
        (&Method::DELETE, _) => control.set(None).await,
        (_, Ok(Change::Now(time))) => control.set(Some(time)).await,
        (_, Ok(Change::AdvanceSeconds(seconds))) => {
            control.advance(SignedDuration::from_secs(seconds)).await.map(drop)
        }
        (_, Err(_)) => {
            let expected = r#"expected {"now": "2030-01-01T00:00:00Z"} or {"advanceSeconds": 3600}"#;
            return message(StatusCode::BAD_REQUEST, expected);
        }
    };
    match changed {
        Ok(()) => {
            let is_set = control.clock.stopped_at().is_some();
            json_page(StatusCode::OK, &json!({"now": control.clock.now(), "isSet": is_set}))
        }
        Err(error @ ClockError::Range) => message(StatusCode::BAD_REQUEST, &error.to_string()),
        Err(ClockError::Store(error)) => {
            tracing::error!(%error, "cannot delete old request ids");
            message(StatusCode::INTERNAL_SERVER_ERROR, "the storage failed")
        }
    }
}

fn message(status: StatusCode, message: &str) -> Response<Body> {
    json_page(status, &json!({"message": message}))
}

fn json_page(status: StatusCode, value: &serde_json::Value) -> Response<Body> {
    admin::page(status, JSON, format!("{value}\n"))
}
