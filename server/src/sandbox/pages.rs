//! The pages on a sandbox's main address: `/`, `/docs` and `/sandbox/clock`. Other paths get the same responses as from any
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
    control::{ClockError, Control},
    description::{CLOCK, DOCS, commands},
};
use crate::{
    admin,
    connections::RequestUnderWay,
    data::seed::Sample,
    docs::{self, escaped},
    edge::serve::Context,
};

/// The API that the pages are added to.
pub(super) type Api = ApiDescription<Context>;

type Page = Result<Response<Body>, HttpError>;

#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) scheme: &'static str,
    pub(super) sample: Arc<Sample>,
}

impl Site {
    /// The base URL from the caller's `Host` header, if that is safe in a page and in a shell, or else from the address.
    fn base_url(&self, rqctx: &Request) -> String {
        let host = rqctx.request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
        let is_plain = |host: &&str| {
            let is_known = |byte: u8| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte);
            !host.is_empty() && host.len() <= 255 && host.bytes().all(is_known)
        };
        match host.filter(is_plain) {
            Some(host) => format!("{}://{host}", self.scheme),
            None => format!("{}://{}", self.scheme, rqctx.server.local_addr),
        }
    }
}

/// Adds the pages.
///
/// # Errors
/// Says which page Dropshot rejects.
pub(super) fn register(api: &mut Api, site: Site, control: &Arc<Control>) -> Result<(), String> {
    // Closures capture the sandbox, because the context of the API is the same for every server.
    let (start, contract) = (site.clone(), site);
    let (read, set, reset) = (Arc::clone(control), Arc::clone(control), Arc::clone(control));
    let start = move |rqctx: Request| std::future::ready(start_page(&rqctx, &start));
    let contract = move |rqctx: Request| std::future::ready(contract_page(&rqctx, &contract));
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
        ApiEndpoint::new("start page".to_owned(), start, Method::GET, JSON, "/", ALL),
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

fn start_page(rqctx: &Request, site: &Site) -> Page {
    let _request = begin(rqctx);
    let base_url = site.base_url(rqctx);
    let commands = commands(&site.sample, &base_url, "$SALLYPORT_API_KEY");
    let shown = commands
        .map(|(what, command)| format!("<h3>{}</h3>\n<pre>{}</pre>\n", escaped(what), escaped(&command)));
    let page =
        include_str!("start.html").replace("{base-url}", &base_url).replace("{commands}", &shown.concat());
    Ok(admin::html(page))
}

fn contract_page(rqctx: &Request, site: &Site) -> Page {
    let _request = begin(rqctx);
    Ok(admin::html(docs::page_at(&site.base_url(rqctx))))
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
    let is_set = control.handle.time().is_some();
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
