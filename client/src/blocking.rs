//! A client for programs without an async runtime.
//!
//! ```no_run
//! use sallyport_client::{Client, Error, blocking};
//!
//! fn main() -> Result<(), Error> {
//!     let client = blocking::Client::new(Client::builder().base_url("https://api.invalid").token_from_env().build()?)?;
//!     let extraction = client.wait(client.extract(3).region("USA"))?;
//!     println!("{} gateways", extraction.endpoints.len());
//!     let mut pages = client.search(["203.0.113.7"]).pages();
//!     while let Some(page) = client.wait(pages.next())? {
//!         println!("{} instances", page.items.len());
//!     }
//!     Ok(())
//! }
//! ```

use std::{future::IntoFuture, ops::Deref};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::Error;

/// A [`Client`](crate::Client) with its own runtime. Calls are built with the methods of that client and completed by
/// [`wait`](Self::wait).
#[derive(Debug)]
pub struct Client {
    client: crate::Client,
    /// `None` only during `drop`.
    runtime: Option<Runtime>,
}

impl Client {
    /// Creates the runtime; it runs on the thread that calls [`wait`](Self::wait).
    ///
    /// # Errors
    /// [`Error::Configuration`] when the operating system cannot provide one.
    pub fn new(client: crate::Client) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::configuration(format!("cannot create the runtime: {error}")))?;
        Ok(Self { client, runtime: Some(runtime) })
    }

    /// Sends a call and blocks until it is complete.
    ///
    /// # Errors
    /// Those of the call, and [`Error::Configuration`] inside an async runtime, which blocking would stop.
    pub fn wait<T>(&self, call: impl IntoFuture<Output = Result<T, Error>>) -> Result<T, Error> {
        if Handle::try_current().is_ok() {
            return Err(Error::configuration(
                "the blocking client cannot be used inside an async runtime; use `Client` there",
            ));
        }
        match &self.runtime {
            Some(runtime) => runtime.block_on(call.into_future()),
            None => Err(Error::configuration("the blocking client has been shut down")),
        }
    }
}

impl Deref for Client {
    type Target = crate::Client;

    fn deref(&self) -> &Self::Target {
        &self.client
    }
}

impl Drop for Client {
    /// Dropping a runtime inside another one would panic; shutting it down in the background does not.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
