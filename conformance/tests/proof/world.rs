//! What all faults and variations share: one reference server and what is known of it.

use std::ops::Deref;
use std::sync::Arc;

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{Backend, Handler, Proxy, ProxyOptions, Upstream};
use sallyport_conformance::{Contract, Target};

/// The reference server as the backend of the lab.
pub struct World {
    /// The backend.
    pub backend: Arc<Backend>,
    _reference: Reference,
}

impl World {
    /// Starts the reference server.
    pub async fn start() -> Arc<Self> {
        let reference = Reference::start().await.expect("the reference server starts");
        let contract = Contract::embedded().expect("the embedded contract is complete");
        let backend = Backend::new(contract, reference.target()).expect("a client for plain http");
        Arc::new(Self { backend, _reference: reference })
    }

    /// The world as the suite sees it through a proxy.
    pub fn target(&self, base_url: &str) -> Target {
        Target::new(base_url, self.token.clone(), self.facts.clone(), false)
            .expect("a proxy has a usable address")
    }
}

impl Deref for World {
    type Target = Backend;

    fn deref(&self) -> &Backend {
        &self.backend
    }
}

/// A proxy on a free port.
pub async fn proxy(handler: impl Handler, capitals: bool) -> Proxy {
    let options = ProxyOptions { capitals, ..ProxyOptions::default() };
    Proxy::start_with(Upstream::new(handler), options).await.expect("loopback has a free port")
}
