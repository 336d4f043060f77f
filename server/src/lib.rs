//! The service: proxy extraction and static IP queries, as `openapi/openapi.yaml` describes them.
//!
//! [`start`] serves a [`store::Store`] and gives the address; [`sandbox`] serves sample data, for tests. [`data`] fills a store, [`domain`] holds the rules,
//! [`edge`] parses requests and responds, and [`api`] is generated from the document.

mod admin;
pub mod api;
mod connections;
pub mod data;
mod docs;
pub mod domain;
pub mod edge;
mod handlers;
pub mod log;
mod metrics;
pub mod names;
pub mod printable;
pub mod proxies;
mod retention;
mod running;
pub mod sandbox;
pub mod store;

pub use running::{Config, RunningServer, StartError, start};

/// The OpenAPI document of the contract, from which this server is generated.
#[must_use]
pub fn openapi() -> &'static serde_json::Value {
    docs::document()
}

/// The contract as one HTML page with this server's error codes, as `/docs` of the operator's address shows it. It needs no
/// other file and no network.
#[must_use]
pub fn contract_page() -> String {
    docs::page().to_owned()
}
