//! What may fail under a running store: each fault has its response, and goes away with its cause.

use std::{
    io::{self, Write},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use sallyport_server::{
    data::seed::{Sample, seed},
    domain::{StaticGroup, extraction::ExtractionQuery, rejection::Rejection, service::Service},
    store::postgres::Limits,
};

use super::{
    backend::{Database, connect, on_both},
    cluster::{Cluster, eventually},
    requests,
};

/// A seeded PostgreSQL database, and a service on it that has these limits.
async fn limited(limits: Limits) -> Option<(Database, Service, Sample)> {
    let database = Database::postgres().await?;
    let sample = seed(database.open().await.as_ref()).await.unwrap();
    let service = limited_on(&database, limits).await;
    Some((database, service, sample))
}

async fn limited_on(database: &Database, limits: Limits) -> Service {
    Service::new(database.open_within(limits).await)
}

fn command(sample: &Sample, request_id: Option<&str>) -> ExtractionQuery {
    let command = requests::command(&sample.tokens.main, 1, &sample.plentiful_region);
    ExtractionQuery { request_id: request_id.map(str::to_owned), ..command }
}

/// An output that takes nothing until it is released.
struct Waiting(Arc<AtomicBool>);

impl Write for Waiting {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        while !self.0.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Otherwise callers who leave and ask again could queue statements without bound.
async fn callers_who_leave_keep_their_connections_and_others_wait_for_a_while_only(database: Database) {
    let limits = Limits { connections: 2, wait: Duration::from_millis(200), ..Limits::default() };
    let store = database.open_within(limits).await;
    let token = seed(store.as_ref()).await.unwrap().tokens.main;
    let service = Service::new(Arc::clone(&store) as _);
    let released = Arc::new(AtomicBool::new(false));
    let connections = store.pool().connections;
    let callers: Vec<_> = (0..connections + 100)
        .map(|_| {
            let (store, output) = (Arc::clone(&store), Waiting(Arc::clone(&released)));
            tokio::spawn(async move { store.export(output).await })
        })
        .collect();
    let is_busy = async |wanted| {
        let busy = store.pool().busy;
        if busy == wanted { Ok(()) } else { Err(busy) }
    };
    eventually(async || is_busy(connections).await).await;
    for caller in callers {
        caller.abort();
        // Those who waited for a connection too long have been rejected.
        drop(caller.await);
    }
    let rejection = service.list::<StaticGroup>(&token, Vec::new()).await.unwrap_err();
    assert!(matches!(rejection, Rejection::Busy), "{rejection:?}");
    assert_eq!((store.pool().busy, store.pool().waiting), (connections, 0));
    if let Database::Postgres { .. } = database {
        let under_way = "SELECT count(*) FROM pg_stat_activity
                         WHERE datname = current_database() AND application_name = 'sallyport' AND state <> 'idle'";
        let watching = connect(&database.name()).await.unwrap();
        let under_way: i64 = watching.query_one(under_way, &[]).await.unwrap().get(0);
        assert_eq!(usize::try_from(under_way).unwrap(), connections);
    }
    released.store(true, Ordering::Relaxed);
    eventually(async || is_busy(0).await).await;
    service.list::<StaticGroup>(&token, Vec::new()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_statement_that_takes_too_long_ends_while_others_wait() {
    let limits =
        Limits { connections: 1, wait: Duration::from_millis(200), statement: Duration::from_secs(3) };
    let Some((database, service, sample)) = limited(limits).await else { return };
    // Until it is dropped, no other program keeps an extraction.
    let locked = connect(&database.name()).await.unwrap();
    locked.batch_execute("BEGIN; LOCK TABLE extractions IN SHARE MODE").await.unwrap();
    let first = tokio::spawn({
        let (service, command) = (service.clone(), command(&sample, Some("first")));
        async move { service.extract(command).await }
    });
    // Until the first one has the connection, others may pass.
    let rejection = eventually(async || match service.extract(command(&sample, None)).await {
        Ok(_) => Err("not yet in use"),
        Err(rejection) => Ok(rejection),
    })
    .await;
    assert!(matches!(rejection, Rejection::Busy), "{rejection:?}");
    let rejection = first.await.unwrap().unwrap_err();
    assert!(matches!(rejection, Rejection::Busy), "{rejection:?}");
    service.extract(command(&sample, None)).await.unwrap();
    drop(locked);
    service.extract(command(&sample, Some("first"))).await.unwrap();
}

#[tokio::test]
async fn a_cut_connection_costs_one_call() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let Some((database, service, sample)) = limited(limits).await else { return };
    service.extract(command(&sample, None)).await.unwrap();
    database
        .execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
             WHERE pid <> pg_backend_pid() AND datname = current_database()",
        )
        .await;
    // The call that finds out may fail, the one after it may not.
    if let Err(rejection) = service.extract(command(&sample, None)).await {
        assert!(matches!(rejection, Rejection::Unavailable), "{rejection:?}");
    }
    service.extract(command(&sample, None)).await.unwrap();
}

/// A process of the database that does not run: no limit of the database ends its statement.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_connection_is_replaced() {
    let Some(cluster) = Cluster::start() else { return };
    let database = Database::Postgres { url: cluster.url("postgres") };
    let watching = eventually(async || connect(&database.name()).await).await;
    let sample = seed(database.open().await.as_ref()).await.unwrap();
    let limits = Limits { connections: 1, statement: Duration::from_secs(1), ..Limits::default() };
    let service = limited_on(&database, limits).await;
    let ask = async || service.list::<StaticGroup>(&sample.tokens.main, Vec::new()).await;
    let mut frozen = Vec::new();
    for leaves in [false, true] {
        eventually(ask).await;
        let process = eventually(async || {
            let rows = watching
                .query(
                    "SELECT pid FROM pg_stat_activity
                     WHERE application_name = 'sallyport' AND state = 'idle' AND pid <> ALL($1)",
                    &[&frozen],
                )
                .await
                .unwrap();
            if let [row] = rows.as_slice() { Ok(row.get::<_, i32>(0)) } else { Err(rows.len()) }
        })
        .await;
        send("STOP", process);
        frozen.push(process);
        if leaves {
            tokio::time::timeout(Duration::from_millis(100), ask()).await.unwrap_err();
        } else {
            let rejection = tokio::time::timeout(Duration::from_secs(60), ask()).await.unwrap().unwrap_err();
            assert!(matches!(rejection, Rejection::Unavailable), "{rejection:?}");
        }
    }
    eventually(ask).await;
    frozen.into_iter().for_each(|process| send("CONT", process));
}

fn send(signal: &str, process: i32) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
    assert!(sent.unwrap().success());
}

on_both! { callers_who_leave_keep_their_connections_and_others_wait_for_a_while_only }
