//! The sandbox: a server with sample data in a temporary database of its own, for people and tests that try the API out.
//!
//! It has features that a real server must not have: its tokens can be [fixed](SandboxTokens::Seed), its
//! [clock](Sandbox::set_time) can be set, and its main address has the pages `/docs` and `/sandbox/clock`.
//!
//! ```
//! use sallyport_server::sandbox::Sandbox;
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let sandbox = Sandbox::start().await?;
//! println!("{} {}", sandbox.base_url(), sandbox.token().expose());
//! sandbox.set_time("2030-01-01T00:00:00Z".parse()?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! None of this is possible with any other database: only [`Sandbox::start_with`] makes a settable clock, known tokens and these
//! pages, together with the temporary database that it serves. A [`Config`] has no field for a clock, for tokens or for pages:
//!
//! ```compile_fail,E0560
//! # fn serve(store: std::sync::Arc<sallyport_server::store::Store>) {
//! use sallyport_server::Config;
//! let config = Config { clock: "2030-01-01T00:00:00Z", ..Config::loopback(store) };
//! # }
//! ```
//!
//! the clock of a service cannot be set from outside of this crate:
//!
//! ```compile_fail,E0616
//! # fn serve(mut service: sallyport_server::domain::service::Service) {
//! service.clock = todo!();
//! # }
//! ```
//!
//! and sample data with known tokens cannot be stored elsewhere:
//!
//! ```compile_fail,E0603
//! use sallyport_server::data::seed::seed_with;
//! ```

mod description;
mod pages;
mod tokens;

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};

pub use self::{
    description::{Description, TokenDescription},
    tokens::SandboxTokens,
};
use crate::{
    Config, RunningServer, StartError,
    data::seed::{Sample, SeedError, seed_with},
    domain::{clock::Clock, token::Token},
    handlers, retention, running,
    store::{OpenError, Store, StoreError},
};

/// Why a sandbox did not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The temporary database cannot be created.
    #[error("cannot create the temporary database of the sandbox: {0}")]
    Open(#[from] OpenError),
    /// The sample data cannot be stored.
    #[error("cannot store the sample data of the sandbox: {0}")]
    Seed(#[from] SeedError),
    /// The server did not start.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// A running sandbox. When it is dropped it stops, and its data is deleted.
#[derive(Debug)]
pub struct Sandbox {
    running: RunningServer,
    sample: Sample,
    control: Arc<Control>,
}

impl Sandbox {
    /// Starts a sandbox on a free port of the loopback interface, with random tokens. Request ids are kept for
    /// [`Config::REQUEST_ID_RETENTION_DAYS`] days.
    ///
    /// # Errors
    /// There is no room for the temporary database, or no port is free.
    ///
    /// # Panics
    /// If called outside a Tokio runtime.
    pub async fn start() -> Result<Self, SandboxError> {
        Self::start_with(SandboxTokens::Random, |config| config).await
    }

    /// Starts a sandbox with these tokens. `configure` may change all of its configuration but the store: the sandbox serves
    /// its own in any case.
    ///
    /// # Panics
    /// As for [`Sandbox::start`].
    pub async fn start_with(
        tokens: SandboxTokens,
        configure: impl FnOnce(Config) -> Config,
    ) -> Result<Self, SandboxError> {
        let store = Arc::new(Store::temporary()?);
        let sample = seed_with(store.as_ref(), &mut tokens.generator()).await?;
        let days = Config::REQUEST_ID_RETENTION_DAYS;
        let config = Config {
            request_id_retention: Some(Duration::from_hours(24) * days),
            ..Config::loopback(Arc::clone(&store) as _)
        };
        let config = configure(config);
        let clock = Clock::settable();
        let control = Arc::new(Control {
            clock: clock.clone(),
            store: Arc::clone(&store),
            retention: config.request_id_retention,
        });
        let mut api = handlers::api().map_err(StartError::Api)?;
        pages::register(&mut api, &control).map_err(StartError::Api)?;
        // Its own database, whatever store `configure` returned.
        let config = Config { store: store as _, ..config };
        Ok(Self { running: running::serve_api(api, config, clock)?, sample, control })
    }

    /// The base URL for callers, without a trailing slash.
    #[must_use]
    pub fn base_url(&self) -> String {
        self.running.base_url()
    }

    /// The token of the main account, which has everything.
    #[must_use]
    pub fn token(&self) -> &Token {
        &self.sample.tokens.main
    }

    /// The facts about the sample data: all tokens, addresses, orders and groups.
    #[must_use]
    pub fn sample(&self) -> &Sample {
        &self.sample
    }

    /// The tokens, examples of what can be searched, and commands to paste. It holds the tokens, so print it only where they may be
    /// seen.
    #[must_use]
    pub fn description(&self) -> Description {
        Description::new(self.base_url(), self.running.admin_address(), &self.sample)
    }

    /// The server, for its addresses and its certificate.
    #[must_use]
    pub fn server(&self) -> &RunningServer {
        &self.running
    }

    /// The current time of the sandbox.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.control.clock.now()
    }

    /// Stops the clock at this time. Tokens, whitelist entries and entitlements expire accordingly, and request ids that are older
    /// than their retention are deleted before this returns.
    pub async fn set_time(&self, time: Timestamp) -> Result<(), ClockError> {
        self.control.set(Some(time)).await
    }

    /// Moves the clock, forward or back, and stops it there.
    ///
    /// # Errors
    /// The time is outside of the calendar, or the storage failed.
    pub async fn advance(&self, by: SignedDuration) -> Result<Timestamp, ClockError> {
        self.control.advance(by).await
    }

    /// Uses the system's clock again, as at the start.
    pub async fn reset_time(&self) -> Result<(), ClockError> {
        self.control.set(None).await
    }

    /// Stops the sandbox: [`RunningServer::close`].
    pub async fn close(self, deadline: Duration) -> bool {
        self.running.close(deadline).await
    }

    /// The server only, for programs that serve until a signal. The clock can still be set over HTTP.
    #[must_use]
    pub fn into_server(self) -> RunningServer {
        self.running
    }
}

/// Why the clock was not changed.
#[derive(Debug, thiserror::Error)]
pub enum ClockError {
    /// The time is outside of the calendar.
    #[error("the time must be from the year -9999 to 9999")]
    Range,
    /// The storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Controls the clock of a running sandbox.
#[derive(Debug)]
struct Control {
    clock: Clock,
    store: Arc<Store>,
    retention: Option<Duration>,
}

impl Control {
    async fn advance(&self, by: SignedDuration) -> Result<Timestamp, ClockError> {
        let time = self.clock.now().checked_add(by).map_err(|_| ClockError::Range)?;
        self.set(Some(time)).await?;
        Ok(time)
    }

    async fn set(&self, time: Option<Timestamp>) -> Result<(), ClockError> {
        self.clock.set(time);
        if let Some(max_age) = self.retention {
            retention::delete_all_old(self.store.as_ref(), max_age, self.clock.now()).await?;
        }
        Ok(())
    }
}
