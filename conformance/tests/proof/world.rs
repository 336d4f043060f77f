//! The worlds of the proof: a server without faults, what is known of it, and the same server with one fault at a time.

use std::collections::HashMap;
use std::sync::Arc;

use sallyport_conformance::contract::Clause;
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{self, Backend, Context, Handler, Proxy, ProxyOptions, Row, Upstream};
use sallyport_conformance::{Contract, Target};

/// A way to break one clause.
#[derive(Debug, Clone)]
pub struct KnownFault {
    /// Unique among all worlds.
    pub id: String,
    pub clause: Clause,
    /// What the server does wrong, in a sentence.
    pub breaks: String,
}

/// A server, and its faults.
pub trait World: Send + Sync {
    /// The server without a fault, and what is known of it.
    fn backend(&self) -> &Arc<Backend>;

    fn faults(&self) -> &[KnownFault];

    /// The server with one of its faults.
    fn serve(&self, fault: &KnownFault) -> Upstream;

    /// The error of its own that it had, or that a fault had, so that no result counts.
    fn failure(&self, fault: &KnownFault) -> Option<String>;
}

/// The reference server, and in front of it the faults of the lab.
pub struct LabWorld {
    backend: Arc<Backend>,
    faults: Vec<KnownFault>,
    by_id: HashMap<&'static str, &'static Row>,
    _reference: Reference,
}

impl LabWorld {
    /// Starts the reference server.
    pub async fn start() -> Self {
        let reference = Reference::start().await.expect("the reference server starts");
        let contract = Contract::embedded().expect("the embedded contract is complete");
        let backend = Backend::new(contract, reference.target()).expect("a client for plain http");
        let faults = lab::faults();
        let known = |fault: &Row| KnownFault {
            id: fault.id.clone(),
            clause: fault.clause(),
            breaks: fault.breaks.clone(),
        };
        Self {
            backend,
            faults: faults.iter().map(known).collect(),
            by_id: faults.iter().map(|fault| (&*fault.id, fault)).collect(),
            _reference: reference,
        }
    }
}

impl World for LabWorld {
    fn backend(&self) -> &Arc<Backend> {
        &self.backend
    }

    fn faults(&self) -> &[KnownFault] {
        &self.faults
    }

    fn serve(&self, fault: &KnownFault) -> Upstream {
        Upstream::new(self.by_id[&*fault.id].server(Context::new(&self.backend)))
    }

    fn failure(&self, fault: &KnownFault) -> Option<String> {
        self.by_id[&*fault.id].failure().map(str::to_owned)
    }
}

/// A backend as the suite sees it through a proxy.
pub fn target(backend: &Backend, base_url: &str) -> Target {
    Target::new(base_url, backend.token.clone(), backend.facts.clone(), false)
        .expect("a proxy has a usable address")
}

/// A proxy on a free port.
pub async fn proxy(handler: impl Handler, capitals: bool) -> Proxy {
    let options = ProxyOptions { capitals, ..ProxyOptions::default() };
    Proxy::start_with(Upstream::new(handler), options).await.expect("loopback has a free port")
}
