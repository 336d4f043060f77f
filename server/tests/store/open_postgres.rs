//! PostgreSQL databases that cannot be used, and those that several programs open at once.

use sallyport_server::store::{
    Location, OpenError, OpenMode, StoreError,
    postgres::{Limits, PostgresStore},
};

use super::{
    backend::{Database, connect},
    cluster::{Cluster, eventually},
};

async fn open(url: &str, mode: OpenMode) -> Result<(), OpenError> {
    url.parse::<Location>().unwrap().open(mode).await.map(drop)
}

async fn rejected(url: &str) -> OpenError {
    let error = open(url, OpenMode::Existing).await.unwrap_err();
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    assert!(error.to_string().contains("postgres://"), "{error}");
    assert!(!format!("{error} {error:?}").contains("very-secret"), "{error}");
    error
}

#[tokio::test]
async fn a_server_that_cannot_be_reached() {
    for url in ["postgres://a:very-secret@127.0.0.1:1/x", "postgres://a:very-secret@%2Fnowhere/x"] {
        let error = rejected(url).await;
        assert!(matches!(error, OpenError::Store { source: StoreError::Unavailable { .. }, .. }), "{error}");
    }
}

#[tokio::test]
async fn empty_foreign_and_newer_databases() {
    let Some(database) = Database::postgres().await else { return };
    let url = database.name();
    assert!(matches!(rejected(&url).await, OpenError::Missing { .. }));
    let nowhere = rejected(&format!("{url}_not")).await;
    assert!(matches!(nowhere, OpenError::Store { source: StoreError::Unavailable { .. }, .. }), "{nowhere}");

    database.execute("CREATE TABLE recipes (name text)").await;
    assert!(matches!(rejected(&url).await, OpenError::Foreign { .. }));
    assert!(matches!(open(&url, OpenMode::Create).await, Err(OpenError::Foreign { .. })));
    database.execute("DROP TABLE recipes").await;

    open(&url, OpenMode::Create).await.unwrap();
    open(&url, OpenMode::Existing).await.unwrap();
    database.execute("UPDATE sallyport_schema SET version = 99").await;
    assert!(matches!(rejected(&url).await, OpenError::Newer { found: 99, .. }));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_that_start_together_one_migrates() {
    let Some(database) = Database::postgres().await else { return };
    let url = database.name();
    let starts: Vec<_> = (0..8)
        .map(|_| {
            let url = url.clone();
            tokio::spawn(async move { open(&url, OpenMode::Create).await })
        })
        .collect();
    for start in starts {
        start.await.unwrap().unwrap();
    }
    let client = connect(&url).await.unwrap();
    let versions = client.query("SELECT version FROM sallyport_schema", &[]).await.unwrap();
    assert_eq!(versions.len(), 1);
}

#[tokio::test]
async fn nothing_that_is_printed_has_the_password() {
    let Some(database) = Database::postgres().await else { return };
    let url = database.name().replace("sallyport@", "sallyport:very-secret@");
    let location: Location = url.parse().unwrap();
    let Location::Postgres(url) = &location else { panic!("a URL is no file") };
    let store = PostgresStore::open(url, OpenMode::Create, Limits::default()).await.unwrap();
    assert!(!format!("{location} {location:?} {store:?}").contains("very-secret"));
}

/// Through the program, since the authorities are chosen by the environment.
#[tokio::test(flavor = "multi_thread")]
async fn the_certificate_of_the_database_is_checked() {
    let port = std::net::TcpListener::bind("localhost:0").unwrap().local_addr().unwrap().port();
    let Some((cluster, certificate)) = Cluster::start_tls(port) else { return };
    let socket = cluster.url("postgres").replace("/postgres", &format!(":{port}/postgres"));
    drop(eventually(async || connect(&socket).await).await);
    let made = |host: &str, authorities: &std::path::Path| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_server"))
            .args(["seed", "--db", &format!("postgres://sallyport@{host}:{port}/postgres?sslmode=require")])
            .env("SSL_CERT_FILE", authorities)
            .env_remove("SSL_CERT_DIR")
            .output()
            .unwrap();
        if output.status.success() { Ok(()) } else { Err(String::from_utf8(output.stderr).unwrap()) }
    };
    let unknown = made("localhost", std::path::Path::new("/dev/null")).unwrap_err();
    assert!(unknown.contains("no certificate authorities") && unknown.lines().count() == 1, "{unknown}");
    let other_name = made("127.0.0.1", &certificate).unwrap_err();
    assert!(other_name.contains("not valid for name"), "{other_name}");
    made("localhost", &certificate).unwrap();
}
