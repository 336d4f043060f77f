use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use bytes::{Bytes, BytesMut};
use reqwest::{Method, Url};
use tokio::sync::RwLock;

use super::budget::{BudgetError, GatewayCost, GatewayCount};
use super::{Exchange, FailureKind, Meter, Request, Response, RetryAfter, Secret, WireFailure};

/// How long and how often the wire waits.
#[derive(Debug, Clone)]
pub struct WireOptions {
    /// For one exchange, from connecting to the last byte.
    pub timeout: Duration,
    /// Longest body of a response that is read, in bytes.
    pub body_limit: usize,
    /// Most JSON values of a response that are read.
    pub value_limit: usize,
    /// How often a request is sent at most when the target asks to wait.
    pub attempts: u32,
    /// Longest time that a request waits in all.
    pub longest_wait: Duration,
    /// Certificates, in PEM, of authorities that are trusted beside those of the system.
    pub authorities: Vec<u8>,
    /// A proxy between the suite and the target; its URL may hold a password.
    pub proxy: Option<Secret>,
    /// Headers that every request carries, for instance for a gateway in front of the target.
    pub headers: Vec<ExtraHeader>,
}

/// A header that every request carries.
#[derive(Debug, Clone)]
pub struct ExtraHeader {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Secret,
    /// Whether the value may be shown.
    pub public: bool,
}

/// Whether 429 and 503 are waited out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThrottlingPolicy {
    /// Wait as Retry-After says and send again, within bounds.
    WaitOut,
    /// Hand over the first response, whatever it is.
    FirstResponse,
}

/// Nothing more can be sent.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A ceiling of the budget was reached.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The client could not be set up: our own fault.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(String),
}

/// The one place where requests leave.
#[derive(Debug)]
pub struct Wire {
    client: reqwest::Client,
    base: Url,
    options: WireOptions,
    meter: Arc<Meter>,
    /// Held by every exchange together with others, and alone by one that the target would not serve among others.
    line: RwLock<()>,
}

/// Items of the longest response that is read. The contract's largest page has as many; see the test below.
const LONGEST_PAGE: usize = 1_000;

/// What an item of a response may take: several times what an instance with all of its members takes.
const BYTES_OF_AN_ITEM: usize = 2_048;
const VALUES_OF_AN_ITEM: usize = 128;

/// Time to wait before the second try, however soon the target wants it, and again for each try after that.
const SHORTEST_WAIT: Duration = Duration::from_millis(5);

/// So often a request is sent beside others; a target that serves one request at a time may never accept it so.
const TRIES_AMONG_OTHERS: u32 = 3;

/// Longest time to wait until no other request is under way; one that takes longer is not what throttles this one.
const LONGEST_IN_LINE: Duration = Duration::from_secs(2);

/// Time between two tries to reach a target that was there before.
const RECONNECT: Duration = Duration::from_millis(500);

/// Time to wait before the second try when the service is unavailable and does not say how long, and again for each try after
/// that.
const SHORT_WAIT: Duration = Duration::from_millis(250);

/// Time to wait, at most for such a service, when the target asks to wait without saying how long.
pub(super) const DEFAULT_WAIT: Duration = Duration::from_secs(1);

impl Default for WireOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(20),
            body_limit: LONGEST_PAGE * BYTES_OF_AN_ITEM,
            value_limit: LONGEST_PAGE * VALUES_OF_AN_ITEM,
            attempts: 10,
            longest_wait: Duration::from_secs(30),
            authorities: Vec::new(),
            proxy: None,
            headers: Vec::new(),
        }
    }
}

impl WireOptions {
    /// Every secret among them. The proxy's password is one by itself, as it is written and as it is meant: a message
    /// about the proxy may leave out the rest of its URL.
    pub fn secrets(&self) -> impl Iterator<Item = Secret> {
        let headers = self.headers.iter().filter(|header| !header.public).map(|header| header.value.clone());
        let password = self.proxy.as_ref().and_then(|proxy| {
            let url = Url::parse(proxy.expose()).ok()?;
            let written = url.password()?;
            let meant = percent_encoding::percent_decode_str(written).decode_utf8_lossy().into_owned();
            Some([written.to_owned(), meant].map(|password| Secret::new(proxy.name(), password)))
        });
        headers.chain(self.proxy.clone()).chain(password.into_iter().flatten())
    }

    /// A client for a service at `base`: no redirects, no cookies, no referer, TLS verified.
    pub(crate) fn client(&self, base: &Url) -> Result<reqwest::Client, WireError> {
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .timeout(self.timeout)
            .user_agent(concat!("sallyport-conformance/", env!("CARGO_PKG_VERSION")));
        if !self.authorities.is_empty() {
            let authorities = reqwest::Certificate::from_pem_bundle(&self.authorities)
                .map_err(|_| WireError::Setup("expected certificates in PEM format".to_owned()))?;
            builder = builder.tls_certs_merge(authorities);
        }
        match &self.proxy {
            Some(proxy) => {
                // The error of a bad URL would show its password.
                let proxy = reqwest::Proxy::all(proxy.expose())
                    .map_err(|_| WireError::Setup("invalid URL of the proxy".to_owned()))?;
                builder = builder.proxy(proxy);
            }
            None if is_loopback(base) => builder = builder.no_proxy(),
            None => {}
        }
        if base.scheme() == "http" && is_loopback(base) && self.proxy.is_none() {
            // Nothing here speaks TLS, and to read all of the system's authorities takes longer than many a check.
            builder = builder.tls_certs_only([]);
        }
        builder.build().map_err(|error| WireError::Setup(error.without_url().to_string()))
    }
}

impl Wire {
    /// A wire to `base`: no redirects, no cookies, no referer, TLS verified.
    ///
    /// # Errors
    /// When TLS can't be set up, or the authorities or the proxy can't be used.
    pub fn new(base: Url, options: WireOptions, meter: Arc<Meter>) -> Result<Self, WireError> {
        let client = options.client(&base)?;
        Ok(Self { client, base, options, meter, line: RwLock::default() })
    }

    /// Sends a request that may take gateways within `cost`, and hands every try to `record`, which numbers it and says what
    /// the response gave.
    ///
    /// A connection that breaks or can't be made is tried once more, so that a single hiccup is no finding. A target that was
    /// there before may restart: it is waited for, for a few seconds.
    ///
    /// # Errors
    /// When the budget does not allow it.
    pub async fn send(
        &self,
        request: &Request,
        cost: GatewayCost,
        policy: ThrottlingPolicy,
        mut record: impl FnMut(&mut Exchange) -> GatewayCount,
    ) -> Result<Exchange, WireError> {
        let request = &self.complete(request);
        let mut tries = 0;
        let mut broken = false;
        let mut throttled = false;
        let mut waiting_since = None;
        loop {
            let reservation = self.meter.reserve(cost).await?;
            self.meter.turn().await;
            tries += 1;
            let alone = if throttled && tries > TRIES_AMONG_OTHERS {
                tokio::time::timeout(LONGEST_IN_LINE, self.line.write()).await.ok()
            } else {
                None
            };
            let among_others = if alone.is_none() { Some(self.line.read().await) } else { None };
            // The time in line is neither that of the target nor part of what it was throttled in.
            let begun = Instant::now();
            let result = self.exchange(request).await?;
            drop((alone, among_others));
            let mut exchange =
                Exchange { index: 0, request: request.clone(), result, elapsed: begun.elapsed() };
            reservation.settle(record(&mut exchange));
            let mut is_throttled = false;
            match &exchange.result {
                Ok(response) if throttles(response, policy, tries) => {
                    let wait = retry_after(response);
                    is_throttled = wait != Some(Duration::ZERO);
                    self.meter.throttled(begun, wait);
                }
                _ => self.meter.served(begun),
            }
            let is_busy = matches!(&exchange.result, Ok(Response { status: 429 | 503, .. }));
            let most_tries = self.meter.attempts(self.options.attempts);
            self.meter.note_connection(&exchange.result);
            // The last response of a request decides whether throttling ended it.
            let waited = waiting_since.is_some();
            let ended = |exchange| {
                if is_throttled {
                    self.meter.gave_up();
                }
                match &exchange {
                    Exchange { result: Ok(_), .. } if waited && !is_busy => self.meter.waiting_helped(),
                    _ if is_busy && (waited || tries == most_tries) => self.meter.waited_in_vain(),
                    _ => {}
                }
                Ok(exchange)
            };
            match &exchange.result {
                Ok(response) if policy == ThrottlingPolicy::WaitOut && is_busy => {
                    if tries >= most_tries {
                        return ended(exchange);
                    }
                    // A service that asks for no wait is retried with a growing one all the same.
                    let wait = wait_asked_for(response, tries).max(SHORTEST_WAIT * tries);
                    // Waiting for a turn is waiting too.
                    let waited_for = waiting_since.get_or_insert_with(Instant::now).elapsed();
                    if waited_for + wait > self.options.longest_wait || wait >= self.meter.time_left() {
                        return ended(exchange);
                    }
                    throttled = response.status == 429;
                    tokio::time::sleep(wait).await;
                }
                Err(WireFailure { kind: FailureKind::Broken | FailureKind::Connect, .. }) if !broken => {
                    broken = true
                }
                Err(WireFailure { kind: FailureKind::Connect, .. }) if self.meter.may_come_back() => {
                    tokio::time::sleep(RECONNECT).await;
                }
                _ => return ended(exchange),
            }
        }
    }

    /// The request with the headers that every request carries.
    fn complete(&self, request: &Request) -> Request {
        let with =
            |request: Request, header: &ExtraHeader| request.header(&header.name, header.value.expose());
        self.options.headers.iter().fold(request.clone(), with)
    }

    async fn exchange(&self, request: &Request) -> Result<Result<Response, WireFailure>, BudgetError> {
        let built = match self.build(request) {
            Ok(built) => built,
            Err(detail) => return Ok(Err(WireFailure { kind: FailureKind::Request, detail })),
        };
        self.meter.take_bytes(request.body_bytes().map_or(0, |body| body.len()))?;
        let response = match self.client.execute(built).await {
            Ok(response) => response,
            Err(error) => return Ok(Err(failure(error))),
        };
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().to_vec()))
            .collect();
        let body = self.read(response).await?;
        let too_large = |detail| WireFailure { kind: FailureKind::TooLarge, detail };
        Ok(body.and_then(|body| match json_values(&body) {
            values if values > self.options.value_limit => {
                let limit = self.options.value_limit;
                Err(too_large(format!(
                    "the response has more than {limit} JSON values, which is too large to judge"
                )))
            }
            _ => Ok(Response::new(status, headers, body)),
        }))
    }

    fn build(&self, request: &Request) -> Result<reqwest::Request, String> {
        let base = self.base.as_str().trim_end_matches('/');
        let url = Url::parse(&format!("{base}{}", request.target())).map_err(|error| error.to_string())?;
        let method =
            Method::from_bytes(request.method_name().as_bytes()).map_err(|error| error.to_string())?;
        let mut builder = self.client.request(method, url);
        for (name, value) in request.headers() {
            builder = builder.header(name.as_str(), value.as_slice());
        }
        if let Some(body) = request.body_bytes() {
            builder = builder.body(body);
        }
        builder.build().map_err(|error| error.without_url().to_string())
    }

    async fn read(&self, mut response: reqwest::Response) -> Result<Result<Bytes, WireFailure>, BudgetError> {
        let mut body = BytesMut::new();
        loop {
            let chunk = match response.chunk().await {
                Ok(Some(chunk)) => chunk,
                Ok(None) => return Ok(Ok(body.freeze())),
                Err(error) => return Ok(Err(failure(error))),
            };
            self.meter.take_bytes(chunk.len())?;
            if body.len() + chunk.len() > self.options.body_limit {
                let limit = self.options.body_limit;
                let detail =
                    format!("the response is longer than {limit} bytes, which is too large to judge");
                return Ok(Err(WireFailure { kind: FailureKind::TooLarge, detail }));
            }
            body.extend_from_slice(&chunk);
        }
    }
}

/// Whether a response is one that the suite reads by default: neither too long nor with too many values.
pub(crate) fn is_small_enough(body: &[u8]) -> bool {
    let WireOptions { body_limit, value_limit, .. } = WireOptions::default();
    body.len() <= body_limit && json_values(body) <= value_limit
}

/// How many values a body has at most when it is JSON. A parsed one takes some hundred bytes, and a body of two bytes for
/// each would take fifty times its length; so they are counted first.
fn json_values(body: &[u8]) -> usize {
    if !matches!(body.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return 0;
    }
    let (mut values, mut in_string, mut escaped) = (1, false, false);
    for byte in body {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => values += 1,
            _ => {}
        }
    }
    values
}

/// Whether a URL leads to this machine without leaving it.
#[must_use]
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// A busy service that does not say how long is asked again soon at first.
fn wait_asked_for(response: &Response, tries: u32) -> Duration {
    retry_after(response).unwrap_or(match response.status {
        503 => (SHORT_WAIT * tries).min(DEFAULT_WAIT),
        _ => DEFAULT_WAIT,
    })
}

fn retry_after(response: &Response) -> Option<Duration> {
    let header = response.header("Retry-After").and_then(|value| RetryAfter::parse(&value).ok());
    header.map(|header| header.delay(response.header("Date").as_deref(), SystemTime::now()))
}

/// Whether a response asks for a lower rate. 503 may be what this very request always gets, for instance for a
/// shortage: it counts where it would be waited out, and once for each request.
fn throttles(response: &Response, policy: ThrottlingPolicy, tries: u32) -> bool {
    match response.status {
        429 => true,
        503 => policy == ThrottlingPolicy::WaitOut && tries == 1,
        _ => false,
    }
}

/// The URL is taken out first: it holds the token.
fn failure(error: reqwest::Error) -> WireFailure {
    let error = error.without_url();
    let kind = if error.is_timeout() {
        FailureKind::Timeout
    } else if error.is_connect() {
        FailureKind::Connect
    } else {
        FailureKind::Broken
    };
    WireFailure { kind, detail: with_causes(&error) }
}

/// An error and what caused it, in one line.
pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::Contract;

    #[test]
    fn a_response_may_be_as_long_as_the_contracts_largest_page() {
        let contract = Contract::embedded().expect("contract");
        let most = *contract.search.page_sizes.end();
        assert_eq!(usize::try_from(most), Ok(LONGEST_PAGE));
        assert!(usize::try_from(*contract.extract.num_range.end()).is_ok_and(|most| most <= LONGEST_PAGE));
    }

    #[test]
    fn values_are_counted_without_parsing() {
        let count = |text: &str| json_values(text.as_bytes());
        assert_eq!(count("[0,0,0]"), 4);
        assert_eq!(count(r#" {"a": [1, {"b,[{": "x\",,"}], "c": 2}"#), 6);
        assert_eq!(count("a, b, c, [text]"), 0);
    }
}
