//! The password and the certificate of a PostgreSQL server. `tests/sessions/databases.txt` has those that cannot be used.

use sallyport_server::store::{Location, OpenMode};

use super::{
    backend::{Database, connect},
    cluster::{Cluster, eventually},
};

#[tokio::test]
async fn nothing_that_is_printed_has_the_password() {
    let Some(database) = Database::postgres().await else { return };
    let url = database.name().replace("sallyport@", "sallyport:very-secret@");
    let location: Location = url.parse().unwrap();
    let store = location.open(OpenMode::Create).await.unwrap();
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
