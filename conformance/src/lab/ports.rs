//! Ports that select a scenario, for callers that cannot add a header.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::BoxFuture;
use hyper::header::HeaderValue;
use tokio::sync::Mutex;

use super::exchange::{ProxiedRequest, Reply};
use super::proxy::{Proxy, ProxyOptions};
use super::scenario::{SCENARIO_HEADER, Scenarios};
use super::upstream::{Handler, Upstream};

/// Maximum number of ports that are open at the same time.
const MAX_PORTS: usize = 200;

/// Ports in front of a lab, each of which plays a scenario for the requests that select none by their header.
#[derive(Debug)]
pub struct Ports {
    upstream: Upstream,
    scenarios: Arc<Scenarios>,
    options: ProxyOptions,
    open: Mutex<BTreeMap<String, Proxy>>,
}

/// Why a port cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// There is no such scenario.
    #[error("unknown scenario; expected one of: {0}")]
    Unknown(String),
    /// Too long, or not a header's value.
    #[error("expected NAME or NAME/INSTANCE of at most 128 characters")]
    Name,
    /// Too many ports.
    #[error("{MAX_PORTS} ports are open already; close some of them")]
    Full,
    /// The system has none.
    #[error("cannot listen: {0}")]
    Listen(#[from] std::io::Error),
}

impl Ports {
    /// Ports in front of a lab that plays these scenarios. They listen as `options` says, each on a port of its own.
    #[must_use]
    pub fn new(upstream: Upstream, scenarios: &Arc<Scenarios>, options: ProxyOptions) -> Self {
        Self { upstream, scenarios: Arc::clone(scenarios), options, open: Mutex::default() }
    }

    /// Opens a port for a scenario, `NAME` or `NAME/INSTANCE`, and returns its base URL; the same one when it is open already.
    /// Port 0 lets the system choose.
    ///
    /// # Errors
    /// The scenario is unknown, too many ports are open, or the port is in use.
    pub async fn open(&self, scenario: &str, port: u16) -> Result<String, PortError> {
        let value = HeaderValue::from_str(scenario).map_err(|_| PortError::Name)?;
        if scenario.is_empty() || scenario.len() > 128 {
            return Err(PortError::Name);
        }
        let names = self.scenarios.names();
        if !names.iter().any(|name| scenario.split('/').next() == Some(name)) {
            let known = if names.is_empty() {
                "none, since no scenarios were given".to_owned()
            } else {
                names.join(", ")
            };
            return Err(PortError::Unknown(known));
        }
        let mut open = self.open.lock().await;
        if let Some(proxy) = open.get(scenario) {
            return Ok(proxy.base_url());
        }
        if open.len() >= MAX_PORTS {
            return Err(PortError::Full);
        }
        let selecting = Upstream::new(SelectingServer { scenario: value, upstream: self.upstream.clone() });
        let mut options = self.options;
        options.address.set_port(port);
        let proxy = Proxy::start_with(selecting, options).await?;
        let base = proxy.base_url();
        open.insert(scenario.to_owned(), proxy);
        Ok(base)
    }

    /// Closes the port of a scenario with its connections; `false` when none is open.
    pub async fn close(&self, scenario: &str) -> bool {
        self.open.lock().await.remove(scenario).is_some()
    }

    /// The open ports: scenario and base URL.
    pub async fn list(&self) -> BTreeMap<String, String> {
        let open = self.open.lock().await;
        open.iter().map(|(scenario, proxy)| (scenario.clone(), proxy.base_url())).collect()
    }
}

/// Selects a scenario for requests that select none.
struct SelectingServer {
    scenario: HeaderValue,
    upstream: Upstream,
}

impl Handler for SelectingServer {
    fn handle<'a>(&'a self, mut request: ProxiedRequest) -> BoxFuture<'a, Reply> {
        if !request.headers.contains_key(SCENARIO_HEADER) {
            request.headers.insert(SCENARIO_HEADER, self.scenario.clone());
        }
        Box::pin(async move { self.upstream.call(&request).await })
    }
}
