//! A running server: started on an address, closed within a deadline.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use dropshot::{BuildError, ConfigDropshot, HandlerTaskMode, HttpServer, ServerBuilder};

use crate::{
    domain::service::Service,
    edge::{body, call::Context},
    handlers, log,
    store::Store,
};

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Config {
    /// Address to listen on; port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// The storage.
    pub store: Arc<dyn Store>,
    /// Longest time for which the body of a request may arrive.
    pub body_timeout: Duration,
}

impl Config {
    /// Serves `store` on a free port of the loopback interface.
    #[must_use]
    pub fn loopback(store: Arc<dyn Store>) -> Self {
        Self { listen: SocketAddr::from(([127, 0, 0, 1], 0)), store, body_timeout: Duration::from_secs(15) }
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address cannot be had.
    #[error("expected to listen on {address}, but: {reason}; choose another address or stop what holds it")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        reason: std::io::Error,
    },
    /// The endpoints do not fit together. The generator is there to prevent that.
    #[error("expected endpoints that fit together, but: {0}; this is a fault of the program")]
    Api(String),
}

/// A server that is running. Dropped, it stops by itself, without waiting.
pub struct Running {
    server: HttpServer<Context>,
}

/// Starts a server on the current Tokio runtime.
///
/// # Errors
/// The address cannot be had.
///
/// # Panics
/// Outside a Tokio runtime, as everything of Tokio.
pub fn start(config: Config) -> Result<Running, StartError> {
    let Config { listen, store, body_timeout } = config;
    let api = handlers::api().map_err(StartError::Api)?;
    let context = Context { service: Service::new(store), body_timeout };
    let dropshot = ConfigDropshot {
        bind_address: listen,
        default_request_body_max_bytes: body::MAX_BYTES,
        // A handler only reads, or writes in one transaction on the store's own thread, so it may be dropped anywhere;
        // this saves a task a request.
        default_handler_task_mode: HandlerTaskMode::CancelOnDisconnect,
        ..ConfigDropshot::default()
    };
    let server = ServerBuilder::new(api, context, log::logger()).config(dropshot).start().map_err(
        |error| match error {
            BuildError::BindError { address, error } => StartError::Listen { address, reason: error },
            BuildError::SystemError { error, .. } => StartError::Listen { address: listen, reason: error },
            other => StartError::Api(other.to_string()),
        },
    )?;
    Ok(Running { server })
}

impl Running {
    /// The address that the server listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.server.local_addr()
    }

    /// The URL that callers put before the document's paths, without a slash at its end.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address())
    }

    /// Takes no more calls and lets those under way end. `false` when some did not end within `deadline`; they are left
    /// to the runtime.
    pub async fn close(self, deadline: Duration) -> bool {
        matches!(tokio::time::timeout(deadline, self.server.close()).await, Ok(Ok(())))
    }
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("address", &self.address()).finish()
    }
}
