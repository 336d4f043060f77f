use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use hyper::header::{CONNECTION, CONTENT_LENGTH, HOST, TRANSFER_ENCODING};
use serde_json::json;

use super::exchange::{Framing, ProxiedRequest, Reply};
use crate::wire::with_causes;

/// Maximum length of a response body of an upstream, in bytes (16 MiB).
const MAX_BODY: usize = 16 << 20;

/// Responds to requests: a service, or a layer in front of one.
pub trait Handler: Send + Sync + 'static {
    /// The response to a request.
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply>;
}

/// What responds to the requests that a layer passes on: a service over HTTP, or the next layer.
#[derive(Clone)]
pub struct Upstream(Arc<dyn Handler>);

impl std::fmt::Debug for Upstream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Upstream")
    }
}

impl Upstream {
    /// A service by its base URL. Redirects are not followed, and no proxy of the environment is used.
    ///
    /// # Errors
    /// TLS cannot be initialised.
    pub fn http(base: &str) -> Result<Self, reqwest::Error> {
        let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
        // Reading the system's certificates takes time, and plain http needs none.
        let builder = if base.starts_with("https:") { builder } else { builder.tls_certs_only([]) };
        let base = base.trim_end_matches('/').to_owned();
        Ok(Self::new(Service { base, http: builder.build()? }))
    }

    /// What responds by `handler`.
    #[must_use]
    pub fn new(handler: impl Handler) -> Self {
        Self(Arc::new(handler))
    }

    /// Sends a request and returns the whole response. An upstream that cannot be reached is a response with status 502.
    pub async fn call(&self, request: &ProxiedRequest) -> Reply {
        self.0.handle(request.clone()).await
    }
}

impl Handler for Upstream {
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        self.0.handle(request)
    }
}

/// A service over HTTP.
struct Service {
    base: String,
    http: reqwest::Client,
}

impl Handler for Service {
    fn handle<'a>(&'a self, request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        Box::pin(async move {
            match self.send(request).await {
                Ok(reply) => reply,
                Err(reason) => {
                    let message = format!("the upstream did not respond: {reason}");
                    Reply::json_with(502, &json!({"code": 50200, "message": message}))
                }
            }
        })
    }
}

impl Service {
    async fn send(&self, request: ProxiedRequest) -> Result<Reply, String> {
        let query = request.query.as_deref().map(|query| format!("?{query}")).unwrap_or_default();
        let mut headers = request.headers;
        for name in [HOST, CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
            headers.remove(name);
        }
        let url = format!("{}{}{query}", self.base, request.path);
        let request = self.http.request(request.method, url).headers(headers).body(request.body);
        // The URL holds the token.
        let without_url = |error: reqwest::Error| with_causes(&error.without_url());
        let mut response = request.send().await.map_err(without_url)?;
        let (status, mut headers) = (response.status(), response.headers().clone());
        for name in [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION] {
            headers.remove(name);
        }
        let mut body = BytesMut::new();
        while let Some(piece) = response.chunk().await.map_err(without_url)? {
            if body.len() + piece.len() > MAX_BODY {
                return Err(format!("its body is longer than {MAX_BODY} bytes"));
            }
            body.extend_from_slice(&piece);
        }
        Ok(Reply { status, headers, body: Bytes::from(body), framing: Framing::Whole })
    }
}
