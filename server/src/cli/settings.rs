//! The settings of `server run`: from flags, or else from environment variables.

use std::{
    ffi::OsString,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use clap::ValueEnum;
use sallyport_server::{
    Config,
    edge::{
        admission::rate_limit::RateRule,
        tls::{Identity, TlsError},
    },
    proxies::ProxyNet,
    sandbox::SandboxTokens,
    store::{Location, Store},
};
use tracing_subscriber::EnvFilter;

use super::{Failure, location};

/// The settings of a server.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Serve this database, a file or a postgres:// URL [default: temporary sample data]
    #[arg(long, value_name = "FILE|URL", env = "SALLYPORT_DB", hide_env_values = true)]
    db: Option<OsString>,
    /// Choose the sandbox's tokens: `random`, `fixed` for the same ones each time, or a seed such as 7 for others [default: random]
    ///
    /// The sandbox is what runs without a database. Everybody who has this program can know tokens that are not random.
    #[arg(long, value_name = "TOKENS", env = "SALLYPORT_SANDBOX_TOKENS", conflicts_with = "db")]
    sandbox_tokens: Option<SandboxTokens>,
    /// Print what the sandbox has in this format, its tokens and commands to paste included [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", env = "SALLYPORT_SANDBOX_OUTPUT", conflicts_with = "db")]
    sandbox_output: Option<SandboxOutput>,
    /// Listen on this address; port 0 chooses a free port.
    #[arg(long, value_name = "ADDR", env = "SALLYPORT_LISTEN", default_value = "127.0.0.1:8080",
        value_parser = socket_address)]
    listen: SocketAddr,
    /// Serve the operator's pages /healthz, /readyz, /metrics and /docs on this address, without a token [default: none]
    #[arg(long, value_name = "ADDR", env = "SALLYPORT_ADMIN", value_parser = socket_address)]
    admin: Option<SocketAddr>,
    /// Serve HTTPS with this certificate chain in PEM format, the server's own first. SIGHUP reloads it and its key.
    #[arg(long, value_name = "FILE", env = "SALLYPORT_TLS_CERT")]
    tls_cert: Option<PathBuf>,
    /// Read the certificate's private key from this PEM file: PKCS#8, PKCS#1 or SEC1, not encrypted.
    #[arg(long, value_name = "FILE", env = "SALLYPORT_TLS_KEY")]
    tls_key: Option<PathBuf>,
    /// Trust the X-Forwarded-For header of these proxies for the caller's address, for example 10.0.0.0/8.
    #[arg(long, value_name = "CIDR", env = "SALLYPORT_TRUSTED_PROXIES", value_delimiter = ',')]
    trusted_proxies: Vec<ProxyNet>,
    /// Limit the rate of requests of each token or address: `OPERATION:token|address:NUMBER/s|min|h[+BURST]`, for example
    /// `listStaticGroups:token:10/s+20,*:address:600/min` [default: no limit]
    #[arg(long, value_name = "RATE", env = "SALLYPORT_RATE", value_delimiter = ',')]
    rate: Vec<RateRule>,
    /// Work on at most this many requests at the same time; more get HTTP 503.
    #[arg(long, value_name = "NUMBER", env = "SALLYPORT_MAX_IN_FLIGHT", default_value_t = Config::MAX_IN_FLIGHT)]
    max_in_flight: usize,
    /// Reject a request whose body is not received within this time, in seconds.
    #[arg(long, value_name = "SECONDS", env = "SALLYPORT_BODY_TIMEOUT", default_value_t = 15)]
    body_timeout: u32,
    /// Close a connection that is idle, or whose client does not read its response, after this time, in seconds, at least 1.
    #[arg(long, value_name = "SECONDS", env = "SALLYPORT_CONNECTION_TIMEOUT",
        default_value_t = Config::CONNECTION_TIMEOUT.as_secs() as u32, value_parser = clap::value_parser!(u32).range(1..))]
    connection_timeout: u32,
    /// Return the same gateways for a repeated request id for at least this time, in days; 0 means forever.
    #[arg(long, value_name = "DAYS", env = "SALLYPORT_REQUEST_ID_RETENTION",
        default_value_t = Config::REQUEST_ID_RETENTION_DAYS)]
    request_id_retention: u32,
    /// Accept requests for this time after a signal, in seconds, so that load balancers see /readyz fail first.
    #[arg(long, value_name = "SECONDS", env = "SALLYPORT_DRAIN_DELAY", default_value_t = 0)]
    pub(super) drain_delay: u32,
    /// Wait at most this long after that for requests under way to finish, in seconds.
    #[arg(long, value_name = "SECONDS", env = "SALLYPORT_DRAIN_TIMEOUT", default_value_t = 10)]
    pub(super) drain_timeout: u32,
    /// Log these events on standard error, for example `info` or `sallyport_server=debug`.
    ///
    /// Events of other crates are not logged, since their texts can hold tokens; of Dropshot, messages and numbers are.
    #[arg(long, value_name = "FILTER", env = "SALLYPORT_LOG", default_value = "info,dropshot=warn")]
    pub(super) log: EnvFilter,
    /// Write the log in this format.
    #[arg(long, value_enum, value_name = "FORMAT", env = "SALLYPORT_LOG_FORMAT", default_value_t = LogFormat::Human)]
    pub(super) log_format: LogFormat,
}

/// Format of the log.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum LogFormat {
    /// For people.
    Human,
    /// One JSON object per line.
    Json,
}

/// Format of what a sandbox prints.
#[derive(Clone, Copy, Default, ValueEnum)]
pub(super) enum SandboxOutput {
    /// For people.
    #[default]
    Text,
    /// One line with one JSON object, once the sandbox listens.
    Json,
}

pub(super) enum Source {
    /// A database that exists.
    Database(Location),
    /// Sample data in a temporary one.
    Sandbox { tokens: SandboxTokens, output: SandboxOutput },
}

impl Source {
    fn new(arguments: &Arguments) -> Result<Self, Failure> {
        let Arguments { db, sandbox_tokens, sandbox_output, .. } = arguments;
        let Some(database) = db else {
            let (tokens, output) = (sandbox_tokens.unwrap_or_default(), sandbox_output.unwrap_or_default());
            return Ok(Self::Sandbox { tokens, output });
        };
        Ok(Self::Database(location(database)?))
    }
}

/// Validated settings.
pub(super) struct Settings {
    pub(super) arguments: Arguments,
    pub(super) source: Source,
    pub(super) tls: Option<TlsFiles>,
}

/// Certificate and key with the paths they were loaded from.
pub(super) struct TlsFiles {
    certificates: PathBuf,
    key: PathBuf,
    identity: Identity,
}

impl Settings {
    /// Checks that the arguments are consistent, and loads the certificate.
    pub(super) fn new(arguments: Arguments) -> Result<Self, Failure> {
        let Arguments { listen, tls_cert, tls_key, trusted_proxies, max_in_flight, .. } = &arguments;
        let tls = match (tls_cert, tls_key) {
            (Some(certificates), Some(key)) => Some(TlsFiles::load(certificates, key)?),
            (None, None) => None,
            (Some(_), None) => return Err(usage("missing private key of the certificate; set tls-key")),
            (None, Some(_)) => return Err(usage("missing certificate of the private key; set tls-cert")),
        };
        if tls.is_none() && !listen.ip().is_loopback() && trusted_proxies.is_empty() {
            return Err(usage(&format!(
                "`{listen}` is not a loopback address, and tokens must not be sent over plain HTTP; set tls-cert and \
                 tls-key, or put an HTTPS proxy in front and declare it with trusted-proxies"
            )));
        }
        if *max_in_flight == 0 {
            return Err(usage("`max-in-flight`: expected an integer of at least 1, found `0`"));
        }
        Ok(Self { source: Source::new(&arguments)?, tls, arguments })
    }

    /// The configuration of a server on `store`.
    pub(super) fn config(&self, store: Arc<dyn Store>) -> Config {
        let arguments = &self.arguments;
        let retention_days = arguments.request_id_retention;
        Config {
            listen: arguments.listen,
            store,
            body_timeout: seconds(arguments.body_timeout),
            connection_timeout: seconds(arguments.connection_timeout),
            tls: self.tls.as_ref().map(|files| files.identity.clone()),
            trusted_proxies: arguments.trusted_proxies.iter().copied().collect(),
            rates: arguments.rate.clone(),
            max_in_flight: arguments.max_in_flight,
            admin: arguments.admin,
            request_id_retention: (retention_days > 0).then(|| Duration::from_hours(24) * retention_days),
        }
    }
}

impl TlsFiles {
    fn load(certificates: &Path, key: &Path) -> Result<Self, Failure> {
        let identity = Identity::load(certificates, key)?;
        Ok(Self { certificates: certificates.to_owned(), key: key.to_owned(), identity })
    }

    /// Loads the files again.
    pub(super) fn reload(&self) -> Result<Identity, TlsError> {
        Identity::load(&self.certificates, &self.key)
    }
}

/// Parses an address to listen on.
fn socket_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| {
        "expected an IP address with a port from 0 to 65535, for example 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080"
    })
}

pub(super) fn seconds(number: u32) -> Duration {
    Duration::from_secs(number.into())
}

fn usage(line: &str) -> Failure {
    Failure::Usage(line.to_owned())
}
