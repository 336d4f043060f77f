//! Replaces the service in the tests of your program, without a server or a network.
//!
//! [`Replies`] is a [`Middleware`] that serves each request with the next of the responses that a test wrote down, and keeps the
//! requests. Everything else is the client as it runs in production: limits, retries, request ids, classification of errors.
//!
//! ```
//! use std::time::Duration;
//! use sallyport_client::{Client, Error, RetryPolicy, testing::Replies};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let replies = Replies::new().status(503).gateways(["gw.invalid:8080"]).shortage(Duration::from_secs(600));
//! let client = replies.builder().build()?;
//!
//! let extraction = client.extract(1).await?;
//! assert_eq!(extraction.endpoints[0].to_string(), "gw.invalid:8080");
//! assert_eq!(replies.requests().len(), 2, "the client retried the 503");
//!
//! let error = client.extract(1).await.unwrap_err();
//! assert!(matches!(error, Error::Shortage(_)));
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! Waits are real: a `Retry-After` of [`Replies::throttled`] is waited for, and so is the backoff of a
//! [`RetryPolicy`] that your code sets for one call. `#[tokio::test(start_paused = true)]` skips all of them; it needs tokio's
//! feature `test-util` in your dev-dependencies.
//!
//! [`endpoint`], [`group`], [`instance`], [`rejection`] and [`timeout`] make results and errors for mocks of your
//! own: their types are `non_exhaustive`, so that no struct expression makes them elsewhere.

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;
use sallyport_contract::check::quoted;
use serde::Serialize;
use serde_json::Value;

use crate::{
    Capabilities, Client, ClientBuilder, Endpoint, Error, ExtractProxiesHeaders, Group, Instance,
    InstanceStatus, Middleware, MiddlewareFuture, Next, Rejection, RetryPolicy, TimeoutError, TransportError,
    contract, generated::types, integer::to_i64,
};

/// 2026-01-31T08:00:00Z.
const TIME: Timestamp = Timestamp::constant(1_769_846_400, 0);

/// The service's id of each response here.
const TRACE_ID: &str = "trace-of-a-test";

/// Scripted responses in order, and the requests that received them. Clones share both.
#[derive(Clone, Default)]
#[must_use = "replies are given by the client of builder()"]
pub struct Replies(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    replies: VecDeque<Result<http::Response<Bytes>, Error>>,
    requests: Vec<http::Request<Bytes>>,
}

impl Replies {
    /// No responses yet.
    ///
    /// A mistake in the test is an [`Error::Configuration`]: a request without a response left, and a response that cannot be made
    /// from what it was given.
    pub fn new() -> Self {
        Self::default()
    }

    /// A client builder with these replies in place of the service, a token, and waits of a millisecond before retries without
    /// `Retry-After`.
    pub fn builder(&self) -> ClientBuilder {
        Client::builder()
            // https would need a build with TLS, although nothing is sent.
            .base_url("http://testing.invalid")
            .allow_http(true)
            .token("token-of-a-test")
            .retry(RetryPolicy { initial_backoff: Duration::from_millis(1), ..RetryPolicy::default() })
            .middleware(self.clone())
    }

    /// A successful extraction of these gateways, each as `host:port`, with the caller's address 127.0.0.1.
    ///
    /// A text of another form, or a port outside 1 to 65535, makes the response an [`Error::Configuration`].
    pub fn gateways<I: IntoIterator<Item: AsRef<str>>>(self, gateways: I) -> Self {
        let reply = gateways_response(gateways);
        self.push(reply)
    }

    /// A partial extraction: these gateways of `requested`, with their counts and `Retry-After`, in whole seconds, in the headers.
    pub fn partial<I: IntoIterator<Item: AsRef<str>>>(
        self,
        gateways: I,
        requested: impl TryInto<i64>,
        retry_after: Option<Duration>,
    ) -> Self {
        let gateways: Vec<I::Item> = gateways.into_iter().collect();
        let returned = gateways.len();
        let reply = gateways_response(gateways).map(|mut response| {
            let headers = response.headers_mut();
            headers.insert(ExtractProxiesHeaders::X_PROXY_REQUESTED_COUNT, to_i64(requested).into());
            headers.insert(ExtractProxiesHeaders::X_PROXY_RETURNED_COUNT, returned.into());
            headers.insert(ExtractProxiesHeaders::X_PROXY_PARTIAL, HeaderValue::from_static("true"));
            if let Some(wait) = retry_after {
                headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs()));
            }
            response
        });
        self.push(reply)
    }

    /// An extraction that is rejected because there are too few gateways, with this `Retry-After` in whole seconds.
    pub fn shortage(self, retry_after: Duration) -> Self {
        self.push(Ok(rejection_response(503, Some(retry_after))))
    }

    /// HTTP 429 with this `Retry-After` in whole seconds.
    pub fn throttled(self, retry_after: Duration) -> Self {
        self.response(rejection_response(429, Some(retry_after)))
    }

    /// A rejection with this status and a business code.
    pub fn status(self, status: u16) -> Self {
        self.response(rejection_response(status, None))
    }

    /// A successful listing of these groups.
    pub fn groups<I: IntoIterator<Item = Group>>(self, groups: I) -> Self {
        let success = types::GroupsSuccess {
            code: contract::LIST_STATIC_GROUPS.code,
            data: types::GroupsData { items: groups.into_iter().collect() },
            message: Some("ok".to_owned()),
            request_id: Some(TRACE_ID.to_owned()),
        };
        self.push(Ok(response(200, serialize(&success))))
    }

    /// Page `page` of a search, with these instances of `total` in all.
    ///
    /// ```
    /// use sallyport_client::{InstanceStatus, testing::{Replies, instance}};
    ///
    /// let mut expired = instance(9002, "203.0.113.8", 20001);
    /// expired.status = InstanceStatus::Expired;
    /// let replies = Replies::new().page(1, [instance(9001, "203.0.113.7", 20001)], 2).page(2, [expired], 2);
    /// ```
    pub fn page<I: IntoIterator<Item = Instance>>(
        self,
        page: impl TryInto<i64>,
        instances: I,
        total: impl TryInto<i64>,
    ) -> Self {
        let items: Vec<Instance> = instances.into_iter().collect();
        let page_size = to_i64(items.len()).max(1);
        let success = types::SearchSuccess {
            code: contract::SEARCH_STATIC_INSTANCES.code,
            data: types::SearchData { items, page: to_i64(page), page_size, total: to_i64(total) },
            message: Some("ok".to_owned()),
            request_id: Some(TRACE_ID.to_owned()),
        };
        self.push(Ok(response(200, serialize(&success))))
    }

    /// Any JSON with any status.
    pub fn json(self, status: u16, body: &Value) -> Self {
        self.response(response(status, body.to_string().into()))
    }

    /// Any response.
    pub fn response(self, response: http::Response<Bytes>) -> Self {
        self.push(Ok(response))
    }

    /// A connection that breaks before the response is complete.
    pub fn interruption(self) -> Self {
        self.error(Error::Transport(Box::new(TransportError::new("interrupted by the test"))))
    }

    /// A request that times out after this time, which is not waited for.
    pub fn timeout(self, limit: Duration) -> Self {
        self.error(Error::Timeout(Box::new(timeout(limit))))
    }

    /// Any error in place of a response.
    pub fn error(self, error: Error) -> Self {
        self.push(Err(error))
    }

    /// The requests so far, in order. None holds a token: they are kept before the client adds it.
    pub fn requests(&self) -> Vec<http::Request<Bytes>> {
        self.script().requests.clone()
    }

    /// Number of responses that are left.
    pub fn remaining(&self) -> usize {
        self.script().replies.len()
    }

    fn push(self, outcome: Result<http::Response<Bytes>, Error>) -> Self {
        self.script().replies.push_back(outcome);
        self
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gateways_response<I: IntoIterator<Item: AsRef<str>>>(gateways: I) -> Result<http::Response<Bytes>, Error> {
    let gateways = gateways.into_iter().map(|gateway| {
        let gateway = gateway.as_ref();
        let parsed = gateway.rsplit_once(':').and_then(|(host, port)| {
            let port = port.parse::<u16>().ok().filter(|port| *port > 0)?;
            let host = host.trim_matches(['[', ']']);
            (!host.is_empty()).then(|| endpoint(host, port))
        });
        parsed.ok_or_else(|| {
            Error::configuration(format!(
                "invalid gateway {} in a reply of the test: expected `host:port` with a port from 1 to 65535",
                quoted(gateway)
            ))
        })
    });
    let success = types::ExtractSuccess {
        code: contract::EXTRACT_PROXIES.code,
        data: gateways.collect::<Result<_, _>>()?,
        msg: Some("ok".to_owned()),
        request_ip: Some("127.0.0.1".to_owned()),
        success: Some(true),
    };
    Ok(response(200, serialize(&success)))
}

fn rejection_response(status: u16, retry_after: Option<Duration>) -> http::Response<Bytes> {
    let rejection = types::Rejection {
        code: Some((i64::from(status) * 100 + 1).into()),
        message: Some("rejected by the test".into()),
        request_id: Some(TRACE_ID.into()),
    };
    let mut response = response(status, serialize(&rejection));
    if let Some(wait) = retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs()));
    }
    response
}

/// A gateway.
pub fn endpoint(host: impl Into<String>, port: impl TryInto<i64>) -> Endpoint {
    Endpoint { ip: host.into(), port: to_i64(port) }
}

/// A rejection with this status and message, without a business code, ids or `Retry-After`: for [`Error::Rejected`],
/// [`Error::Throttled`] and [`Error::Shortage`]. Change its fields for other ones.
///
/// ```
/// use std::time::Duration;
/// use sallyport_client::{Error, http::StatusCode, testing};
///
/// let mut rejection = testing::rejection(StatusCode::TOO_MANY_REQUESTS, "slow down");
/// rejection.retry_after = Some(Duration::from_secs(7));
/// assert!(Error::Throttled(Box::new(rejection)).is_retryable());
/// ```
pub fn rejection(status: http::StatusCode, message: impl Into<String>) -> Rejection {
    Rejection {
        status,
        code: None,
        message: message.into(),
        request_id: None,
        trace_id: None,
        retry_after: None,
    }
}

/// A timeout of one request after this time, without a request id. Change its fields for other ones.
pub fn timeout(limit: Duration) -> TimeoutError {
    TimeoutError { is_total: false, limit: Some(limit), request_id: None }
}

/// A group with this id and name, created and updated in 2026. Change its fields for other ones.
pub fn group(id: i64, name: impl Into<String>) -> Group {
    Group { group_id: id, name: name.into(), created_at: TIME, updated_at: TIME }
}

/// An active instance with this id, IP address and port: in New York, without a group, without an expiry, activated in 2026.
/// Change its fields for other ones.
pub fn instance(id: i64, ip: impl Into<String>, port: impl TryInto<i64>) -> Instance {
    Instance {
        instance_id: id,
        offer_id: 1,
        status: InstanceStatus::Active,
        ip: ip.into(),
        port: to_i64(port),
        protocols: vec!["http".to_owned(), "socks5".to_owned()],
        country_code: "USA".to_owned(),
        city_code: "NYC".to_owned(),
        isp_type: 1,
        expires_at: None,
        activated_at: Some(TIME),
        capabilities: Capabilities::default(),
        group_id: None,
    }
}

impl Middleware for Replies {
    fn handle<'a>(&'a self, request: http::Request<Bytes>, _: Next<'a>) -> MiddlewareFuture<'a> {
        let mut script = self.script();
        script.requests.push(request);
        let number = script.requests.len();
        let reply = script.replies.pop_front().unwrap_or_else(|| {
            Err(Error::configuration(format!("the test has no reply for request {number}")))
        });
        Box::pin(std::future::ready(reply))
    }
}

impl fmt::Debug for Replies {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let script = self.script();
        write!(out, "Replies({} left after {} requests)", script.replies.len(), script.requests.len())
    }
}

/// Types of the document have text keys only, so this does not fail.
fn serialize(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// A status that HTTP does not have becomes 500.
fn response(status: u16, body: Bytes) -> http::Response<Bytes> {
    let mut response = http::Response::new(body);
    *response.status_mut() =
        http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
