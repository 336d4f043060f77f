//! What may fail under a running store: each fault has its response, and goes away with its cause.

use std::{sync::Arc, time::Duration};

use sallyport_server::{
    data::seed::{Sample, seed},
    domain::{extraction::ExtractCommand, rejection::Rejection, service::Service},
    store::{
        Location, OpenMode,
        postgres::{Limits, PostgresStore},
    },
};

use crate::{backend::Database, cluster::eventually, requests};

/// A seeded PostgreSQL database, and a service on it that has these limits.
async fn limited(limits: Limits) -> Option<(Database, Service, Sample)> {
    let database = Database::postgres().await?;
    let sample = seed(database.open().await.as_ref()).await.unwrap();
    let service = limited_on(&database, limits).await;
    Some((database, service, sample))
}

async fn limited_on(database: &Database, limits: Limits) -> Service {
    let Location::Postgres(url) = database.name().parse().unwrap() else { panic!("a URL is no file") };
    Service::new(Arc::new(PostgresStore::open(&url, OpenMode::Existing, limits).await.unwrap()))
}

fn command(sample: &Sample, request_id: Option<&str>) -> ExtractCommand {
    let command = requests::command(&sample.tokens.main, 1, &sample.plentiful_region);
    ExtractCommand { request_id: request_id.map(str::to_owned), ..command }
}

#[tokio::test]
async fn a_slow_statement_is_given_up() {
    let limits = Limits { statement: Duration::from_millis(200), ..Limits::default() };
    let Some((database, service, sample)) = limited(limits).await else { return };
    let locked = database.lock_extractions().await;
    let rejection = service.extract(command(&sample, Some("slow"))).await.unwrap_err();
    assert!(matches!(rejection, Rejection::Busy { .. }), "{rejection:?}");
    drop(locked);
    eventually(async || service.extract(command(&sample, Some("slow"))).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn when_every_connection_is_in_use_callers_wait_for_a_while_only() {
    let limits = Limits { connections: 1, wait: Duration::from_millis(200), ..Limits::default() };
    let Some((database, service, sample)) = limited(limits).await else { return };
    let locked = database.lock_extractions().await;
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
    assert!(matches!(rejection, Rejection::Busy { .. }), "{rejection:?}");
    drop(locked);
    first.await.unwrap().unwrap();
    service.extract(command(&sample, None)).await.unwrap();
}

#[tokio::test]
async fn a_read_only_database_is_read() {
    let Some((database, _, sample)) = limited(Limits::default()).await else { return };
    let name = database.name();
    let (_, name) = name.rsplit_once('/').unwrap();
    database.execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on")).await;
    let service = limited_on(&database, Limits::default()).await;
    service.extract(command(&sample, None)).await.unwrap();
    service.groups(&sample.tokens.main).await.unwrap();
    let rejection = service.extract(command(&sample, Some("kept"))).await.unwrap_err();
    assert!(matches!(rejection, Rejection::Unavailable { .. }), "{rejection:?}");
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
        assert!(matches!(rejection, Rejection::Unavailable { .. }), "{rejection:?}");
    }
    service.extract(command(&sample, None)).await.unwrap();
}
