//! The settings of `server run`: from flags, or else from environment variables.

use std::{
    env,
    ffi::OsString,
    net::{IpAddr, SocketAddr},
    num::NonZero,
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use clap::{Args as _, ValueEnum};
use sallyport_server::{
    Config,
    edge::{
        admission::rate_limit::RateRule,
        tls::{Identity, TlsError},
    },
    log,
    names::nearest,
    proxies::ProxyNet,
    sandbox::SandboxTokens,
    store::Store,
};
use tracing_subscriber::EnvFilter;

use super::Failure;

/// The settings of a server.
#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Serve this database, a file or a postgres:// URL [default: temporary sample data]
    #[arg(long, value_name = "FILE|URL", env = "SALLYPORT_DB", hide_env_values = true)]
    pub(super) db: Option<OsString>,
    /// Choose the sandbox's tokens: `random`, `fixed` for the same ones each time, or a seed such as 7 for others [default: random]
    ///
    /// The sandbox is what runs without a database. Everybody who has this program can know tokens that are not random.
    #[arg(long, value_name = "TOKENS", env = "SALLYPORT_SANDBOX_TOKENS", conflicts_with = "db")]
    pub(super) sandbox_tokens: Option<SandboxTokens>,
    /// Print what the sandbox has in this format, its tokens and commands to paste included [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", env = "SALLYPORT_SANDBOX_OUTPUT", conflicts_with = "db")]
    pub(super) sandbox_output: Option<SandboxOutput>,
    /// Listen on this address; port 0 chooses a free port.
    #[arg(long, value_name = "ADDR", env = "SALLYPORT_LISTEN", default_value = "127.0.0.1:8080",
        value_parser = socket_address)]
    listen: SocketAddr,
    /// Serve the operator's pages /healthz, /readyz, /metrics and /docs on this address, without a token [default: none]
    #[arg(long, value_name = "ADDR", env = "SALLYPORT_ADMIN", value_parser = socket_address)]
    admin: Option<SocketAddr>,
    /// Serve HTTPS with this certificate chain in PEM format, the server's own first. SIGHUP reloads it and its key.
    #[arg(long, value_name = "FILE", env = "SALLYPORT_TLS_CERT", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Read the certificate's private key from this PEM file: PKCS#8, PKCS#1 or SEC1, not encrypted.
    #[arg(long, value_name = "FILE", env = "SALLYPORT_TLS_KEY", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Trust the X-Forwarded-For header of these proxies for the caller's address, for example 10.0.0.0/8.
    #[arg(long, value_name = "CIDR", env = "SALLYPORT_TRUSTED_PROXIES", value_delimiter = ',')]
    trusted_proxies: Vec<ProxyNet>,
    /// Limit the rate of requests of each token or address: `OPERATION:token|address:NUMBER/s|min|h[+BURST]`, for example
    /// `listStaticGroups:token:10/s+20,*:address:600/min` [default: no limit]
    #[arg(long, value_name = "RATE", env = "SALLYPORT_RATE", value_delimiter = ',')]
    rate: Vec<RateRule>,
    /// Work on at most this many requests at the same time; more get HTTP 503.
    #[arg(long, value_name = "NUMBER", env = "SALLYPORT_MAX_IN_FLIGHT", default_value = Config::MAX_IN_FLIGHT.to_string())]
    max_in_flight: NonZero<usize>,
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
    #[arg(long, value_enum, value_name = "FORMAT", env = "SALLYPORT_LOG_FORMAT", default_value = "human")]
    pub(super) log_format: log::Format,
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

impl Arguments {
    /// Loads certificate and key, if there are any.
    pub(super) fn identity(&self) -> Result<Option<Identity>, TlsError> {
        let files = self.tls_cert.as_deref().zip(self.tls_key.as_deref());
        files.map(|(certificates, key)| Identity::load(certificates, key)).transpose()
    }

    /// Checks that no configuration file is expected to be read, that tokens are not sent over other networks in plain text, and that
    /// the addresses differ.
    pub(super) fn check(&self) -> Result<(), Failure> {
        let Self { listen, admin, tls_cert, trusted_proxies, .. } = self;
        if env::var_os("SALLYPORT_CONFIG").is_some() {
            let line = "SALLYPORT_CONFIG: configuration files are not read any more; set the variables of \
                        `server run --help`";
            return Err(Failure::Usage(line.to_owned()));
        }
        if tls_cert.is_none() && !listen.ip().is_loopback() && trusted_proxies.is_empty() {
            return Err(Failure::Usage(format!(
                "`{listen}` is not a loopback address, and tokens must not be sent over plain HTTP; set tls-cert and \
                 tls-key, or put an HTTPS proxy in front and declare it with trusted-proxies"
            )));
        }
        if let Some(admin) = admin.filter(|admin| overlap(*admin, *listen)) {
            return Err(Failure::Usage(format!(
                "`listen` and `admin` both use port {}; choose another port for `admin`",
                admin.port()
            )));
        }
        Ok(())
    }

    /// What may be a mistake.
    pub(super) fn warnings(&self) -> Vec<String> {
        let admin = self.admin.filter(|admin| !is_private(admin.ip())).map(|admin| {
            format!(
                "`admin`: {admin} may be reached from other networks, and its pages require no token; choose a loopback or \
                 private address, or keep callers away with a firewall"
            )
        });
        admin.into_iter().chain(misspelled()).collect()
    }

    /// The configuration of a server on `store`.
    pub(super) fn config(&self, store: Arc<Store>, tls: Option<Identity>) -> Config {
        let retention_days = self.request_id_retention;
        Config {
            listen: self.listen,
            store,
            body_timeout: seconds(self.body_timeout),
            connection_timeout: seconds(self.connection_timeout),
            tls,
            trusted_proxies: self.trusted_proxies.iter().copied().collect(),
            rates: self.rate.clone(),
            max_in_flight: self.max_in_flight.get(),
            admin: self.admin,
            request_id_retention: (retention_days > 0).then(|| Duration::from_hours(24) * retention_days),
        }
    }
}

/// Whether two addresses cannot both be listened on.
fn overlap(one: SocketAddr, other: SocketAddr) -> bool {
    let has_all = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() != 0 && one.port() == other.port() && (has_all || one.ip() == other.ip())
}

fn is_private(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
    }
}

/// Variables whose names look like misspelled ones of settings. One environment may serve several programs, so others are left
/// alone.
fn misspelled() -> Vec<String> {
    const PREFIX: &str = "SALLYPORT_";
    let command = Arguments::augment_args(clap::Command::new("run"));
    let known = command.get_arguments().filter_map(|flag| flag.get_env()?.to_str()?.strip_prefix(PREFIX));
    let known: Vec<_> = known.collect();
    let warning = |name: OsString| {
        let name = name.into_string().ok()?;
        let rest = name.strip_prefix(PREFIX).filter(|rest| !known.contains(rest))?;
        let near = nearest(rest, &known)?;
        Some(format!("unknown environment variable {name}, which is ignored; did you mean {PREFIX}{near}?"))
    };
    let mut warnings: Vec<_> = env::vars_os().filter_map(|(name, _)| warning(name)).collect();
    warnings.sort();
    warnings
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
