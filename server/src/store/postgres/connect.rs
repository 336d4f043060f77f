//! Connects to a PostgreSQL server: URL, TLS, and a pool of connections.

use std::{fmt, net::IpAddr, str::FromStr, sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio_postgres::{
    Config, NoTls,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::{LocationError, Result, StoreError};

/// A database on a PostgreSQL server. `Display` and `Debug` leave out the password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl(Box<Config>);

/// Limits on the use of the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum number of connections.
    pub connections: usize,
    /// Maximum time to wait for a free connection.
    pub wait: Duration,
    /// Maximum time of a statement of a request. Imports, exports and migrations may take longer.
    pub statement: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        // More than a few connections for each core would only wait inside the database.
        let cores = std::thread::available_parallelism().map_or(4, std::num::NonZero::get);
        Self {
            connections: (4 * cores).clamp(8, 64),
            wait: Duration::from_secs(2),
            statement: Duration::from_secs(5),
        }
    }
}

impl Limits {
    /// Maximum time of all statements of a request on this side. The database ends a statement before that, if its process runs.
    pub(super) fn response(self) -> Duration {
        self.statement.saturating_add(CONNECT_TIMEOUT)
    }
}

/// Maximum time to connect, and to get a response beyond the time of a statement.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum time without an acknowledgement of sent data.
const NETWORK_TIMEOUT: Duration = Duration::from_secs(10);

impl PostgresUrl {
    /// The schemes of a URL of a PostgreSQL server.
    pub(in crate::store) const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

    /// A pool of connections, which are opened on demand.
    pub(super) fn pool(&self, limits: Limits) -> Result<Pool> {
        let mut config = self.0.as_ref().clone();
        config.options(options(config.get_options(), limits));
        config.application_name(config.get_application_name().unwrap_or("sallyport").to_owned());
        config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(NETWORK_TIMEOUT);
        if config.get_ssl_mode() == SslMode::Prefer {
            // An attacker on the network could downgrade "prefer" to "disable".
            config.ssl_mode(if self.is_local() { SslMode::Disable } else { SslMode::Require });
        }
        let manage = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = match config.get_ssl_mode() {
            SslMode::Disable => Manager::from_config(config, NoTls, manage),
            _ => Manager::from_config(config, MakeRustlsConnect::new(tls()?), manage),
        };
        Pool::builder(manager)
            .max_size(limits.connections)
            .wait_timeout(Some(limits.wait))
            .create_timeout(Some(CONNECT_TIMEOUT))
            .recycle_timeout(Some(CONNECT_TIMEOUT))
            .runtime(Runtime::Tokio1)
            .build()
            .map_err(|error| StoreError::Internal(error.to_string()))
    }

    /// Whether every server is on this machine. Both `host` and `hostaddr`, the address that is connected to, must be local.
    fn is_local(&self) -> bool {
        let is_local = |host: &Host| match host {
            Host::Unix(_) => true,
            Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        };
        self.0.get_hosts().iter().all(is_local) && self.0.get_hostaddrs().iter().all(IpAddr::is_loopback)
    }
}

impl FromStr for PostgresUrl {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The parser takes what follows the first `@` for a host, so that the rest of a password would be shown.
        if text.matches('@').count() > 1 {
            return Err(LocationError("a URL with more than one `@` (in the password it is written as %40)"));
        }
        // The parser's message may quote parts of the text. It also accepts the `key=value` form.
        let config: Config = Some(text)
            .filter(|text| Self::SCHEMES.iter().any(|scheme| text.starts_with(scheme)))
            .and_then(|text| text.parse().ok())
            .ok_or(LocationError(
                "a URL with a part that cannot be read (a special character of the password is written as % and two \
                 hexadecimal digits, `@` as %40)",
            ))?;
        if config.get_hosts().is_empty() {
            return Err(LocationError("a URL without host"));
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(LocationError("a URL without database name after the host"));
        }
        Ok(Self(Box::new(config)))
    }
}

/// A URL that can be used again, once the password is added.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::SCHEMES[0])?;
        if let Some(user) = self.0.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.0.get_ports();
        for (place, host) in self.0.get_hosts().iter().enumerate() {
            f.write_str(if place == 0 { "" } else { "," })?;
            match host {
                Host::Tcp(name) if name.contains(':') => write!(f, "[{name}]")?,
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(path) => f.write_str(&path.to_string_lossy().replace('/', "%2F"))?,
            }
            // One port is for all hosts.
            let port = ports.get(place).or(ports.first()).copied().unwrap_or(5432);
            write!(f, ":{port}")?;
        }
        write!(f, "/{}", self.0.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

/// Settings of each connection. Every statement is written for an index seek, so a generic plan is best, and stale statistics must
/// not turn a seek into a scan.
fn options(given: Option<&str>, limits: Limits) -> String {
    format!(
        "{} -c statement_timeout={} -c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off",
        given.unwrap_or_default(),
        limits.statement.as_millis()
    )
}

/// Certificates are checked against those that the system trusts, or those of `SSL_CERT_FILE`.
fn tls() -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let found = rustls_native_certs::load_native_certs();
    if roots.add_parsable_certificates(found.certs).0 == 0 {
        let reason = "no certificate authorities were found to check the database's certificate; install them, or set \
                      SSL_CERT_FILE";
        return Err(StoreError::Unavailable(reason.to_owned()));
    }
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_connections_stay_on_this_machine() {
        for (url, local) in [
            ("postgres://localhost/x", true),
            ("postgres://127.0.0.1:5433/x", true),
            ("postgres://a@%2Frun%2Fpostgresql/x", true),
            ("postgres://db.invalid/x", false),
            ("postgres://localhost,db.invalid/x", false),
            ("postgres://192.0.2.1/x", false),
            // `hostaddr` is the address that is connected to.
            ("postgres://localhost/x?hostaddr=127.0.0.1", true),
            ("postgres://localhost/x?hostaddr=::1", true),
            ("postgres://localhost/x?hostaddr=192.0.2.1", false),
            ("postgres://localhost/x?hostaddr=2001:db8::1", false),
            ("postgres://127.0.0.1/x?hostaddr=192.0.2.1", false),
            ("postgres://localhost,127.0.0.1/x?hostaddr=127.0.0.1,::1", true),
            ("postgres://localhost,127.0.0.1/x?hostaddr=127.0.0.1,192.0.2.1", false),
            ("postgres://a@%2Frun%2Fpostgresql/x?hostaddr=192.0.2.1", false),
            ("postgres://db.invalid/x?hostaddr=127.0.0.1", false),
            ("postgres://localhost/x?host=db.invalid", false),
            ("postgresql:///x?host=localhost&hostaddr=192.0.2.1", false),
        ] {
            assert_eq!(url.parse::<PostgresUrl>().unwrap().is_local(), local, "{url}");
        }
    }
}
