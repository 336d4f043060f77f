use std::convert::Infallible;
use std::sync::Arc;

use futures::future::BoxFuture;
use hyper::HeaderMap;
use hyper::header::{CONNECTION, HOST, HeaderName, HeaderValue};
use sallyport_conformance_base::wire::{
    ReceivedResponse, Redactor, WireError, WireFailure, WireOptions, debug_as, failure, receive,
};
use serde_json::json;
use url::Url;

use super::exchange::{Framing, ProxiedRequest, Reply};

/// Maximum length of a response body of an upstream, in bytes (16 MiB).
const MAX_BODY: usize = 16 << 20;

/// Responds to requests: a service, or a layer in front of one.
pub trait Handler: Send + Sync + 'static {
    /// The response to a request.
    fn handle(&self, request: ProxiedRequest) -> impl Future<Output = Reply> + Send;
}

/// What responds to the requests that a layer passes on: a service over HTTP, or the next layer.
#[derive(Clone)]
pub struct Upstream(Arc<dyn Fn(ProxiedRequest) -> BoxFuture<'static, Reply> + Send + Sync>);

debug_as!(Upstream, |_| "Upstream");

impl Upstream {
    /// A service by its base URL, with its time limit, authorities, proxy and headers. Redirects are not followed.
    /// Fails where an authority, a header or the proxy cannot be used, or a secret is too short to be kept out of messages.
    pub fn http(base: &Url, options: &WireOptions) -> Result<Self, WireError> {
        let headers = options.headers.iter().map(|header| {
            let value = HeaderValue::from_str(header.value.expose()).ok()?;
            Some((HeaderName::from_bytes(header.name.as_bytes()).ok()?, value))
        });
        let headers: Option<Vec<_>> = headers.collect();
        let invalid = || WireError::Setup("a header has an invalid name or value".to_owned());
        Ok(Self::new(Service {
            base: base.as_str().trim_end_matches('/').to_owned(),
            headers: headers.ok_or_else(invalid)?,
            http: options.client(base, usize::MAX)?,
            redactor: Redactor::new(options.secrets())
                .map_err(|short| WireError::Setup(short.to_string()))?,
        }))
    }

    /// What responds by `handler`.
    pub fn new(handler: impl Handler) -> Self {
        let handler = Arc::new(handler);
        Self(Arc::new(move |request| {
            let handler = Arc::clone(&handler);
            Box::pin(async move { handler.handle(request).await })
        }))
    }

    /// Sends a request and returns the whole response. An upstream that cannot be reached is a response with status 502.
    pub async fn call(&self, request: &ProxiedRequest) -> Reply {
        (self.0)(request.clone()).await
    }
}

impl<H: Handler> Handler for Arc<H> {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        H::handle(self, request).await
    }
}

impl Handler for Upstream {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        (self.0)(request).await
    }
}

struct Service {
    base: String,
    http: reqwest::Client,
    headers: Vec<(HeaderName, HeaderValue)>,
    redactor: Redactor,
}

impl Handler for Service {
    async fn handle(&self, request: ProxiedRequest) -> Reply {
        self.send(request).await.unwrap_or_else(|reason| {
            let message = format!("the upstream did not respond: {}", self.redactor.redact(&reason));
            Reply::json_with(502, &json!({"code": 50200, "message": message}))
        })
    }
}

/// Headers of one connection, which a proxy does not pass on (RFC 9110, section 7.6.1), and the length, which follows from the body.
const HOP_BY_HOP: &str = "connection content-length proxy-authenticate proxy-authorization te trailer \
    transfer-encoding upgrade keep-alive proxy-connection";

/// Removes the headers of a connection: those of the list, and those that `Connection` names.
fn remove_hop_by_hop(headers: &mut HeaderMap) {
    let connection: Vec<HeaderValue> = headers.get_all(CONNECTION).iter().cloned().collect();
    let named = connection.iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    for name in named.map(str::trim).chain(HOP_BY_HOP.split(' ')) {
        headers.remove(name);
    }
}

impl Service {
    async fn send(&self, request: ProxiedRequest) -> Result<Reply, String> {
        let query = request.query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
        let mut headers = request.headers;
        headers.remove(HOST);
        remove_hop_by_hop(&mut headers);
        for (name, value) in &self.headers {
            headers.insert(name, value.clone());
        }
        let url = format!("{}{}{query}", self.base, request.path);
        let request = self.http.request(request.method, url).headers(headers).body(request.body);
        let response = request.send().await.map_err(|error| failure(error).detail)?;
        let received = receive(response, MAX_BODY, |_| Ok::<_, Infallible>(())).await;
        let ReceivedResponse { status, mut headers, body } =
            received.unwrap_or_else(|never| match never {}).map_err(|WireFailure { detail, .. }| detail)?;
        remove_hop_by_hop(&mut headers);
        Ok(Reply { status, headers, body, framing: Framing::Whole })
    }
}
