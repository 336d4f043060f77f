// Durations, counts and sizes come from the target here.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::header::{HeaderName, HeaderValue, USER_AGENT};
use reqwest::{Method, Url, Version};
use tokio::net::TcpStream;
use tokio::sync::{OnceCell, RwLock};

use super::body::{ReceivedResponse, receive};
use super::budget::{BudgetError, GatewayCost, GatewayCount, RECONNECT_WINDOW};
use super::options::{ExtraHeader, PRODUCT, WireOptions};
use super::pace::DEFAULT_WAIT;
use super::problem::{self, causes, with_causes};
use super::{
    Exchange, FailureKind, Meter, Redactor, Request, Response, TokenRenewal, TransientFailure, WireFailure,
};

/// What to do with a response 429 or 503.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThrottlingPolicy {
    /// Wait as `Retry-After` says and retry, within limits.
    WaitOut,
    /// Return the first response, whatever it is.
    FirstResponse,
}

/// Why a request cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A limit of the budget was reached.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The HTTP client can't be set up, because of its options.
    #[error("cannot set up the HTTP client: {0}")]
    Setup(String),
}

/// Sends every request of a run.
#[derive(Debug)]
pub struct Wire {
    client: reqwest::Client,
    /// Makes a connection for each request. Made when first needed: reading the authorities of the system takes long.
    without_reuse: OnceCell<reqwest::Client>,
    /// Whether the target closes connections that it keeps, as a request may be on its way.
    closes_kept_connections: AtomicBool,
    /// Whether the target speaks HTTP/2.
    speaks_http2: AtomicBool,
    base: Url,
    /// How requests are sent.
    pub options: WireOptions,
    meter: Arc<Meter>,
    /// Hides a token that was renewed.
    redactor: Arc<Redactor>,
    /// Id of the run, by which a provider finds its requests: six hexadecimal digits in each `User-Agent`.
    pub run: String,
    /// Number of requests that were sent.
    sent: AtomicU64,
    /// How often the token was renewed before, by other runs of a watch.
    renewals_before: u64,
    /// Read by concurrent exchanges, and written by one that runs alone, because the target did not serve it beside others.
    exclusivity: RwLock<()>,
}

/// Maximum size of the headers of a response, in bytes: many times what servers and proxies take.
const HEADER_LIMIT: usize = 64 << 10;

/// Minimum wait, multiplied by the number of attempts, even if the target asks for less.
const MIN_WAIT: Duration = Duration::from_millis(5);

/// Attempts beside other requests. The next are sent alone, for a target that serves one request at a time.
const CONCURRENT_ATTEMPTS: u32 = 3;

/// Maximum time to wait until no other request is in flight. A request that takes longer is not what throttles this one.
const MAX_WAIT_FOR_OTHERS: Duration = Duration::from_secs(2);

/// Time in which a target that is stopping closes its port, after it has broken off a connection.
const STOPPING: Duration = Duration::from_millis(100);

/// Time between two attempts to reconnect.
const RECONNECT: Duration = Duration::from_millis(500);

/// Wait after a 503 without `Retry-After`, multiplied by the number of attempts, up to [`DEFAULT_WAIT`].
const UNAVAILABLE_WAIT: Duration = Duration::from_millis(250);

impl Wire {
    /// A wire to `base`.
    ///
    /// # Errors
    /// When TLS can't be set up, or the authorities or the proxy are invalid.
    pub fn new(
        base: Url,
        options: WireOptions,
        meter: Arc<Meter>,
        redactor: Arc<Redactor>,
    ) -> Result<Self, WireError> {
        let client = options.client(&base, usize::MAX)?;
        let renewals_before = options.renewal.as_ref().map_or(0, TokenRenewal::count);
        Ok(Self {
            client,
            without_reuse: OnceCell::new(),
            closes_kept_connections: AtomicBool::new(false),
            speaks_http2: AtomicBool::new(false),
            base,
            options,
            meter,
            redactor,
            run: format!("{:06x}", fastrand::u32(..1 << 24)),
            sent: AtomicU64::new(0),
            renewals_before,
            exclusivity: RwLock::default(),
        })
    }

    /// Sends a request of a case that may take gateways within `cost`, and passes every attempt to `record`, which numbers it and counts
    /// the gateways in the response.
    ///
    /// A failure that may be of the connection is retried once, on a connection of its own, so that a single network error is no
    /// finding. A target that responded before may be restarting, so the suite keeps reconnecting for a few seconds. A request that
    /// the target refused to handle is retried as often as one that is throttled. One with the account's token that gets 401 is sent once
    /// more with another token, if there is a source of tokens that gives one.
    ///
    /// # Errors
    /// When the budget does not allow it.
    pub async fn send(
        &self,
        case: &str,
        request: &Request,
        cost: GatewayCost,
        policy: ThrottlingPolicy,
        mut record: impl FnMut(&mut Exchange) -> GatewayCount + Send,
    ) -> Result<Exchange, WireError> {
        let request = self.with_extra_headers(request);
        let Some(renewal) = self.options.renewal.as_ref().filter(|renewal| renewal.concerns(&request)) else {
            return self.send_until_served(case, &request, cost, policy, &mut record).await;
        };
        let token = renewal.current();
        let exchange = self.send_until_served(case, &request, cost, policy, &mut record).await?;
        let status = exchange.result.as_ref().ok().map(|response| response.status);
        // What is throttled or forbidden, or fails, may not have come as far as the token.
        if status.is_some_and(|status| (200..300).contains(&status)) {
            renewal.note_accepted(&token);
        }
        if status != Some(401) || !renewal.renew(&token, &self.redactor).await {
            return Ok(exchange);
        }
        self.send_until_served(case, &request, cost, policy, &mut record).await
    }

    /// How often the account's token was renewed in this run.
    pub fn token_renewals(&self) -> u64 {
        self.options.renewal.as_ref().map_or(0, TokenRenewal::count).saturating_sub(self.renewals_before)
    }

    async fn send_until_served(
        &self,
        case: &str,
        request: &Request,
        cost: GatewayCost,
        policy: ThrottlingPolicy,
        record: &mut (impl FnMut(&mut Exchange) -> GatewayCount + Send),
    ) -> Result<Exchange, WireError> {
        let pace = &self.meter.pace;
        let mut attempts: u32 = 0;
        let (mut repeats, mut resets): (u32, u32) = (0, 0);
        let mut reuses = !self.closes_kept_connections.load(Ordering::Relaxed);
        let mut was_throttled = false;
        let mut waiting_since = None;
        // A connection that was broken off again: nobody listening after it is no better answer.
        let mut broken_off = None;
        let first = Instant::now();
        loop {
            let reservation = self.meter.reserve(cost).await?;
            self.meter.wait_for_turn().await;
            attempts = attempts.saturating_add(1);
            let alone = if was_throttled && attempts > CONCURRENT_ATTEMPTS {
                tokio::time::timeout(MAX_WAIT_FOR_OTHERS, self.exclusivity.write()).await.ok()
            } else {
                None
            };
            let beside_others = if alone.is_none() { Some(self.exclusivity.read().await) } else { None };
            // Measured from here: waiting for other requests is neither the target's time nor time in which it throttled.
            let (begun, sent) = (Timestamp::now(), Instant::now());
            let mut request = request.clone();
            // HTTP/2 forbids white space around the value of a header (RFC 9113, section 8.2.1), which a receiver over HTTP/1.1 removes.
            if self.speaks_http2.load(Ordering::Relaxed) {
                request.trim_headers();
            }
            let user_agent = request.header_value("User-Agent").unwrap_or_else(|| self.user_agent(case));
            // Recordings keep the first token, so that a renewal makes no other request of it.
            let renewal = self.options.renewal.as_ref();
            let renewed = renewal.map(|renewal| request.with_token(&renewal.first, &renewal.current()));
            let result = self.exchange(renewed.as_ref().unwrap_or(&request), &user_agent, reuses).await?;
            drop((alone, beside_others));
            let mut exchange =
                Exchange { index: 0, request, result, begun, elapsed: sent.elapsed(), user_agent };
            reservation.settle(record(&mut exchange));
            let mut is_throttled = false;
            match &exchange.result {
                Ok(response) if throttles(response, policy, attempts) => {
                    let wait = response.retry_after();
                    is_throttled = wait != Some(Duration::ZERO);
                    pace.note_throttled(sent, wait, Instant::now());
                }
                _ => pace.note_served(Instant::now()),
            }
            self.meter.note_connection(&exchange.result);
            let failure = TransientFailure::new(&exchange.result);
            let is_busy = matches!(failure, Some(TransientFailure::Busy | TransientFailure::Refused));
            let max_attempts = pace.max_attempts(self.options.attempts);
            let waited_since = waiting_since;
            match &exchange.result {
                Ok(response) if policy == ThrottlingPolicy::WaitOut && is_busy && attempts < max_attempts => {
                    // A growing wait, even if the service asks for none.
                    let wait = wait_after(response, attempts).max(MIN_WAIT.saturating_mul(attempts));
                    // Waiting for a turn counts as waiting.
                    let waited = waiting_since.get_or_insert_with(Instant::now).elapsed();
                    if waited.saturating_add(wait) <= self.options.longest_wait
                        && wait < self.meter.time_left()
                    {
                        was_throttled = response.status == 429;
                        tokio::time::sleep(wait).await;
                        continue;
                    }
                }
                _ => {
                    if let Some(failure) = failure
                        && self.may_repeat(failure, (repeats, resets), max_attempts, first).await
                    {
                        repeats = repeats.saturating_add(1);
                        resets = resets.saturating_add(failure.is_of_connection().into());
                        reuses &= !failure.is_of_connection();
                        if repeats > 1 && matches!(failure, TransientFailure::Disconnected) {
                            broken_off = Some(exchange);
                        }
                        continue;
                    }
                }
            }
            // What a kept connection did not bring and a new one did was about connections. Over HTTP/2 it was about a stream.
            let is_of_connection = failure.is_some_and(TransientFailure::is_of_connection);
            if repeats > 0 && !reuses && !is_of_connection && !self.speaks_http2.load(Ordering::Relaxed) {
                self.closes_kept_connections.store(true, Ordering::Relaxed);
            }
            // The last response of a request decides whether throttling ended it.
            if is_throttled {
                pace.note_given_up();
            }
            if is_busy && (waited_since.is_some() || attempts == max_attempts) {
                pace.note_wait(false, waited_since.unwrap_or(sent), Instant::now());
            } else if let Some(since) = waited_since.filter(|_| !is_busy && exchange.result.is_ok()) {
                pace.note_wait(true, since, Instant::now());
            }
            let broken_off = broken_off.filter(|_| matches!(failure, Some(TransientFailure::Unreachable)));
            return Ok(broken_off.unwrap_or(exchange));
        }
    }

    /// The status of a response to a request that counts nowhere: whether there is a service.
    ///
    /// # Errors
    /// When there is no response.
    pub async fn status(&self, case: &str, request: &Request) -> Result<u16, WireFailure> {
        let request = self.with_extra_headers(request);
        let built = self.build(&request, &self.user_agent(case), &self.client)?;
        self.client.execute(built).await.map(|response| response.status().as_u16()).map_err(failure)
    }

    /// The request as it is sent, and kept but for a renewed token.
    pub fn with_extra_headers(&self, request: &Request) -> Request {
        let add =
            |request: Request, header: &ExtraHeader| request.header(&header.name, header.value.expose());
        self.options.headers.iter().fold(request.clone(), add)
    }

    /// Waits before a request is sent again that failed in this way, after so many repeats since its first attempt, some of them because
    /// a connection was broken off. False if it is not sent again.
    async fn may_repeat(
        &self,
        failure: TransientFailure,
        (repeats, resets): (u32, u32),
        max_attempts: u32,
        first: Instant,
    ) -> bool {
        use TransientFailure::{Busy, Disconnected, Refused, ServerError, Unreachable, WrongConnection};
        let pause = match failure {
            Refused if repeats == 0 || repeats.saturating_add(1) < max_attempts => {
                MIN_WAIT.saturating_mul(repeats)
            }
            Unreachable | Disconnected | WrongConnection if repeats == 0 => Duration::ZERO,
            Unreachable if self.meter.should_reconnect() => RECONNECT,
            // A restarting target may accept another one before nobody listens. What ends it each time is not sent for long.
            Disconnected if resets < 2 && self.is_restarting(first).await => RECONNECT,
            // What a throttled request waits, and what sends it again after a server error, is decided elsewhere.
            Busy | ServerError | Refused | Unreachable | Disconnected | WrongConnection => return false,
        };
        tokio::time::sleep(pause).await;
        true
    }

    /// Whether nobody listens now, or did not at some time since the first attempt. Nothing is sent; behind a proxy it is unknown.
    async fn is_restarting(&self, first: Instant) -> bool {
        tokio::time::sleep(STOPPING).await;
        let is_gone = async {
            let host = self.base.host_str()?.trim_matches(['[', ']']);
            let connected = TcpStream::connect((host, self.base.port_or_known_default()?));
            let refused = tokio::time::timeout(RECONNECT, connected).await.ok()?.err()?;
            Some(refused.kind() == ErrorKind::ConnectionRefused)
        };
        let is_direct = self.options.proxy_of(&self.base).is_none();
        self.meter.restarted_since(first)
            || is_direct && first.elapsed() < RECONNECT_WINDOW && is_gone.await == Some(true)
    }

    async fn exchange(
        &self,
        request: &Request,
        user_agent: &str,
        reuses: bool,
    ) -> Result<Result<Response, WireFailure>, WireError> {
        let new = async || self.options.client(&self.base, 0);
        let client = if reuses { &self.client } else { self.without_reuse.get_or_try_init(new).await? };
        let built = match self.build(request, user_agent, client) {
            Ok(built) => built,
            Err(failure) => return Ok(Err(failure)),
        };
        self.meter.take_bytes(request.length())?;
        let response = match client.execute(built).await {
            Ok(response) => response,
            Err(error) => {
                if h2_error(&error).is_some() {
                    self.speaks_http2.store(true, Ordering::Relaxed);
                }
                return Ok(Err(failure(error)));
            }
        };
        self.speaks_http2.store(response.version() == Version::HTTP_2, Ordering::Relaxed);
        let lengths = response.headers().iter().map(|(name, value)| [name.as_str().len(), value.len()]);
        let length = lengths.flatten().fold(0, usize::saturating_add);
        self.meter.take_bytes(length)?;
        if length > HEADER_LIMIT {
            return Ok(Err(too_large(format!("has more than {HEADER_LIMIT} bytes of headers"))));
        }
        let received =
            receive(response, self.options.body_limit, |bytes| self.meter.take_bytes(bytes)).await?;
        let limit = self.options.value_limit;
        Ok(received.and_then(|ReceivedResponse { status, headers, body }| {
            if json_values(&body) > limit {
                return Err(too_large(format!("may have more than {limit} JSON values")));
            }
            let header =
                |(name, value): (&HeaderName, &HeaderValue)| (name.to_string(), value.as_bytes().to_vec());
            Ok(Response::new(status.as_u16(), headers.iter().map(header).collect(), body))
        }))
    }

    /// Says which run and case sent a request, and its number in the run, so that a provider finds it in their logs.
    fn user_agent(&self, case: &str) -> String {
        const MAX_CASE: usize = 120;
        let is_plain = |c: &char| matches!(c, ' '..='~') && !"()\\;".contains(*c);
        let case: String = case.chars().take(MAX_CASE).map(|c| if is_plain(&c) { c } else { '_' }).collect();
        let number = self.sent.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        format!("{PRODUCT} (run {}; case {case}; {number})", self.run)
    }

    fn build(
        &self,
        request: &Request,
        user_agent: &str,
        client: &reqwest::Client,
    ) -> Result<reqwest::Request, WireFailure> {
        let wrong = |detail: String| WireFailure { kind: FailureKind::Request, detail };
        let base = self.base.as_str().trim_end_matches('/');
        let url = Url::parse(&format!("{base}{}", request.target()));
        let url = url.map_err(|error| wrong(error.to_string()))?;
        // What stands in a report, such as `@other.example/`, may make another host of the base URL; it would get the token.
        let own = |url: &Url| (url.origin(), url.username().to_owned(), url.password().map(str::to_owned));
        if own(&url) != own(&self.base) {
            return Err(wrong("the request leads away from the base URL".to_owned()));
        }
        let method = Method::from_bytes(request.method_name().as_bytes());
        let method = method.map_err(|error| wrong(error.to_string()))?;
        let mut builder = client.request(method, url);
        if request.header_value("User-Agent").is_none() {
            builder = builder.header(USER_AGENT, user_agent);
        }
        for (name, value) in request.headers() {
            builder = builder.header(name.as_str(), value.as_slice());
        }
        if let Some(body) = request.body_bytes() {
            builder = builder.body(body);
        }
        builder.build().map_err(|error| wrong(error.without_url().to_string()))
    }
}

/// Whether a response is within the default limits of bytes and values.
pub fn is_small_enough(body: &[u8]) -> bool {
    let WireOptions { body_limit, value_limit, .. } = WireOptions::default();
    body.len() <= body_limit && json_values(body) <= value_limit
}

/// Upper bound of the number of values in a JSON body, which counts those in texts too. They are counted before parsing, because a
/// parsed value takes about a hundred bytes: a body with a value every two bytes would take fifty times its length in memory.
fn json_values(body: &[u8]) -> usize {
    match body.trim_ascii_start() {
        [b'{' | b'[', ..] => body.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count(),
        _ => 0,
    }
}

/// The wait that a response 429 or 503 asks for, or a default.
fn wait_after(response: &Response, attempts: u32) -> Duration {
    response.retry_after().unwrap_or(match response.status {
        503 => UNAVAILABLE_WAIT.saturating_mul(attempts).min(DEFAULT_WAIT),
        _ => DEFAULT_WAIT,
    })
}

/// Whether a response asks for a lower rate. 503 may be for a shortage: it counts where it is waited out, once a request.
fn throttles(response: &Response, policy: ThrottlingPolicy, attempts: u32) -> bool {
    match response.status {
        429 => true,
        503 => policy == ThrottlingPolicy::WaitOut && attempts == 1,
        _ => false,
    }
}

pub(super) fn too_large(what: String) -> WireFailure {
    let detail = format!("the response {what}, which is too large to judge");
    WireFailure { kind: FailureKind::TooLarge, detail }
}

/// Without the URL, which contains the token.
pub fn failure(error: reqwest::Error) -> WireFailure {
    let error = error.without_url();
    let detail = with_causes(&error);
    if let Some((kind, words)) = problem::of_connection(&error) {
        return WireFailure { kind, detail: format!("{words} ({detail})") };
    }
    let kind = if error.is_timeout() {
        FailureKind::Timeout
    } else if error.is_connect() {
        FailureKind::Connect
    } else if is_refused(&error) {
        FailureKind::Refused
    } else {
        FailureKind::Broken
    };
    WireFailure { kind, detail }
}

/// Whether a request certainly was not handled: not sent, or its stream refused or ended unprocessed (RFC 9113, 8.7 and 6.8).
fn is_refused(error: &reqwest::Error) -> bool {
    let is_unhandled = |error: &h2::Error| {
        error.is_remote() && (error.is_go_away() || error.reason() == Some(h2::Reason::REFUSED_STREAM))
    };
    let mut causes = causes(error);
    h2_error(error).is_some_and(is_unhandled)
        || causes.any(|cause| cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_canceled))
}

fn h2_error(error: &reqwest::Error) -> Option<&h2::Error> {
    causes(error).find_map(|cause| cause.downcast_ref())
}
