//! Stands in for the service in the tests of your program: no server, no socket, no waiting for a network.
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

use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderValue, header::RETRY_AFTER};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use crate::{
    Capabilities, Client, ClientBuilder, Endpoint, Error, Group, Instance, InstanceStatus, Middleware,
    MiddlewareFuture, Next, RetryPolicy, TransportError, contract, generated::types, operation::Operation,
};

/// 2026-01-31T08:00:00Z.
const TIME: Timestamp = Timestamp::constant(1_769_846_400, 0);

/// The service's id of each response here.
const TRACE_ID: &str = "trace-of-a-test";

/// Responses in the order in which they are given, and the requests that got them. Clones share both.
#[derive(Clone, Default)]
#[must_use = "replies are given by the client of builder()"]
pub struct Replies(Arc<Mutex<Script>>);

#[derive(Default)]
struct Script {
    replies: VecDeque<Result<http::Response<Bytes>, Error>>,
    requests: Vec<http::Request<Bytes>>,
}

impl Replies {
    /// No responses yet. A request without a response left is an [`Error::Configuration`].
    pub fn new() -> Self {
        Self::default()
    }

    /// A client builder with these replies in place of the service, a token, and waits of a millisecond before retries.
    pub fn builder(&self) -> ClientBuilder {
        Client::builder()
            .base_url("https://testing.invalid")
            .token("token-of-a-test")
            .retry(RetryPolicy { initial_backoff: Duration::from_millis(1), ..RetryPolicy::default() })
            .middleware(self.clone())
    }

    /// A successful extraction of these gateways, each as `host:port`, with the caller's address 127.0.0.1.
    pub fn gateways<I: IntoIterator<Item: AsRef<str>>>(self, gateways: I) -> Self {
        let endpoint = |gateway: I::Item| {
            let gateway = gateway.as_ref();
            let (host, port) = gateway.rsplit_once(':').unwrap_or((gateway, "0"));
            let ip = host.trim_matches(['[', ']']).to_owned();
            Endpoint { ip, port: port.parse().unwrap_or(0) }
        };
        self.serialized(&types::ExtractSuccess {
            code: success_code("extract_proxies"),
            data: gateways.into_iter().map(endpoint).collect(),
            msg: Some("ok".to_owned()),
            request_ip: Some("127.0.0.1".to_owned()),
            success: Some(true),
        })
    }

    /// An extraction that is rejected because there are too few gateways, with this `Retry-After` in whole seconds.
    pub fn shortage(self, retry_after: Duration) -> Self {
        self.rejection(503, Some(retry_after))
    }

    /// HTTP 429 with this `Retry-After` in whole seconds.
    pub fn throttled(self, retry_after: Duration) -> Self {
        self.rejection(429, Some(retry_after))
    }

    /// A rejection with this status and a business code.
    pub fn status(self, status: u16) -> Self {
        self.rejection(status, None)
    }

    /// A successful listing of these groups.
    ///
    /// ```
    /// use sallyport_client::testing::{Replies, group};
    ///
    /// let replies = Replies::new().groups([group(7, "crawlers"), group(9, "shops")]);
    /// ```
    pub fn groups<I: IntoIterator<Item = Group>>(self, groups: I) -> Self {
        self.serialized(&types::GroupsSuccess {
            code: success_code("list_static_groups"),
            data: types::GroupsData { items: groups.into_iter().collect() },
            message: Some("ok".to_owned()),
            request_id: Some(TRACE_ID.to_owned()),
        })
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
    pub fn page<I: IntoIterator<Item = Instance>>(self, page: u32, instances: I, total: u32) -> Self {
        let items: Vec<Instance> = instances.into_iter().collect();
        let page_size = i64::try_from(items.len()).unwrap_or(i64::MAX).max(1);
        self.serialized(&types::SearchSuccess {
            code: success_code("search_static_instances"),
            data: types::SearchData { items, page: page.into(), page_size, total: total.into() },
            message: Some("ok".to_owned()),
            request_id: Some(TRACE_ID.to_owned()),
        })
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
        self.push(Err(Error::Transport(Box::new(TransportError::new("interrupted by the test")))))
    }

    /// The requests so far, in order. None holds a token: they are kept before the client adds it.
    pub fn requests(&self) -> Vec<http::Request<Bytes>> {
        self.script().requests.clone()
    }

    /// Number of responses that were not given yet.
    pub fn remaining(&self) -> usize {
        self.script().replies.len()
    }

    fn rejection(self, status: u16, retry_after: Option<Duration>) -> Self {
        let rejection = types::Rejection {
            code: Some((i64::from(status) * 100 + 1).into()),
            message: Some("rejected by the test".into()),
            request_id: Some(TRACE_ID.into()),
        };
        let mut response = response(status, serialize(&rejection));
        if let Some(wait) = retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(wait.as_secs()));
        }
        self.response(response)
    }

    fn serialized(self, success: &impl Serialize) -> Self {
        self.response(response(200, serialize(success)))
    }

    fn push(self, reply: Result<http::Response<Bytes>, Error>) -> Self {
        self.script().replies.push_back(reply);
        self
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A group with this id and name, created and updated in 2026. Change its fields for other ones.
pub fn group(id: i64, name: impl Into<String>) -> Group {
    Group { group_id: id, name: name.into(), created_at: TIME, updated_at: TIME }
}

/// An active instance with this id, IP address and port: in New York, without a group, without an expiry, activated in 2026.
/// Change its fields for other ones.
pub fn instance(id: i64, ip: impl Into<String>, port: u16) -> Instance {
    Instance {
        instance_id: id,
        offer_id: 1,
        status: InstanceStatus::Active,
        ip: ip.into(),
        port: port.into(),
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
            Err(Error::Configuration(format!("the test has no reply for request {number}")))
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

/// Types of the document have text keys only, so this does not fail; an empty body would fail the test that it is for.
fn serialize(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).unwrap_or_default().into()
}

fn success_code(operation: &str) -> i64 {
    contract::operation(operation).map_or(0, |Operation { code, .. }| *code)
}

/// A status that HTTP does not have becomes 500.
fn response(status: u16, body: Bytes) -> http::Response<Bytes> {
    let mut response = http::Response::new(body);
    *response.status_mut() =
        http::StatusCode::from_u16(status).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
