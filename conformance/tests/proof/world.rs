//! The worlds of the proof: a server without faults, what is known of it, and the same server with one fault at a time.

use std::sync::Arc;

use sallyport_conformance::Target;
use sallyport_conformance::detection::KnownFault;
use sallyport_conformance::lab::{self, Backend, Context, Handler, Proxy, ProxyOptions, Row, Upstream};

use crate::costs::Costs;
use crate::independent;

/// A server, its faults, and what its cases cost.
pub struct World {
    /// The server without a fault, and what is known of it.
    pub backend: Arc<Backend>,
    pub faults: Vec<KnownFault>,
    pub costs: Costs,
}

impl World {
    pub fn new(backend: Arc<Backend>, faults: Vec<KnownFault>) -> Self {
        Self { costs: Costs::new(&backend), backend, faults }
    }

    /// The server with one of its faults.
    pub fn serve(&self, fault: &KnownFault) -> Upstream {
        match row(fault) {
            Some(row) => Upstream::new(row.server(Context::new(&self.backend))),
            None => independent::serve(fault),
        }
    }
}

/// The faults of the lab.
pub fn of_lab() -> Vec<KnownFault> {
    let known = |fault: &'static Row| KnownFault {
        id: fault.id.clone(),
        clause: fault.clause(),
        breaks: fault.breaks.clone(),
        noticed_by: Vec::new(),
    };
    lab::faults().iter().map(known).collect()
}

/// The row of a fault of the lab; the independent server finds those of its own.
pub fn row(fault: &KnownFault) -> Option<&'static Row> {
    lab::faults().iter().find(|row| row.id == fault.id)
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
