//! What stands before the operations, over real sockets: the cap on work under way, and the drain. `tests/sessions` has the rest.

mod load;

use std::{net::SocketAddr, sync::Arc};

use sallyport_server::{
    Config, RunningServer,
    api::generated::ExtractProxies,
    data::seed::{Sample, seed},
    edge::operation::Operation,
    start,
    store::Store,
};

use self::wire::{Response, ask};
use crate::support::{frames, paused_store, shared_buffer, wire};

/// A server with sample data, changed as a test wants it.
async fn served(change: impl FnOnce(Config) -> Config) -> (RunningServer, Sample) {
    let store = Arc::new(Store::temporary().unwrap());
    let sample = seed(&store).await.unwrap();
    (start(change(Config::loopback(store))).unwrap(), sample)
}

async fn get(address: SocketAddr, target: String) -> Response {
    ask(address, format!("GET {target} HTTP/1.1"), Vec::new()).await.unwrap()
}

fn extraction(sample: &Sample) -> String {
    format!("{}?num=1&api_key={}", ExtractProxies::PATH, sample.tokens.main.expose())
}
