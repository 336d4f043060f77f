//! Servers as processes of their own, which are killed, as is the database under them.

use std::{
    collections::HashMap,
    net::SocketAddr,
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use sallyport_server::{
    api::generated::ExtractProxies,
    data::seed::{Sample, seed},
    edge::operation::Operation as _,
    store::Location,
};

use super::{
    backend::{Database, connect, on_both},
    cluster::{Cluster, eventually},
    server_process::ServerProcess,
    wire::{Response, ask},
};

pub(crate) fn start_server(database: &str) -> ServerProcess {
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    let command = command.args(["run", "--listen", "127.0.0.1:0", "--log", "off"]);
    let server = ServerProcess::start(command.env("SALLYPORT_DB", database));
    assert_eq!(server.printed, "");
    server
}

/// What came of one extraction.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The gateways, as JSON.
    Given(String),
    /// 503 with Retry-After.
    Later,
    /// The server went away.
    Broken,
}

pub(crate) async fn extract(address: SocketAddr, sample: &Sample, request_id: usize) -> Outcome {
    let (path, token, region) = (ExtractProxies::PATH, sample.tokens.main.expose(), &sample.plentiful_region);
    let target = format!("{path}?api_key={token}&num=20&regions={region}&request_id={request_id}");
    let Some(response) = get(address, &target).await else { return Outcome::Broken };
    if response.status == 503 {
        assert!(response.header("retry-after").is_some(), "{response:?}");
        return Outcome::Later;
    }
    assert_eq!(response.status, 200, "{response:?}");
    let body = response.json();
    assert_eq!(body["data"].as_array().unwrap().len(), 20);
    Outcome::Given(body["data"].to_string())
}

/// The response, unless the server went away.
pub(crate) async fn get(address: SocketAddr, target: &str) -> Option<Response> {
    ask(address, format!("GET {target} HTTP/1.1"), Vec::new()).await.ok()
}

/// Callers that go on asking, each id again and again, of whichever server there is.
#[derive(Default)]
pub(crate) struct Load {
    pub(crate) servers: Mutex<Vec<SocketAddr>>,
    /// What was returned under each id. Another response is a double extraction.
    pub(crate) given: Mutex<HashMap<usize, String>>,
    pub(crate) good: AtomicUsize,
    later: AtomicUsize,
    pub(crate) done: AtomicBool,
}

impl Load {
    const IDS: usize = 150;

    pub(crate) async fn call(self: Arc<Self>, sample: Arc<Sample>, caller: usize) {
        for turn in 0.. {
            if self.done.load(Ordering::Relaxed) {
                return;
            }
            let id = (caller * 31 + turn) % Self::IDS;
            let server = {
                let servers = self.servers.lock().unwrap();
                match servers.get(turn % servers.len().max(1)) {
                    Some(server) => *server,
                    None => return,
                }
            };
            match extract(server, &sample, id).await {
                Outcome::Given(gateways) => self.note(id, gateways),
                Outcome::Later => {
                    self.later.fetch_add(1, Ordering::Relaxed);
                }
                Outcome::Broken => {
                    let expected = !self.servers.lock().unwrap().contains(&server);
                    assert!(expected, "a server broke off that was not killed");
                }
            }
        }
    }

    fn note(&self, id: usize, gateways: String) {
        self.good.fetch_add(1, Ordering::Relaxed);
        let mut given = self.given.lock().unwrap();
        let first = given.entry(id).or_insert_with(|| gateways.clone());
        assert_eq!(*first, gateways, "request id {id} was given two responses");
    }

    /// Waits until so many more calls have come to an end of that kind.
    pub(crate) async fn more(&self, kind: &AtomicUsize, count: usize) {
        let goal = kind.load(Ordering::Relaxed) + count;
        eventually(async || {
            let so_far = kind.load(Ordering::Relaxed);
            if so_far >= goal { Ok(()) } else { Err(format!("{so_far} of {goal}")) }
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_servers_survive_what_dies_around_them() {
    let Some(mut cluster) = tokio::task::spawn_blocking(Cluster::start).await.unwrap() else { return };
    let url = cluster.url("postgres");
    let location: Location = url.parse().unwrap();
    let store = eventually(async || location.open(sallyport_server::store::OpenMode::Create).await).await;
    let sample = Arc::new(seed(store.as_ref()).await.unwrap());
    drop(store);
    let (stays, dies) = (start_server(&url), start_server(&url));
    let load = Arc::new(Load::default());
    load.servers.lock().unwrap().extend([stays.address, dies.address]);
    let callers: Vec<_> =
        (0..6).map(|caller| tokio::spawn(Arc::clone(&load).call(Arc::clone(&sample), caller))).collect();

    load.more(&load.good, 50).await;
    let admin = connect(&url).await.unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sallyport'";
    admin.batch_execute(cut).await.unwrap();
    load.more(&load.good, 50).await;

    cluster.crash();
    load.more(&load.later, 10).await;
    cluster.start_again();
    load.more(&load.good, 50).await;

    load.servers.lock().unwrap().retain(|address| *address == stays.address);
    drop(dies);
    load.more(&load.good, 50).await;
    let replaces = start_server(&url);
    load.servers.lock().unwrap().push(replaces.address);
    load.more(&load.good, 50).await;
    load.done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }

    let given = load.given.lock().unwrap().clone();
    assert!(given.len() > 50);
    for (id, gateways) in &given {
        for server in [&stays, &replaces] {
            assert_eq!(extract(server.address, &sample, *id).await, Outcome::Given(gateways.clone()));
        }
    }
}

async fn returned_extractions_survive_a_kill(database: Database) {
    let sample = Arc::new(seed(database.open().await.as_ref()).await.unwrap());
    let load = Arc::new(Load::default());
    for _ in 0..3 {
        let server = start_server(&database.name());
        *load.servers.lock().unwrap() = vec![server.address];
        let callers: Vec<_> =
            (0..4).map(|caller| tokio::spawn(Arc::clone(&load).call(Arc::clone(&sample), caller))).collect();
        load.more(&load.good, 20).await;
        // In the middle of their calls.
        load.servers.lock().unwrap().clear();
        drop(server);
        for caller in callers {
            caller.await.unwrap();
        }
    }
    assert!(load.given.lock().unwrap().len() > 20);
}

on_both! { returned_extractions_survive_a_kill }
