//! The reference server with sample data, as a target.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use sallyport_conformance_base::document::{ConfigError, Document};
use sallyport_conformance_base::files;
use sallyport_conformance_base::target::{Facts, Secret, Target, TargetError};
pub use sallyport_server::contract_page;
use sallyport_server::data::facts::{CONFIGURATION, write};
use sallyport_server::data::seed::{Sample, SeedError, seed};
use sallyport_server::sandbox::{Sandbox, SandboxError, SandboxTokens};
use sallyport_server::{Config, RunningServer, StartError, start};

/// A running reference server, and the target that it makes.
#[derive(Debug)]
pub struct Reference {
    running: Box<RunningServer>,
    target: Target,
}

/// Why the reference server can't be had.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// No sandbox.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// No sample data.
    #[error("cannot store the sample data of the reference server: {0}")]
    Seed(#[from] SeedError),
    /// No folder for the facts.
    #[error("cannot write what is known of the sample data: {0}")]
    Facts(#[from] io::Error),
    /// No facts.
    #[error("cannot read what is known of the sample data: {0}")]
    Config(#[from] ConfigError),
    /// No address.
    #[error("cannot start the reference server: {0}")]
    Start(#[from] StartError),
    /// No target.
    #[error("cannot use the address of the reference server: {0}")]
    Target(#[from] TargetError),
}

impl Reference {
    /// Time that running calls have to end.
    const CLOSING: Duration = Duration::from_secs(5);

    /// Starts a server on a free port of the loopback interface, with sample data in a temporary database.
    ///
    /// # Errors
    /// When the database, the data or the port can't be had.
    pub async fn start() -> Result<Self, ReferenceError> {
        Self::start_with(SandboxTokens::Random).await
    }

    /// The same with tokens that may be the same each time.
    ///
    /// # Errors
    /// As for [`Reference::start`].
    pub async fn start_with(tokens: SandboxTokens) -> Result<Self, ReferenceError> {
        let sandbox = Sandbox::start_with(tokens, |config| config).await?;
        let target = target(&sandbox.base_url(), sandbox.sample())?;
        Ok(Self { running: sandbox.into_server().into(), target })
    }

    /// Starts the server that `config` describes, with sample data in its empty store. `url` tells how the suite reaches it.
    ///
    /// # Errors
    /// When the data, the port or the URL can't be had.
    pub async fn reached_by(
        config: Config,
        url: impl FnOnce(&RunningServer) -> String,
    ) -> Result<Self, ReferenceError> {
        let sample = seed(config.store.as_ref()).await?;
        let running = start(config)?;
        let target = target(&url(&running), &sample)?;
        Ok(Self { running: running.into(), target })
    }

    /// The server as a target, with every fact.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Stops the server.
    pub async fn close(self) {
        // Calls that are still running go down with the runtime.
        let _ = self.running.close(Self::CLOSING).await;
    }
}

/// The server with this sample data as a target, with every fact: read from what it writes for testers.
pub(crate) fn target(url: &str, sample: &Sample) -> Result<Target, ReferenceError> {
    let only_ours = Permissions::from_mode(0o700);
    let parent = tempfile::Builder::new().permissions(only_ours).tempdir()?;
    let folder = parent.path().join("facts");
    write(&folder, sample)?;
    let file = folder.join(CONFIGURATION);
    let text = files::read_text(&file, files::MAX_BYTES);
    let text = text.map_err(|error| ConfigError::of_file(&file, format!("cannot be read: {error}")))?;
    let facts = Document::parse(&file, &text, &|_| None, |root| {
        root.read("api-key", |item| item.secret("API_KEY"))?;
        root.section("facts", Facts::read)
    })?;
    Ok(Target::new(
        url,
        Secret::new("API_KEY", sample.tokens.main.expose()),
        facts.unwrap_or_default(),
        false,
    )?)
}
