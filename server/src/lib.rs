//! The service: proxy extraction and static IP queries, as `openapi/openapi.yaml` describes them.
//!
//! [`start`] serves a [`store::Store`] and gives the address; [`sandbox`] serves sample data, for tests. [`data`] fills a store, [`domain`] holds the rules,
//! [`edge`] parses requests and responds, and [`api`] is generated from the document.

mod admin;
pub mod api;
mod connections;
pub mod data;
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

pub use running::{Config, RunningServer, ServedApi, StartError, check_rates, start, start_api};

/// The OpenAPI document that Dropshot emits for the API. `cargo xtask check` compares it with the contract.
///
/// # Panics
/// Never: every server starts with the same endpoints.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "every server starts with these endpoints, and a test shows this document"
)]
pub fn emitted_openapi() -> serde_json::Value {
    let api = handlers::api().expect("endpoints that fit together");
    api::generated::definition(&api).json().expect("a document that Dropshot can write")
}

/// The contract as one HTML page with this server's error codes, as `/docs` of the operator's address shows it. It needs no
/// other file and no network.
#[must_use]
pub fn contract_page() -> String {
    admin::docs::page()
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_emitted_document_has_the_operations() {
        let document = super::emitted_openapi();
        let paths = document["paths"].as_object().unwrap();
        assert!(
            paths.values().all(|methods| methods.as_object().unwrap().len() == 1),
            "hidden methods are shown"
        );
        assert!(!paths.is_empty());
    }
}
