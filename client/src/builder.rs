use std::{env, net::IpAddr, path::PathBuf, sync::Arc, time::Duration};

use reqwest::{Url, redirect};
use secrecy::{ExposeSecret, SecretString};

use crate::{
    Client, Error, Middleware, RetryPolicy, TokenFile, TokenSource, budget::RetryBudget, connection,
    contract::PATH_PREFIX, middleware::Middlewares, network::Network, options::not_zero, secret::Hidden,
    token_source::Tokens, transport::Transport,
};

/// The environment variable that [`ClientBuilder::token_from_env`] reads.
pub const TOKEN_VARIABLE: &str = "SALLYPORT_API_KEY";

/// The environment variable that [`ClientBuilder::base_url_from_env`] reads.
pub const BASE_URL_VARIABLE: &str = "SALLYPORT_BASE_URL";

/// Builds a [`Client`]. Only the base URL and the token are required.
///
/// ```
/// use std::time::Duration;
/// use sallyport_client::{Client, RetryPolicy};
///
/// let client = Client::builder()
///     .base_url("https://api.invalid")
///     .token("token-from-the-console")
///     .request_timeout(Duration::from_secs(10))
///     .retry(RetryPolicy { max_retries: 5, ..RetryPolicy::default() })
///     .build()?;
/// # Ok::<(), sallyport_client::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct ClientBuilder {
    /// As it was given, so that it may hold a secret.
    base_url: Option<SecretString>,
    tokens: Option<Hidden<OpenTokens>>,
    allow_http: bool,
    connect_timeout: Duration,
    request_timeout: Duration,
    total_timeout: Duration,
    retry: RetryPolicy,
    middleware: Middlewares,
    user_agent: String,
    max_body: usize,
    network: Network,
    http: Option<reqwest::ClientBuilder>,
}

/// Makes the tokens of a client when it is built: reads the environment, or opens a file.
type OpenTokens = Box<dyn FnOnce() -> Result<Tokens, Error> + Send + Sync>;

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            base_url: None,
            tokens: None,
            allow_http: false,
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            retry: RetryPolicy::default(),
            middleware: Middlewares::default(),
            user_agent: concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_body: 16 << 20,
            network: Network::default(),
            http: None,
        }
    }
}

impl ClientBuilder {
    /// Base URL of the service: scheme and host, optionally with a port and a path, such as `https://api.invalid`.
    ///
    /// The client adds the path of each operation, with [`PATH_PREFIX`]; a base URL that ends with it is an
    /// [`Error::Configuration`]. So is one with https in a build without TLS; see [`http`](Self::http).
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into().into());
        self
    }

    /// Reads the base URL from the environment variable [`BASE_URL_VARIABLE`], at once. While it is not set, empty or not UTF-8, the
    /// base URL is missing.
    pub fn base_url_from_env(mut self) -> Self {
        self.base_url = variable(BASE_URL_VARIABLE).ok().map(SecretString::from);
        self
    }

    /// The account's API token.
    ///
    /// The last call of this and the other `token_…` methods counts.
    pub fn token(mut self, token: impl Into<SecretString>) -> Self {
        let token = token.into();
        self.tokens = Some(Hidden(Box::new(|| Tokens::fixed(token))));
        self
    }

    /// Reads the token from the environment variable [`TOKEN_VARIABLE`], once, when the client is built.
    pub fn token_from_env(mut self) -> Self {
        self.tokens = Some(Hidden(Box::new(|| {
            let token = variable(TOKEN_VARIABLE).map_err(|reason| {
                Error::configuration(format!("missing token: {reason}; set it to the API token"))
            })?;
            Tokens::fixed(token.into())
        })));
        self
    }

    /// Reads the token from a file, and again once that is longer ago than [`TokenFile::MAX_AGE`]; see [`TokenFile`].
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.tokens = Some(Hidden(Box::new(|| Ok(Tokens::from_source(TokenFile::open(path)?)))));
        self
    }

    /// Asks `source` for the token before each request, so that it can be rotated without a restart.
    pub fn token_source(mut self, source: impl TokenSource) -> Self {
        self.tokens = Some(Hidden(Box::new(|| Ok(Tokens::from_source(source)))));
        self
    }

    /// Allows plain HTTP to hosts other than the loopback interface, which sends the token unencrypted. Default: `false`.
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.allow_http = allow;
        self
    }

    /// Maximum time to establish a connection; not zero. Default: 10 s.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Maximum time for one request, from connecting to the end of the response body; not zero. Default: 30 s.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = limit;
        self
    }

    /// Maximum time for a call with all its retries and the waits between them; not zero. Default: 120 s.
    ///
    /// A call whose next wait would exceed it ends at once with the last error.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        self.total_timeout = limit;
        self
    }

    /// When and how often failed requests are retried. Default: [`RetryPolicy::default`].
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// Runs `middleware` around each request; may be called several times. The first one added is the outermost.
    pub fn middleware(mut self, middleware: impl Middleware) -> Self {
        self.middleware.0.push(Arc::new(middleware));
        self
    }

    /// The `User-Agent` header. Default: `sallyport-client/` and the version.
    pub fn user_agent(mut self, agent: impl Into<String>) -> Self {
        self.user_agent = agent.into();
        self
    }

    /// Maximum length of a response body, in bytes; a longer one is an [`Error::UnexpectedResponse`]. Not zero. Default: 16 MiB.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Also trusts the certificate authorities in this file, in PEM, for example that of a company. Default: those of the system.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.network.ca_file = Some(path.into());
        self
    }

    /// The certificate, with intermediate ones behind it, and the private key for a service that requires a client certificate, as
    /// files in PEM; one file may hold both. The key must have no passphrase.
    pub fn client_certificate(mut self, certificate: impl Into<PathBuf>, key: impl Into<PathBuf>) -> Self {
        self.network.identity = Some((certificate.into(), key.into()));
        self
    }

    /// Sends every request through this proxy, such as `http://user:password@proxy.example.com:3128`; SOCKS 4 and 5 are known as well.
    /// Default: that of `HTTPS_PROXY`, `HTTP_PROXY` or `ALL_PROXY`, apart from hosts in `NO_PROXY`. No error shows the URL.
    pub fn proxy(mut self, url: impl Into<SecretString>) -> Self {
        self.network.proxy = Some(url.into());
        self
    }

    /// Settings of reqwest: TLS, proxies, connection pool.
    ///
    /// This takes reqwest's builder instead of its client, because redirects and the `Referer` header, which would disclose
    /// the token, are always disabled. Timeouts and user agent of this builder replace those set here. A service on
    /// the loopback interface is reached without a proxy, be it set here or one of the environment.
    ///
    /// Without the features `rustls` and `native-tls` of this crate, https is accepted only together with this builder: your
    /// program may enable TLS in reqwest itself, which this crate cannot see. This builder chooses its TLS library itself, for
    /// example with `tls_backend_rustls`; otherwise reqwest takes native-tls where any crate of the program enables it.
    pub fn http(mut self, builder: reqwest::ClientBuilder) -> Self {
        self.http = Some(builder);
        self
    }

    /// Builds the client. Nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Configuration`] when base URL or token are missing or invalid, when the base URL has https and the build no TLS,
    /// when a timeout or [`max_body_bytes`](Self::max_body_bytes) is zero, when a proxy has an unknown scheme or a path, when a file of certificates
    /// cannot be used, or when TLS cannot be initialised; the token of a
    /// [`token_source`](Self::token_source) is checked later, before each request;
    /// [`Error::InvalidArgument`] when the token is empty (`all.token-required`).
    pub fn build(self) -> Result<Client, Error> {
        let (url, base) = base_url(self.base_url.as_ref().map(ExposeSecret::expose_secret), self.allow_http)?;
        if !HAS_TLS && self.http.is_none() && url.scheme() == "https" {
            return Err(no_tls());
        }
        not_zero("connect_timeout", self.connect_timeout.is_zero())?;
        not_zero("request_timeout", self.request_timeout.is_zero())?;
        not_zero("total_timeout", self.total_timeout.is_zero())?;
        not_zero("max_body_bytes", self.max_body == 0)?;
        let Some(Hidden(tokens)) = self.tokens else {
            let message = "missing token; call token(), token_from_env(), token_file() or token_source()";
            return Err(Error::configuration(message));
        };
        let tokens = tokens()?;
        let (is_local, is_own_builder) = (is_loopback(&url), self.http.is_some());
        let builder = self.http.unwrap_or_else(http);
        let builder = self.network.apply(builder, &url, is_local, is_own_builder)?;
        let http = connection::noticing(builder)
            .redirect(redirect::Policy::none())
            // Another crate may enable reqwest's decompression; this client asks for uncompressed bodies.
            .no_brotli()
            .no_deflate()
            .no_gzip()
            .no_zstd()
            .referer(false)
            .connection_verbose(false)
            .connect_timeout(self.connect_timeout)
            .user_agent(self.user_agent)
            .build()
            .map_err(|error| {
                let error = error.without_url();
                let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
                let cause = cause.unwrap_or_default();
                Error::configuration(format!("cannot initialise the HTTP client: {error}{cause}"))
            })?;
        Ok(Client::new(Arc::new(Transport {
            http,
            base,
            url,
            tokens,
            retry: self.retry,
            budget: RetryBudget::default(),
            middleware: self.middleware,
            request_timeout: self.request_timeout,
            total_timeout: self.total_timeout,
            max_body: self.max_body,
        })))
    }
}

/// The environment variable `name`. The error does not show its value, not even when that is not UTF-8. An empty one counts as not set.
fn variable(name: &str) -> Result<String, String> {
    let value = env::var(name).ok().filter(|value| !value.is_empty());
    value.ok_or_else(|| format!("the environment variable {name} is not set, empty or not UTF-8"))
}

/// reqwest's builder with the TLS library of this crate's features. By itself reqwest takes native-tls where another crate of the
/// program enables it.
fn http() -> reqwest::ClientBuilder {
    let builder = reqwest::Client::builder();
    #[cfg(feature = "rustls")]
    let builder = builder.tls_backend_rustls();
    #[cfg(all(feature = "native-tls", not(feature = "rustls")))]
    let builder = builder.tls_backend_native();
    builder
}

/// Whether a feature of this crate has enabled TLS.
const HAS_TLS: bool = cfg!(any(feature = "rustls", feature = "native-tls"));

fn no_tls() -> Error {
    Error::configuration(
        "invalid base URL: https needs TLS, which this build lacks; enable the feature `rustls` or `native-tls` of \
         sallyport-client",
    )
}

/// The base URL, and its text without a trailing slash. Errors do not repeat it: it may hold a password or a token.
fn base_url(given: Option<&str>, allow_http: bool) -> Result<(Url, String), Error> {
    let Some(given) = given else {
        return Err(Error::configuration(format!(
            "missing base URL; call base_url(), or set {BASE_URL_VARIABLE} and call base_url_from_env()"
        )));
    };
    let invalid = |what: &str| Error::configuration(format!("invalid base URL: {what}"));
    let url = Url::parse(given)
        .map_err(|error| invalid(&format!("{error}; expected a URL such as https://host")))?;
    let has_user = !url.username().is_empty() || url.password().is_some();
    if has_user || url.query().is_some() || url.fragment().is_some() {
        return Err(invalid(
            "it has a user, password, query or fragment; expected scheme, host, port and path only; pass the token to token()",
        ));
    }
    match url.scheme() {
        "https" => {}
        "http" if allow_http || is_loopback(&url) => {}
        "http" => {
            return Err(invalid(
                "plain http to another host would send the token unencrypted; use https, or call allow_http(true)",
            ));
        }
        _ => return Err(invalid("expected the scheme https or http")),
    }
    let text = url.as_str().trim_end_matches('/').to_owned();
    if !PATH_PREFIX.is_empty() && text.ends_with(PATH_PREFIX) {
        return Err(invalid(&format!(
            "it ends with `{PATH_PREFIX}`, which the client adds itself; remove it"
        )));
    }
    Ok((url, text))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost"
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_valid_base_url_has_no_slash_at_its_end_and_no_usual_port() {
        let longer = format!("https://api.invalid{PATH_PREFIX}x");
        for (given, expected) in [
            ("https://api.invalid", "https://api.invalid"),
            ("https://api.invalid/prefix/", "https://api.invalid/prefix"),
            ("http://127.0.0.1:80", "http://127.0.0.1"),
            ("http://[::1]:8080", "http://[::1]:8080"),
            ("http://localhost/x/", "http://localhost/x"),
            (longer.as_str(), longer.as_str()),
        ] {
            assert_eq!(base_url(Some(given), false).unwrap().1, expected);
        }
    }

    #[test]
    fn a_base_url_comes_from_the_environment_or_is_missing() {
        // Tests run at the same time, so none sets a variable.
        let built = Client::builder().base_url_from_env().token("token").build();
        match env::var(BASE_URL_VARIABLE) {
            Ok(url) => assert_eq!(built.is_ok(), base_url(Some(&url), false).is_ok()),
            Err(_) => assert!(built.unwrap_err().to_string().contains("set SALLYPORT_BASE_URL")),
        }
    }

    #[test]
    fn https_needs_tls() {
        let built = Client::builder().base_url("https://api.invalid").token("token").build();
        assert_eq!(built.is_ok(), HAS_TLS);
        let message = no_tls().to_string();
        assert!(message.contains("`rustls` or `native-tls`"), "{message}");
    }
}
