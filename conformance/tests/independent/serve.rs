//! Serves one of the servers for other tools.

use std::io::Read as _;

use crate::driver::decisions_of;
use crate::faults;
use crate::server::Server;
use crate::variations::{self, Variation};

/// Serves a fault, a variation or, without an id, the conforming server, until standard input ends.
pub(crate) fn serve(id: &str) {
    let fault = faults::ALL.iter().find(|fault| fault.id == id);
    let variation = variations::ALL.iter().find(|variation| variation.id == id);
    assert!(id.is_empty() || fault.is_some() || variation.is_some(), "no fault or variation `{id}`");
    let decisions = fault.map(decisions_of).or_else(|| variation.map(Variation::decisions));
    let server = Server::new(fault.map_or("", |fault| fault.id), decisions.unwrap_or_default());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (address, _) = runtime.block_on(server.listen()).expect("a port of the loopback interface");
    println!("http://{address}");
    std::io::stdin().read_to_end(&mut Vec::new()).expect("standard input ends");
}
