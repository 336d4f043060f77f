//! Backups that are taken while a server serves requests, and what is restored from them.

use std::{
    process::Command,
    sync::{Arc, atomic::Ordering},
};

use sallyport_server::data::seed::seed;

use super::{
    backend::{Database, on_both},
    cluster,
    processes::{Load, Outcome, extract, start_server},
};

async fn a_backup_has_all_extractions_that_ended_before_it_began(database: Database) {
    let other = match &database {
        Database::Sqlite { .. } => Database::sqlite(),
        Database::Postgres { .. } => Database::postgres().await,
    };
    let restored = other.unwrap();
    let sample = Arc::new(seed(database.open().await.as_ref()).await.unwrap());
    let server = start_server(&database.name());
    let load = Arc::new(Load::default());
    load.servers.lock().unwrap().push(server.address);
    let callers: Vec<_> =
        (0..3).map(|caller| tokio::spawn(Arc::clone(&load).call(Arc::clone(&sample), caller))).collect();
    load.more(&load.good, 40).await;

    let extracted = load.given.lock().unwrap().clone();
    let (from, to) = (database.name(), restored.name());
    // The commands of POSTGRESQL.md.
    match &database {
        Database::Sqlite { .. } => {
            rusqlite::Connection::open(from).unwrap().execute("VACUUM INTO ?1", [to]).unwrap();
        }
        Database::Postgres { .. } => {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("backup");
            let programs = cluster::programs().unwrap();
            let run = |program: &str, arguments: &[&str]| {
                let output =
                    Command::new(programs.join(program)).args(arguments).arg(&file).output().unwrap();
                assert!(output.status.success(), "{program}: {}", String::from_utf8_lossy(&output.stderr));
            };
            run("pg_dump", &["--format=custom", "--dbname", &from, "--file"]);
            run("pg_restore", &["--dbname", &to]);
        }
    }
    // Callers noticed nothing of it.
    load.more(&load.good, 20).await;
    load.done.store(true, Ordering::Relaxed);
    for caller in callers {
        caller.await.unwrap();
    }

    let server = start_server(&restored.name());
    assert!(!extracted.is_empty());
    for (id, gateways) in extracted {
        assert_eq!(extract(server.address, &sample, id).await, Outcome::Given(gateways));
    }
}

on_both! { a_backup_has_all_extractions_that_ended_before_it_began }
