//! What all faults and variations share: one reference server and what is known of it.

use std::sync::Arc;

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::{Contract, Facts, Secret, Target};

use crate::proxy::Upstream;

/// The reference server, the contract and the facts of the sample data.
pub struct World {
    /// The contract.
    pub contract: &'static Contract,
    /// The server that keeps every clause.
    pub upstream: Upstream,
    /// Token of the main account.
    pub token: String,
    /// What is known of the sample data.
    pub facts: Facts,
    _reference: Reference,
}

impl World {
    /// Starts the reference server.
    pub async fn start() -> Arc<Self> {
        let reference = Reference::start().await.expect("the reference server starts");
        let target = reference.target();
        Arc::new(Self {
            contract: Contract::embedded().expect("the embedded contract is complete"),
            upstream: Upstream::new(target.base().as_str()),
            token: target.token.expose().to_owned(),
            facts: target.facts.clone(),
            _reference: reference,
        })
    }

    /// The world as the suite sees it through a proxy.
    pub fn target(&self, base_url: &str) -> Target {
        let token = Secret::new("API_KEY", self.token.as_str());
        Target::new(base_url, token, self.facts.clone(), false).expect("a proxy has a usable address")
    }
}
