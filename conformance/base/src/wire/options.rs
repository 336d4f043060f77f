use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};

use super::body::ACCEPTED_CODING;
use super::{ClientIdentity, Secret, TokenRenewal, WireError, problem, proxy};

/// How long and how often the wire waits.
#[derive(Debug, Clone)]
pub struct WireOptions {
    /// Timeout of one exchange, from connecting to the last byte.
    pub timeout: Duration,
    /// Maximum size of a response body, in bytes.
    pub body_limit: usize,
    /// Maximum number of JSON values in a response.
    pub value_limit: usize,
    /// Maximum number of attempts of a request that is throttled.
    pub attempts: u32,
    /// Maximum time that a request waits in total.
    pub longest_wait: Duration,
    /// PEM certificates of authorities to trust in addition to those of the system.
    pub authorities: Vec<u8>,
    /// The certificate for services that require one.
    pub identity: Option<ClientIdentity>,
    /// URL of a proxy between the suite and the target; it may contain a password.
    pub proxy: Option<Secret>,
    /// Headers to add to every request, for instance for a gateway in front of the target.
    pub headers: Vec<ExtraHeader>,
    /// How long a run waits until the target responds at all; zero for not at all.
    pub wait: Duration,
    /// Where another token of the account comes from, if the service rejects the one that requests have.
    pub renewal: Option<TokenRenewal>,
}

/// A header to add to every request.
#[derive(Debug, Clone)]
pub struct ExtraHeader {
    /// Name.
    pub name: String,
    /// Value.
    pub value: Secret,
    /// Whether reports may show the value.
    pub public: bool,
}

/// Name and version of the suite in `User-Agent`.
pub(super) const PRODUCT: &str = concat!("sallyport-conformance/", env!("CARGO_PKG_VERSION"));

/// Items of the largest response that is read: as many as the contract's largest page has; see the test below.
const MAX_ITEMS: usize = 1_000;

/// Bytes and JSON values of an item of a response: several times those of an instance with all of its members.
const BYTES_PER_ITEM: usize = 2_048;
const VALUES_PER_ITEM: usize = 128;

impl Default for WireOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(20),
            body_limit: MAX_ITEMS * BYTES_PER_ITEM,
            value_limit: MAX_ITEMS * VALUES_PER_ITEM,
            attempts: 10,
            longest_wait: Duration::from_secs(30),
            authorities: Vec::new(),
            identity: None,
            proxy: None,
            headers: Vec::new(),
            wait: Duration::ZERO,
            renewal: None,
        }
    }
}

impl WireOptions {
    /// The values of extra headers that are secret.
    pub fn header_secrets(&self) -> impl Iterator<Item = Secret> {
        self.headers.iter().filter(|header| !header.public).map(|header| header.value.clone())
    }

    /// Every secret of the options, renewed tokens included. The URL of a proxy is one if it has a password, and so is the password by
    /// itself, percent-encoded and decoded, because a message about the proxy may leave out the rest of its URL.
    pub fn secrets(&self) -> impl Iterator<Item = Secret> {
        let renewed = self.renewal.iter().flat_map(TokenRenewal::given);
        let proxy = self.proxy.as_ref().and_then(|proxy| {
            // A text that is no URL of a proxy is never sent.
            let url = proxy::parse(proxy.expose())?;
            let encoded = url.password()?;
            let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8_lossy().into_owned();
            let password = [encoded.to_owned(), decoded].map(|password| Secret::new(proxy.name(), password));
            Some(password.into_iter().chain([proxy.clone()]))
        });
        self.header_secrets().chain(renewed).chain(proxy.into_iter().flatten())
    }

    /// The proxy for a service at `base`, without user and password: the one of the options, or that of the environment.
    pub fn proxy_of(&self, base: &Url) -> Option<String> {
        proxy::in_use(self.proxy.as_ref(), base)
    }

    /// Options of curl for the proxy of the options: `$PROXY_USER` stands for its user and password.
    pub fn curl_proxy(&self, base: &Url) -> Vec<String> {
        let Some(url) = self.proxy.as_ref().and_then(|proxy| proxy::parse(proxy.expose())) else {
            return Vec::new();
        };
        let user = ["--proxy-user", "$PROXY_USER"].map(str::to_owned);
        let user = user.into_iter().filter(|_| !url.username().is_empty());
        let shown = self.proxy_of(base).unwrap_or_default();
        ["--proxy".to_owned(), shown].into_iter().chain(user).collect()
    }

    /// A client that follows and keeps nothing, verifies TLS, leaves bodies as sent, and keeps so many connections for later.
    ///
    /// # Errors
    /// When a certificate, the proxy or the set-up of TLS can't be used.
    pub fn client(&self, base: &Url, idle: usize) -> Result<reqwest::Client, WireError> {
        let accepted = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(ACCEPTED_CODING))]);
        let mut builder = reqwest::Client::builder()
            // Whatever other crates of a build enable in reqwest: rustls, and no coding.
            .tls_backend_rustls()
            .default_headers(accepted)
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .timeout(self.timeout)
            .pool_max_idle_per_host(idle)
            .user_agent(PRODUCT);
        if !self.authorities.is_empty() {
            let authorities = reqwest::Certificate::from_pem_bundle(&self.authorities).ok();
            let authorities = authorities.filter(|all| !all.is_empty()).ok_or_else(|| {
                WireError::Setup("authorities: expected certificates in PEM format".to_owned())
            })?;
            builder = builder.tls_certs_merge(authorities);
        }
        if let Some(ClientIdentity(identity)) = &self.identity {
            builder = builder.identity(identity.clone());
        }
        // The value may have a password.
        let invalid = |what: &str| WireError::Setup(format!("{what}: expected {}", proxy::EXPECTED));
        match &self.proxy {
            Some(given) => {
                let url = proxy::parse(given.expose()).ok_or_else(|| invalid("the proxy"))?;
                let proxy = reqwest::Proxy::all(url).map_err(|_| invalid("the proxy"))?;
                builder = builder.proxy(proxy);
            }
            None if is_loopback(base) => builder = builder.no_proxy(),
            None => {
                if let Some(name) = proxy::invalid_variable(base.scheme()) {
                    return Err(invalid(&format!("`{name}`")));
                }
            }
        }
        if base.scheme() == "http" && is_loopback(base) && self.proxy.is_none() {
            // No TLS is used, and reading all authorities of the system takes longer than many checks.
            builder = builder.tls_certs_only([]);
        }
        builder.build().map_err(|error| {
            let known = problem::of_connection(&error).map(|(_, words)| words);
            WireError::Setup(known.unwrap_or_else(|| problem::with_causes(&error.without_url())))
        })
    }
}

/// Whether a URL points to this machine.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;

    #[test]
    fn the_contracts_largest_page_can_be_read() {
        let contract = Contract::embedded().expect("contract");
        assert_eq!(usize::try_from(*contract.search.page_sizes.end()), Ok(MAX_ITEMS));
        assert!(usize::try_from(*contract.extract.num_range.end()).is_ok_and(|max| max <= MAX_ITEMS));
    }
}
