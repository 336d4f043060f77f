//! Servers as processes of their own, which are killed, as is the database under them.

use std::{
    collections::HashMap,
    io::Write as _,
    net::SocketAddr,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use sallyport_server::{
    api::generated::ExtractProxies,
    data::seed::{Sample, seed},
    edge::operation::Operation as _,
    store::{Location, RecordKind},
};

use super::{
    backend::{Database, connect, on_both},
    cluster::{Cluster, eventually},
    server_process::ServerProcess,
    wire::{Response, ask},
};

pub(crate) fn start_server(database: &str) -> ServerProcess {
    let mut command = program(&["run", "--listen", "127.0.0.1:0", "--log", "off"]);
    let server = ServerProcess::start(command.env("SALLYPORT_DB", database));
    assert_eq!(server.printed, "");
    server
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_server"));
    command.args(arguments);
    command
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

async fn a_killed_import_leaves_nothing_behind(database: Database) {
    drop(database.open().await);
    let mut import = program(&["import", "-"])
        .env("SALLYPORT_DB", database.name())
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = import.stdin.take().unwrap();
    // Far more than the pipe holds, so most of it has been taken.
    for n in 0..20_000 {
        writeln!(input, r#"{{"account":{{"name":"account {n}","realNameVerified":true}}}}"#).unwrap();
    }
    import.kill().unwrap();
    import.wait().unwrap();
    drop(input);
    let store = database.open().await;
    let one = r#"{"account":{"name":"account 0","realNameVerified":true}}"#;
    let again =
        async || sallyport_server::data::import::import(store.as_ref(), std::io::Cursor::new(one)).await;
    assert_eq!(eventually(again).await[RecordKind::Account], 1);
}

on_both! {
    returned_extractions_survive_a_kill,
    a_killed_import_leaves_nothing_behind,
}

/// A limit on the size of files is the nearest to a full disk that needs no privileges.
#[test]
fn a_disk_that_takes_no_more_is_one_line_and_leaves_the_database_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (path, data) = (folder.path().join("full.db"), folder.path().join("data.jsonl"));
    std::fs::write(&data, r#"{"account":{"name":"first","realNameVerified":true}}"#).unwrap();
    let run = |limit: &str, data: &std::path::Path| {
        Command::new("sh")
            .args(["-c", r#"trap "" XFSZ; ulimit -f "$1"; exec "$2" import --db "$3" "$4""#, "sh", limit])
            .arg(env!("CARGO_BIN_EXE_server"))
            .args([&path, data])
            .output()
            .unwrap()
    };
    assert!(run("unlimited", &data).status.success());
    let large = folder.path().join("large.jsonl");
    let lines: String = (0..50_000)
        .map(|n| format!("{{\"account\":{{\"name\":\"{n:0100}\",\"realNameVerified\":true}}}}\n"))
        .collect();
    std::fs::write(&large, lines).unwrap();
    let output = run("2048", &large);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.starts_with("error: ") && !error.contains("panicked"), "{error}");

    let db = rusqlite::Connection::open(&path).unwrap();
    let accounts: u32 = db.query_row("SELECT count(*) FROM accounts", [], |row| row.get(0)).unwrap();
    let check: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!((accounts, check.as_str()), (1, "ok"));
}
