//! Connects to a PostgreSQL server: TLS, and a pool of connections.

use std::{net::IpAddr, sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio_postgres::{
    Config, NoTls,
    config::{Host, SslMode},
};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::{Result, StoreError};

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

/// A pool of connections, which are opened on demand.
pub(super) fn pool(given: &Config, limits: Limits) -> Result<Pool> {
    let mut config = given.clone();
    config.options(options(config.get_options(), limits));
    config.application_name(config.get_application_name().unwrap_or("sallyport").to_owned());
    config.connect_timeout(CONNECT_TIMEOUT).tcp_user_timeout(NETWORK_TIMEOUT);
    if config.get_ssl_mode() == SslMode::Prefer {
        // An attacker on the network could downgrade "prefer" to "disable".
        config.ssl_mode(if is_local(given) { SslMode::Disable } else { SslMode::Require });
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
fn is_local(config: &Config) -> bool {
    let is_local = |host: &Host| match host {
        Host::Unix(_) => true,
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
    };
    config.get_hosts().iter().all(is_local) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
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
            assert_eq!(is_local(&url.parse().unwrap()), local, "{url}");
        }
    }
}
