//! Connects to a PostgreSQL server: TLS, and a pool of connections.

use std::{sync::Arc, time::Duration};

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod};
use rustls::{ClientConfig, RootCertStore, crypto::aws_lc_rs};
use tokio_postgres::{Config, NoTls, config::SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::store::{
    Result, StoreError, location,
    pool::{self, CONNECT_TIMEOUT},
};

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
        config.ssl_mode(if location::is_local(given) { SslMode::Disable } else { SslMode::Require });
    }
    let manage = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = match config.get_ssl_mode() {
        SslMode::Disable => Manager::from_config(config, NoTls, manage),
        _ => Manager::from_config(config, MakeRustlsConnect::new(tls()?), manage),
    };
    pool::pool(manager, limits.connections, limits.wait)
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
