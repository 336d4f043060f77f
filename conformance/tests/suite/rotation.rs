//! A token that is rotated while a client runs, by the code of `server token rotate`: this crate has client and server anyway.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use sallyport_client::{Client, TokenFile};
use sallyport_server::data::seed::seed;
use sallyport_server::domain::token::{Token, TokenKind};
use sallyport_server::store::registry::End;
use sallyport_server::store::{Location, OpenMode, Store};
use sallyport_server::{Config, start};

/// With an overlap both tokens are valid, without one the old token is revoked at once.
#[tokio::test]
async fn a_rotation_needs_no_restart_of_the_client() {
    let folder = tempfile::tempdir().expect("a folder");
    let (database, file) = (folder.path().join("sandbox.db"), folder.path().join("token"));
    let store = Arc::new(Store::open(&database, OpenMode::Create).expect("a database"));
    seed(store.as_ref()).await.expect("the sample data");
    let running = start(Config::loopback(store)).expect("a port");
    let registry = Location::File(database).open(OpenMode::Existing).await.expect("the database");
    let issued = registry.issue_token("aurora", TokenKind::Api, None).await.expect("a token");
    let mut number = issued.id;
    // As the docs of the client say: another file is renamed over it.
    let replace = |token: &Token| {
        let next = folder.path().join("next");
        fs::write(&next, token.expose()).expect("a file");
        fs::rename(&next, &file).expect("the token file");
    };
    replace(&issued.token);
    let client = Client::builder().base_url(running.base_url()).token_file(&file).build().expect("a client");
    client.extract(1).await.expect("an extraction");
    for overlap in [Duration::from_secs(3600), Duration::ZERO] {
        let rotation = registry.rotate_token(number, overlap, End::Never).await.expect("a rotation");
        let before = client.extract(1).await;
        assert_eq!(before.is_ok(), !overlap.is_zero(), "{before:?}");
        replace(&rotation.token);
        // The old token is used up to this time, as long as the service takes it.
        tokio::time::sleep(TokenFile::MAX_AGE).await;
        client.extract(1).await.expect("an extraction with the new token");
        number = rotation.id;
    }
}
