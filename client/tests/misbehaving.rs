//! Servers that misbehave in ways that no script of `sessions` says.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::time::Duration;

use sallyport_client::{Client, Error, RetryPolicy};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::timeout,
};

use crate::faulty::FaultyServer;

#[tokio::test]
async fn an_unexpected_response_has_the_headers_that_help_and_no_others() {
    let garbage = "200 garbage + content-type: text/plain + x-request-id: t1 + set-cookie: private";
    // Compressed bytes are no excerpt.
    let server = FaultyServer::start(&format!("{garbage} | 200 {{}} + content-encoding: gzip")).await;
    let client = server.client();
    let error = client.groups().await.unwrap_err();
    let Error::UnexpectedResponse(response) = &error else { panic!("{error:?}") };
    let names: Vec<&str> = response.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, response.excerpt.as_str()), (vec!["content-length", "content-type"], "garbage"));
    assert_eq!((error.trace_id(), error.request_id()), (Some("t1"), None));
    let error = client.groups().await.unwrap_err();
    assert!(
        matches!(&error, Error::UnexpectedResponse(response) if response.excerpt.is_empty()),
        "{error:?}"
    );
}

/// The size of a chunk may have any number of leading zeros, and none of them counts as body. The request's timeout ends the
/// call and the connection, and others go on meanwhile on the same thread.
#[tokio::test]
async fn a_chunk_size_without_end_is_not_read_to_its_end() {
    let (minute, other) = (Duration::from_secs(60), FaultyServer::start("groups").await);
    let other = other.builder().request_timeout(minute).total_timeout(minute).build().unwrap();
    for status in [200, 503] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let sending = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
            let head = format!("HTTP/1.1 {status} Some\r\ntransfer-encoding: chunked\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            while stream.write_all(&[b'0'; 1 << 14]).await.is_ok() {}
        });
        let builder = Client::builder().base_url(base).token("token").retry(RetryPolicy::none());
        let client = builder.request_timeout(Duration::from_millis(300)).build().unwrap();
        let call = async { client.groups().await.unwrap_err() };
        let others = async { other.groups().await.unwrap() };
        let (error, _) = timeout(minute, async { tokio::join!(call, others) }).await.unwrap();
        assert!(
            matches!((&error, error.status()), (Error::Timeout(_), None) | (Error::Rejected(_), Some(_))),
            "{error:?}"
        );
        timeout(minute, sending).await.expect("the connection is closed").unwrap();
    }
}

#[tokio::test]
async fn connections_that_were_closed_meanwhile_are_replaced_without_a_retry() {
    // All of the pool may be closed.
    let slow = "after 100 kept gateway";
    let server = FaultyServer::start(&format!("{slow} | {slow} | close | close | gateway")).await;
    let client = server.builder().retry(RetryPolicy::none()).build().unwrap();
    let (one, two) = tokio::join!(client.extract(1).into_future(), client.extract(1).into_future());
    assert!(one.is_ok() && two.is_ok(), "{one:?} {two:?}");
    let extraction = client.extract(1).with_response().await.unwrap();
    let (seen, id) = (server.requests(), format!("request_id={}", extraction.value.request_id));
    assert_eq!((extraction.attempts, seen.len()), (3, 5));
    assert!(seen[2..].iter().all(|request| request.contains(&id)), "{seen:?}");

    // One that is closed during its handshake was never kept alive.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}", listener.local_addr().unwrap());
    let accepted = tokio::spawn(async move {
        drop(listener.accept().await.unwrap());
        let mut count = 1;
        while timeout(Duration::from_millis(300), listener.accept()).await.is_ok() {
            count += 1;
        }
        count
    });
    let builder = server.builder().base_url(base).request_timeout(Duration::from_secs(4));
    let client = builder.retry(RetryPolicy::none()).build().unwrap();
    assert!(matches!(client.groups().await.unwrap_err(), Error::Transport(error) if error.is_connect));
    assert_eq!(accepted.await.unwrap(), 1);
}
