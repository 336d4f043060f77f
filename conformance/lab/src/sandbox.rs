use std::path::Path;
use std::sync::Arc;

use sallyport_conformance_base::contract::Contract;
use sallyport_conformance_base::target::Target;
use sallyport_server::sandbox::{Sandbox as Server, SandboxTokens};

use super::context::Backend;
use super::journal::Journal;
use super::proxy::Proxy;
use super::scenario::{ScenarioError, Scenarios};
use super::stack::Lab;
use crate::embedded::{self, ReferenceError};

/// The embedded server with sample data and a lab in front of it, for tests of code that calls the service.
///
/// ```
/// use sallyport_client::Client;
/// use sallyport_lab::Sandbox;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
/// let sandbox = Sandbox::start("[[default.groups]]\nstatus = 503\nretry-after = 1").await?;
/// let client = Client::builder().base_url(sandbox.base_url()).token(sandbox.token()).build()?;
/// assert!(!client.groups().await?.is_empty());
/// assert_eq!(sandbox.journal().entries().len(), 2, "the client repeated the request");
/// # Ok(())
/// # })
/// # }
/// ```
///
/// The sample data has one token for the main account, so that a rotation begins with another text in the token file:
///
/// ```
/// use sallyport_client::{Client, Error};
/// use sallyport_lab::Sandbox;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
/// let folder = tempfile::tempdir()?;
/// let (file, next) = (folder.path().join("token"), folder.path().join("next"));
/// std::fs::write(&file, "a-token-that-was-revoked")?;
///
/// let sandbox = Sandbox::start("").await?;
/// let client = Client::builder().base_url(sandbox.base_url()).token_file(&file).build()?;
/// assert!(matches!(client.groups().await, Err(Error::Rejected(_))));
///
/// std::fs::write(&next, sandbox.token())?;
/// std::fs::rename(&next, &file)?;
/// let addresses = &sandbox.facts().own_addresses;
/// assert!(!client.search(addresses).in_batches().await?.is_empty(), "without a restart");
/// # Ok(())
/// # })
/// # }
/// ```
///
/// Each sandbox has ports, data and a clock of its own, so that tests run side by side. It needs a tokio runtime,
/// and stops when it is dropped.
#[derive(Debug)]
pub struct Sandbox {
    server: Server,
    target: Target,
    proxy: Proxy,
    scenarios: Arc<Scenarios>,
    journal: Arc<Journal>,
}

/// Why a sandbox cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// A mistake in the scenarios.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// No embedded server.
    #[error(transparent)]
    Reference(#[from] ReferenceError),
    /// No proxy, or an embedded contract that is incomplete.
    #[error("cannot start the local test server: {0}")]
    Lab(String),
}

impl Sandbox {
    /// Starts a sandbox that plays the scenarios of a text in TOML, of which `default` is played for requests that select none. An empty
    /// text changes nothing. Fails where the scenarios have a mistake, or the server or the proxy cannot be started.
    pub async fn start(scenarios: &str) -> Result<Self, SandboxError> {
        Self::with(scenarios, |lab| lab).await
    }

    /// The same with faults, variations or random ones behind the scenarios: `|lab| lab.pedantic(7)`.
    /// Fails as [`Sandbox::start`] does.
    pub async fn with(scenarios: &str, layers: impl FnOnce(Lab) -> Lab) -> Result<Self, SandboxError> {
        Self::with_tokens(scenarios, SandboxTokens::Random, layers).await
    }

    /// The same with tokens that are the same each time, for example [`SandboxTokens::FIXED`].
    /// Fails as [`Sandbox::start`] does.
    pub async fn with_tokens(
        scenarios: &str,
        tokens: SandboxTokens,
        layers: impl FnOnce(Lab) -> Lab,
    ) -> Result<Self, SandboxError> {
        let scenarios = Arc::new(Scenarios::parse(Path::new("scenarios"), scenarios)?);
        let other = |error: &dyn std::fmt::Display| SandboxError::Lab(error.to_string());
        let contract = Contract::embedded().map_err(|error| other(&error))?;
        let server = Server::start_with(tokens, |config| config).await.map_err(ReferenceError::from)?;
        let target = embedded::target(&server.base_url(), server.sample())?;
        let backend = Backend::new(contract, &target).map_err(|error| other(&error))?;
        let journal = Arc::new(Journal::default());
        let lab = layers(Lab::new(backend)).scenarios(&scenarios).journal(&journal);
        let proxy = Proxy::start(lab.into_upstream()).await.map_err(|error| other(&error))?;
        Ok(Self { server, target, proxy, scenarios, journal })
    }

    /// Base URL of the lab.
    pub fn base_url(&self) -> String {
        self.proxy.base_url()
    }

    /// The token of the main account of the sample data.
    pub fn token(&self) -> &str {
        self.target.token.expose()
    }

    /// What is known of the sample data, such as addresses that the account holds.
    pub fn facts(&self) -> &sallyport_conformance_base::target::Facts {
        &self.target.facts
    }

    /// The server behind the lab: its clock, which tests can set, all of its tokens, and examples of what to search.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The scenarios, to replace or restart them.
    pub fn scenarios(&self) -> &Scenarios {
        &self.scenarios
    }

    /// The requests that arrived, and what the lab changed.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }
}
