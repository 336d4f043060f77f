//! A server with sample data on a free port of this machine, for the examples.
#![allow(dead_code, reason = "each example uses a part")]

use std::{error::Error, sync::Arc};

use sallyport_server::{
    Config, RunningServer,
    data::seed::{Sample, seed},
    start,
    store::sqlite::SqliteStore,
};

/// The server, which stops when it is dropped.
pub(crate) struct Embedded {
    running: RunningServer,
    sample: Sample,
}

impl Embedded {
    pub(crate) async fn start() -> Result<Self, Box<dyn Error>> {
        let store = Arc::new(SqliteStore::temporary()?);
        let sample = seed(store.as_ref()).await?;
        Ok(Self { running: start(Config::loopback(store))?, sample })
    }

    pub(crate) fn base_url(&self) -> String {
        self.running.base_url()
    }

    pub(crate) fn token(&self) -> &str {
        self.sample.tokens.main.expose()
    }

    /// Addresses that the account holds.
    pub(crate) fn addresses(&self) -> Vec<String> {
        self.sample.addresses.iter().map(ToString::to_string).collect()
    }
}
