//! Tokens that change while a client runs.
#![allow(clippy::unwrap_used, reason = "a file that cannot be written fails its test")]

use std::{
    fs,
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::faulty::{FaultyServer, Reply, no_groups, one_gateway, reply};
use sallyport_client::{
    Client, ClientBuilder, Error, RetryPolicy, TokenFile, TokenFuture, TokenSource, secrecy::SecretString,
};

/// A folder of one test, removed with it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn token(&self) -> PathBuf {
        self.0.path().join("token")
    }

    /// Replaces the file as a rotation should: by renaming another one over it.
    fn replace(&self, token: &str) {
        let next = self.0.path().join("next");
        fs::write(&next, token).unwrap();
        fs::rename(next, self.token()).unwrap();
    }
}

fn builder(server: &FaultyServer) -> ClientBuilder {
    Client::builder().base_url(server.base_url()).retry(RetryPolicy::none())
}

/// The tokens of the requests so far.
fn tokens(server: &FaultyServer) -> Vec<String> {
    let token = |request: String| {
        request.split("api_key=").nth(1).unwrap().split([' ', '&']).next().unwrap().to_owned()
    };
    server.requests().into_iter().map(token).collect()
}

#[tokio::test]
async fn a_rejected_token_is_replaced_at_once_by_a_newer_one() {
    // A whitelist without the caller rejects with 403, which another token does not change.
    for (status, sent) in [(401, ["old", "new"].as_slice()), (403, &["old"])] {
        let rejected = reply(status, &[], r#"{"code":1,"message":"no"}"#);
        let server = FaultyServer::start(vec![rejected, no_groups()]).await;
        let rotating = RotatingSource::new(&["old", "new"]);
        let client = builder(&server).token_source(rotating.clone()).build().unwrap();
        assert_eq!(client.groups().await.is_ok(), status == 401);
        assert_eq!(
            (tokens(&server), rotating.invalidated()),
            (sent.iter().map(ToString::to_string).collect(), sent.len() - 1)
        );
    }
}

#[tokio::test]
async fn a_rejection_is_final_without_a_newer_token() {
    let rejected = reply(401, &[], r#"{"code":1,"message":"no"}"#);
    let server = FaultyServer::start(vec![rejected]).await;
    let folder = Folder::new();
    folder.replace("first");
    let clients = [
        builder(&server).token("first"),
        builder(&server).token_file(folder.token()),
        builder(&server).token_source(|| async { Ok(SecretString::from("first")) }),
    ];
    for client in clients {
        assert!(matches!(client.build().unwrap().groups().await, Err(Error::Rejected(_))));
    }
    assert_eq!(tokens(&server), ["first"; 3]);
    // Two newer tokens, each rejected: the request is repeated once only.
    let rotating = RotatingSource::new(&["a", "b", "c"]);
    let client = builder(&server).token_source(rotating).build().unwrap();
    assert!(matches!(client.groups().await, Err(Error::Rejected(_))));
    assert_eq!(tokens(&server)[3..], ["a", "b"]);
}

#[tokio::test]
async fn a_source_that_fails_is_asked_again_with_backoff() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let source = move || {
        let number = counted.fetch_add(1, Ordering::Relaxed);
        async move { if number < 2 { Err("the vault is sealed".into()) } else { Ok(SecretString::from("late")) } }
    };
    let client = server.builder().token_source(source).build().unwrap();
    client.groups().await.unwrap();
    assert_eq!((tokens(&server), asked.load(Ordering::Relaxed)), (vec!["late".to_owned()], 3));

    let sealed = || async { Err("the vault is sealed".into()) };
    let error = builder(&server).token_source(sealed).build().unwrap().groups().await.unwrap_err();
    assert!(matches!(error, Error::Token(_)) && error.is_retryable(), "{error:?}");
    assert_eq!(error.to_string(), "cannot obtain the token: the vault is sealed");
}

#[tokio::test]
async fn a_source_that_hangs_ends_with_the_call() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let hanging = || std::future::pending();
    let client = server.builder().token_source(hanging).total_timeout(std::time::Duration::from_millis(50));
    let error = client.build().unwrap().groups().await.unwrap_err();
    assert!(matches!(&error, Error::Timeout(timeout) if timeout.is_total), "{error:?}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn no_text_holds_a_token_of_a_source() {
    let canary = "canary-token-1";
    let echo =
        reply(400, &[("x-request-id", canary)], &format!(r#"{{"code":"{canary}","message":"{canary}"}}"#));
    let server = FaultyServer::start(vec![echo, no_groups()]).await;
    let folder = Folder::new();
    folder.replace(canary);
    let file = TokenFile::open(folder.token()).unwrap();
    assert!(!format!("{file:?}").contains("canary"));
    let builder = builder(&server).token_source(file);
    assert!(!format!("{builder:?}").contains("canary"));
    let client = builder.build().unwrap();
    let error = client.groups().await.unwrap_err();
    let shown = format!("{error} {error:?} {client:?} {:?}", client.generated());
    assert!(!shown.contains("canary"), "{shown}");

    // A file without a valid token is named, and a source whose error repeats its last token does not show it.
    for invalid in ["canary token", "canary\u{e9}", "canary\ncanary", &"canary".repeat(4000), " \n"] {
        folder.replace(invalid);
        let error = TokenFile::open(folder.token()).unwrap_err();
        let (Error::Configuration(message), path) = (&error, folder.token()) else { panic!("{error:?}") };
        assert!(message.contains(&*path.to_string_lossy()) && !message.contains("canary"), "{message}");
        assert!(message.contains("expected") && !message.contains("trailing line break"), "{message}");
    }
    assert!(TokenFile::open("/").is_err());
    let source = || async { Ok(SecretString::from("canary token")) };
    let error = self::builder(&server).token_source(source).build().unwrap().groups().await.unwrap_err();
    assert!(matches!(error, Error::Configuration(_)), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
    let calls = AtomicUsize::new(0);
    let source = move || {
        let is_first = calls.fetch_add(1, Ordering::Relaxed) == 0;
        async move {
            if is_first {
                Ok(SecretString::from(canary))
            } else {
                Err(format!("no token after {canary}").into())
            }
        }
    };
    let client = self::builder(&server).token_source(source).build().unwrap();
    client.groups().await.unwrap();
    let error = client.groups().await.unwrap_err();
    assert_eq!(error.to_string(), "cannot obtain the token: no token after <API_KEY>");
}

/// Gives one token after another, the next one after each that was rejected.
#[derive(Clone)]
struct RotatingSource(Arc<Mutex<(Vec<&'static str>, usize)>>);

impl RotatingSource {
    fn new(tokens: &[&'static str]) -> Self {
        Self(Arc::new(Mutex::new((tokens.to_vec(), 0))))
    }

    fn invalidated(&self) -> usize {
        self.0.lock().unwrap().1
    }
}

impl TokenSource for RotatingSource {
    fn token(&self) -> TokenFuture<'_> {
        let (tokens, at) = &*self.0.lock().unwrap();
        let token = SecretString::from(tokens[*at]);
        Box::pin(std::future::ready(Ok(token)))
    }

    fn invalidate(&self) {
        self.0.lock().unwrap().1 += 1;
    }
}

#[tokio::test]
async fn a_rotated_extraction_keeps_its_request_id() {
    let rejected = reply(401, &[], r#"{"code":1,"message":"no"}"#);
    let server = FaultyServer::start(vec![rejected, Reply::Raw(Vec::new()), one_gateway()]).await;
    let client = server.builder().token_source(RotatingSource::new(&["old", "new"])).build().unwrap();
    let extraction = client.extract(1).await.unwrap();
    let (seen, id) = (server.requests(), format!("request_id={}", extraction.request_id));
    assert!(seen.len() == 3 && seen.iter().all(|request| request.contains(&id)), "{seen:?}");
    let header = |request: &String, token: &str| {
        request.to_ascii_lowercase().contains(&format!("x-api-key: {token}\r\n"))
    };
    assert!(header(&seen[0], "old") && header(&seen[1], "new") && header(&seen[2], "new"), "{seen:?}");
}
