//! Starts and stops a server.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dropshot::{
    ApiDescription, BuildError, ConfigDropshot, ConfigTls, HandlerTaskMode, HttpServer, ServerBuilder,
    ServerContext,
};
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    admin::{self, Admin},
    connections::{self, Connections},
    domain::{clock::Clock, service::Service},
    edge::{
        admission::{
            control::AdmissionControl,
            rate_limit::{RateLimits, RateRule},
        },
        reading::body,
        serve::Context,
        tls::Identity,
    },
    handlers, log,
    metrics::Metrics,
    proxies::TrustedProxies,
    retention,
    store::Store,
};

/// The configuration of a server.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address to listen on; port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// The storage.
    pub store: Arc<Store>,
    /// Maximum time for receiving a request body.
    pub body_timeout: Duration,
    /// Maximum time for which a connection may be idle, or not read a response.
    pub connection_timeout: Duration,
    /// Certificate and key. Without them the server speaks plain HTTP, and only with this machine and declared proxies.
    pub tls: Option<Identity>,
    /// Proxies whose forwarding headers are trusted.
    pub trusted_proxies: TrustedProxies,
    /// Rate limits of tokens and addresses.
    pub rates: Vec<RateRule>,
    /// Maximum number of concurrent requests; more get 503. It also bounds memory: for each request a body of the maximum size
    /// and half a MiB of unread responses.
    pub max_in_flight: usize,
    /// The operator's address, for health, readiness and metrics.
    pub admin: Option<SocketAddr>,
    /// How long an extraction is kept under its request id; `None` for no limit.
    pub request_id_retention: Option<Duration>,
}

impl Config {
    /// Default maximum number of concurrent requests, each of which takes milliseconds.
    pub const MAX_IN_FLIGHT: usize = 256;

    /// Default timeout of connections, the same as Dropshot's own for request heads over HTTP/1.1.
    pub const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);

    /// Default number of days for which an extraction is kept under its request id, enough for an interrupted caller to retry.
    pub const REQUEST_ID_RETENTION_DAYS: u32 = 7;

    /// Serves `store` on a free port of the loopback interface.
    #[must_use]
    pub fn loopback(store: Arc<Store>) -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            store,
            body_timeout: Duration::from_secs(15),
            connection_timeout: Self::CONNECTION_TIMEOUT,
            tls: None,
            trusted_proxies: TrustedProxies::default(),
            rates: Vec::new(),
            max_in_flight: Self::MAX_IN_FLIGHT,
            admin: None,
            request_id_retention: None,
        }
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be bound.
    #[error("cannot listen on {address}: {reason}; choose another address or stop the program that uses it")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The endpoints conflict with each other. The generator prevents that.
    #[error("endpoints conflict with each other: {0}; this is a bug, please report it")]
    Api(String),
}

/// Bytes of unread responses per concurrent request. A full page of instances takes less.
const RESPONSE_BYTES: usize = 512 << 10;

/// Bytes of bodies, and of responses, that one connection may always hold if they are free: over HTTP/2 a caller normally has
/// several requests in flight.
const CONNECTION_BYTES: usize = 4 << 20;

/// A running server. It stops when it is dropped, without waiting for requests in flight.
pub struct RunningServer {
    server: HttpServer<Context>,
    admin: Option<HttpServer<Admin>>,
    /// The stall monitor and retention, which end when this is dropped.
    tasks: JoinSet<()>,
    draining: Arc<AtomicBool>,
}

/// Starts a server on the current Tokio runtime.
///
/// # Panics
/// If called outside a Tokio runtime.
pub fn start(config: Config) -> Result<RunningServer, StartError> {
    let api = handlers::api().map_err(StartError::Api)?;
    serve_api(api, config, Clock::system())
}

/// Starts a server of these endpoints. Only the sandbox passes other pages, and a clock that can be set.
pub(crate) fn serve_api(
    api: ApiDescription<Context>,
    config: Config,
    clock: Clock,
) -> Result<RunningServer, StartError> {
    let (store, proxies) = (config.store, config.trusted_proxies);
    let metrics = Arc::new(Metrics::new(sallyport_contract::operations()));
    let draining = Arc::new(AtomicBool::new(false));
    let limit = |each: usize| {
        let total = config.max_in_flight.saturating_mul(each);
        connections::Limit { total, of_connection: (total / 32).max(CONNECTION_BYTES).min(total) }
    };
    let (bodies, responses) = (limit(body::MAX_BYTES), limit(RESPONSE_BYTES));
    let connections = Arc::new(Connections::new(bodies, responses, proxies.clone()));
    let admission = AdmissionControl {
        proxies,
        is_encrypted: config.tls.is_some(),
        rate_limits: RateLimits::new(config.rates),
        work: Semaphore::new(config.max_in_flight.min(Semaphore::MAX_PERMITS)),
        connections: Arc::clone(&connections),
        body_timeout: config.body_timeout,
        metrics: Arc::clone(&metrics),
    };
    let observer = Some(Arc::clone(&metrics) as _);
    let service = Service { repository: Arc::clone(&store) as _, clock: clock.clone(), observer };
    let context = Context { service, admission: Arc::new(admission) };
    let mut tasks = JoinSet::new();
    if let Some(kept_for) = config.request_id_retention {
        tasks.spawn(retention::retain(Arc::clone(&store), kept_for, clock));
    }
    // The operator's address first: if it is in use, no request has been accepted yet.
    let admin = config
        .admin
        .map(|address| {
            let api = admin::api().map_err(StartError::Api)?;
            let (metrics, connections) = (Arc::clone(&metrics), Arc::clone(&connections));
            let context = Admin { metrics, store, connections, draining: Arc::clone(&draining) };
            serve(api, context, address, None)
        })
        .transpose()?;
    let server = serve(api, context, config.listen, config.tls.as_ref().map(Identity::config))?;
    let addresses = [Some(server.local_addr()), admin.as_ref().map(HttpServer::local_addr)];
    let ports: Vec<_> = addresses.iter().flatten().map(SocketAddr::port).collect();
    // rustls reads little at once.
    let plain = ports.get(usize::from(server.using_tls())..).unwrap_or_default();
    if let Err(error) = connections::limit_receive_buffers(plain) {
        tracing::warn!(%error, "cannot limit the receive buffers of connections");
    }
    let report = move |open, closed| metrics.connections_checked(open, closed);
    tasks.spawn(connections::monitor(connections, ports, config.connection_timeout, report));
    Ok(RunningServer { server, admin, tasks, draining })
}

impl RunningServer {
    /// The address that the server listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// The operator's address, if there is one.
    #[must_use]
    pub fn admin_address(&self) -> Option<SocketAddr> {
        self.admin.as_ref().map(HttpServer::local_addr)
    }

    /// The base URL for callers, without a trailing slash. Over HTTPS they may have to replace the address by a host name of the
    /// certificate.
    #[must_use]
    pub fn base_url(&self) -> String {
        let scheme = if self.server.using_tls() { "https" } else { "http" };
        format!("{scheme}://{}", self.address())
    }

    /// Uses another certificate for new connections; open connections keep theirs. Returns `false` if the server speaks plain
    /// HTTP.
    pub async fn renew(&self, identity: &Identity) -> bool {
        self.server.refresh_tls(&identity.config()).await.is_ok()
    }

    /// Reports that the server is not ready, so that load balancers stop sending calls. Calls are still served.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Stops accepting calls and waits for those in flight. Returns `false` if some did not end within `deadline`; the runtime
    /// drops them. The operator's address is served until then.
    pub async fn close(self, deadline: Duration) -> bool {
        self.drain();
        let Self { server, admin, tasks, draining: _ } = self;
        let closed = matches!(tokio::time::timeout(deadline, server.close()).await, Ok(Ok(())));
        drop((admin, tasks));
        closed
    }
}

fn serve<C: ServerContext>(
    api: ApiDescription<C>,
    context: C,
    listen: SocketAddr,
    tls: Option<ConfigTls>,
) -> Result<HttpServer<C>, StartError> {
    let dropshot = ConfigDropshot {
        bind_address: listen,
        default_request_body_max_bytes: body::MAX_BYTES,
        // Saves a task per request. A handler may be dropped anywhere: it only reads, or writes in one transaction on the store's
        // own thread.
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    ServerBuilder::new(api, context, log::logger()).config(dropshot).tls(tls).start().map_err(|error| {
        match error {
            BuildError::BindError { address, error } => StartError::Listen { address, reason: error },
            BuildError::SystemError { error, .. } => StartError::Listen { address: listen, reason: error },
            other => StartError::Api(other.to_string()),
        }
    })
}

impl std::fmt::Debug for RunningServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunningServer").field("address", &self.address()).finish()
    }
}
