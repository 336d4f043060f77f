use std::{net::IpAddr, sync::Arc, time::Duration};

use reqwest::{Url, redirect};
use secrecy::SecretString;

use crate::{Client, Error, RetryPolicy, secret::Token, transport::Transport};

/// The environment variable that [`ClientBuilder::token_from_env`] reads.
pub const TOKEN_VARIABLE: &str = "SALLYPORT_API_KEY";

/// Sets up a [`Client`].
///
/// ```
/// use std::time::Duration;
/// use sallyport_client::{Client, RetryPolicy};
///
/// let client = Client::builder()
///     .base_url("https://api.invalid")
///     .token("token-from-the-console")
///     .request_timeout(Duration::from_secs(10))
///     .retry(RetryPolicy { retries: 5, ..RetryPolicy::default() })
///     .build()?;
/// # Ok::<(), sallyport_client::Error>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct ClientBuilder {
    base_url: Option<String>,
    token: Option<SecretString>,
    token_variable: Option<String>,
    allow_http: bool,
    connect_timeout: Duration,
    request_timeout: Duration,
    total_timeout: Duration,
    retry: RetryPolicy,
    user_agent: String,
    max_body: usize,
    http: Option<reqwest::ClientBuilder>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            base_url: None,
            token: None,
            token_variable: None,
            allow_http: false,
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            total_timeout: Duration::from_secs(120),
            retry: RetryPolicy::default(),
            user_agent: concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION")).to_owned(),
            max_body: 16 << 20,
            http: None,
        }
    }
}

impl ClientBuilder {
    /// Where the service is: scheme, host, perhaps a port and a path in front of those of the operations.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The account's API token.
    pub fn token(mut self, token: impl Into<SecretString>) -> Self {
        self.token = Some(token.into());
        self
    }

    /// Takes the token from the environment variable [`TOKEN_VARIABLE`].
    pub fn token_from_env(self) -> Self {
        self.token_from_env_variable(TOKEN_VARIABLE)
    }

    /// Takes the token from an environment variable of another name.
    pub fn token_from_env_variable(mut self, name: impl Into<String>) -> Self {
        self.token_variable = Some(name.into());
        self
    }

    /// Allows plain HTTP to other hosts than this machine. The token then travels in the open.
    pub fn allow_http(mut self, allow: bool) -> Self {
        self.allow_http = allow;
        self
    }

    /// Longest time to connect; 10 seconds unless set.
    pub fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Longest time for one request, from connecting to the end of its body; 30 seconds unless set.
    pub fn request_timeout(mut self, limit: Duration) -> Self {
        self.request_timeout = limit;
        self
    }

    /// Longest time for a call with all its retries and waits; two minutes unless set.
    pub fn total_timeout(mut self, limit: Duration) -> Self {
        self.total_timeout = limit;
        self
    }

    /// When and how often to try again.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = policy;
        self
    }

    /// The `User-Agent` header.
    pub fn user_agent(mut self, agent: impl Into<String>) -> Self {
        self.user_agent = agent.into();
        self
    }

    /// Longest body that is read, in bytes; 16 MiB unless set.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// TLS, proxies, pools and the like, as reqwest sets them.
    ///
    /// It takes reqwest's builder and not its client, so that redirects and the `Referer` header can be switched off:
    /// both would carry the token away. Timeouts and user agent set here are replaced by this builder's, and plain HTTP to
    /// this machine goes through no proxy, neither one set here nor one of the environment.
    pub fn http(mut self, builder: reqwest::ClientBuilder) -> Self {
        self.http = Some(builder);
        self
    }

    /// The client. Nothing is sent yet.
    ///
    /// # Errors
    /// [`Error::Configuration`] when base URL or token are missing or unfit, or when TLS cannot be set up;
    /// [`Error::Refused`] when the token is shorter than the contract allows.
    pub fn build(self) -> Result<Client, Error> {
        let base = base_url(self.base_url.as_deref(), self.allow_http)?;
        let token = match (self.token, self.token_variable) {
            (Some(token), _) => token,
            (None, Some(variable)) => Token::from_env(&variable)?,
            (None, None) => {
                return Err(Error::configuration("no token is set; call token() or token_from_env()"));
            }
        };
        let builder = self.http.unwrap_or_default();
        // A proxy of the environment would be sent the token in the open, and cannot reach this machine's loopback anyway.
        let is_local = Url::parse(&base).is_ok_and(|url| url.scheme() == "http" && is_loopback(&url));
        let http = if is_local { builder.no_proxy() } else { builder }
            .redirect(redirect::Policy::none())
            // Whatever another crate of the program switches on in reqwest, this client asks for plain bodies.
            .no_gzip()
            .referer(false)
            .connection_verbose(false)
            .connect_timeout(self.connect_timeout)
            .user_agent(self.user_agent)
            .build()
            .map_err(|error| {
                Error::configuration(format!("the HTTP client cannot be set up: {}", error.without_url()))
            })?;
        Ok(Client::new(Arc::new(Transport {
            http,
            base,
            token: Token::new(token)?,
            retry: self.retry,
            request_timeout: self.request_timeout,
            total_timeout: self.total_timeout,
            max_body: self.max_body,
        })))
    }
}

/// The base URL without a slash at its end. Errors do not repeat it: it may hold a password or a token.
fn base_url(given: Option<&str>, allow_http: bool) -> Result<String, Error> {
    let Some(given) = given else { return Err(Error::configuration("no base URL is set; call base_url()")) };
    let url = Url::parse(given).map_err(|error| {
        Error::configuration(format!("the base URL is not a URL: {error}; write https://host"))
    })?;
    if !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some()
    {
        let message = "the base URL holds a user, password, query or fragment; write scheme, host, port and path only, \
                       and give the token to token()";
        return Err(Error::configuration(message));
    }
    match url.scheme() {
        "https" => {}
        "http" if allow_http || is_loopback(&url) => {}
        "http" => {
            let message = "the base URL is plain http and not of this machine; use https, because the token would \
                           travel in the open, or call allow_http(true)";
            return Err(Error::configuration(message));
        }
        _ => return Err(Error::configuration("the base URL is neither https nor http")),
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
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
    fn only_https_and_this_machine_pass_unless_allowed() {
        for given in
            ["https://api.invalid", "http://127.0.0.1:80", "http://[::1]:8080", "http://localhost/x/"]
        {
            assert!(base_url(Some(given), false).is_ok(), "{given}");
        }
        for given in ["http://api.invalid", "http://127.0.0.1.invalid", "ftp://localhost", "api.invalid", ""]
        {
            assert!(base_url(Some(given), false).is_err(), "{given}");
        }
        assert!(base_url(Some("http://api.invalid"), true).is_ok());
        assert_eq!(
            base_url(Some("https://api.invalid/prefix/"), false).unwrap(),
            "https://api.invalid/prefix"
        );
    }

    #[test]
    fn an_unfit_base_url_is_not_repeated() {
        for given in [
            "https://canary@api.invalid",
            "https://u:canary@api.invalid",
            "https://api.invalid?api_key=canary",
            "canary",
        ] {
            let error = base_url(Some(given), true).unwrap_err();
            assert!(!error.to_string().contains("canary"), "{error}");
        }
    }

    #[test]
    fn the_builder_shows_no_token() {
        let builder = Client::builder().base_url("https://api.invalid").token("canary");
        assert!(!format!("{builder:?}").contains("canary"));
        let client = builder.build().unwrap();
        assert!(!format!("{client:?} {:?}", client.generated()).contains("canary"));
    }
}
