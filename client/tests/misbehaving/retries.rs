//! Waits, repetitions and their limits: no hang, no second extraction.

use std::time::{Duration, Instant, SystemTime};

use sallyport_client::{Error, RetryPolicy};
use tokio::{net::TcpListener, time::timeout};

use crate::faulty::{FaultyServer, Reply, kept, no_groups, one_gateway, reply};

#[tokio::test]
async fn throttling_is_waited_out_in_both_forms_of_retry_after() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(1));
    for wait in ["0", "1", date.as_str()] {
        let server = FaultyServer::start(vec![reply(429, &[("retry-after", wait)], "{}"), no_groups()]).await;
        let started = Instant::now();
        server.client().groups().await.unwrap();
        if wait == "1" {
            assert!(started.elapsed() >= Duration::from_secs(1));
        }
        assert_eq!(server.requests().len(), 2, "{wait}");
    }
}

#[tokio::test]
async fn an_extraction_keeps_its_request_id_over_every_kind_of_interruption() {
    let cut = Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"code\":0,".to_vec());
    for fault in [cut, Reply::Raw(Vec::new()), Reply::Hang, reply(500, &[], "")] {
        let server = FaultyServer::start(vec![fault.clone(), fault, one_gateway()]).await;
        let extraction = server.client().extract(1).await.unwrap();
        let seen = server.requests();
        assert_eq!(seen.len(), 3);
        let number = format!("request_id={}", extraction.request_id);
        assert!(seen.iter().all(|request| request.contains(&number)), "{seen:?}");
    }
}

#[tokio::test]
async fn a_closed_connection_that_was_kept_alive_is_replaced_without_a_retry() {
    let (closed, cut) =
        (Reply::Raw(Vec::new()), Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{".to_vec()));
    for (after, is_served, requests) in [
        (vec![closed.clone(), no_groups()], true, 3),
        // A fresh connection that is closed, and one that breaks off later, are failures as before.
        (vec![closed.clone(), closed.clone(), no_groups()], false, 3),
        (vec![cut, no_groups()], false, 2),
    ] {
        let server = FaultyServer::start([vec![kept(no_groups())], after].concat()).await;
        let client = server.builder().retry(RetryPolicy::none()).build().unwrap();
        client.groups().await.unwrap();
        let outcome = client.groups().with_response().await;
        assert_eq!(outcome.as_ref().is_ok(), is_served, "{outcome:?}");
        assert_eq!(server.requests().len(), requests);
        assert!(outcome.is_err_and(|error| matches!(error, Error::Transport(_))) || requests == 3);
    }
    // All of the pool may be closed.
    let Reply::Kept(bytes, _) = kept(one_gateway()) else { panic!("it is kept") };
    let slow = Reply::Kept(bytes, Duration::from_millis(100));
    let server = FaultyServer::start(vec![slow.clone(), slow, closed.clone(), closed, one_gateway()]).await;
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
    let client = server.builder().base_url(base).retry(RetryPolicy::none()).build().unwrap();
    assert!(matches!(client.groups().await.unwrap_err(), Error::Transport(error) if error.is_connect));
    assert_eq!(accepted.await.unwrap(), 1);

    // A front that closes after each response without saying so.
    let closing = move |_, _: &str| match kept(no_groups()) {
        Reply::Kept(bytes, _) => Reply::Raw(bytes),
        other => other,
    };
    let server = FaultyServer::with(closing).await;
    let client = server.builder().retry(RetryPolicy::none()).build().unwrap();
    for _ in 0..50 {
        client.groups().await.unwrap();
    }
}

#[tokio::test]
async fn the_generated_client_makes_a_request_id_and_keeps_it() {
    let server = FaultyServer::start(vec![reply(500, &[], ""), one_gateway()]).await;
    let client = server.client();
    let generated = client.generated();
    generated.extract_proxies().num(1).send().await.unwrap();
    let number = |request: &String| {
        request
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with("x-request-id: "))
            .map(str::to_owned)
            .unwrap()
    };
    let seen = server.requests();
    assert_eq!(number(&seen[0]), number(&seen[1]));
}

#[tokio::test]
async fn stalled_and_slow_responses_time_out() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n";
    let bytes = [head.as_slice(), &[b' '; 10_000]].concat();
    let drip = Reply::Pieces(bytes.chunks(1).map(<[u8]>::to_vec).collect(), Duration::from_millis(5));
    for fault in [Reply::Hang, drip] {
        let server = FaultyServer::start(vec![fault]).await;
        let started = Instant::now();
        let error = server.builder().retry(RetryPolicy::none()).build().unwrap().groups().await.unwrap_err();
        assert!(matches!(&error, Error::Timeout(timeout) if !timeout.is_total), "{error:?}");
        assert!(started.elapsed() < Duration::from_secs(3));
    }
}

#[tokio::test]
async fn the_total_limit_ends_a_call_with_its_retries() {
    let server = FaultyServer::start(vec![Reply::Hang]).await;
    let policy = RetryPolicy { max_retries: 1000, ..RetryPolicy::default() };
    let client = server.builder().retry(policy).total_timeout(Duration::from_millis(600)).build().unwrap();
    let started = Instant::now();
    let error = client.groups().await.unwrap_err();
    assert!(matches!(error, Error::Timeout(_)), "{error:?}");
    assert!(started.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn no_limit_is_too_large() {
    let policy = RetryPolicy {
        max_retries: 1,
        initial_backoff: Duration::MAX,
        max_backoff: Duration::MAX,
        max_retry_after: None,
    };
    let wait = u64::MAX.to_string();
    let server = FaultyServer::start(vec![reply(429, &[("retry-after", &wait)], "")]).await;
    let endless = |server: &FaultyServer| {
        server
            .builder()
            .connect_timeout(Duration::MAX)
            .request_timeout(Duration::MAX)
            .total_timeout(Duration::MAX)
            .max_body_bytes(usize::MAX)
            .retry(policy.clone())
            .build()
            .unwrap()
    };
    let error = endless(&server).groups().await.unwrap_err();
    assert_eq!(error.retry_after(), Some(Duration::from_secs(u64::MAX)));
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{{", u64::MAX / 2);
    let server = FaultyServer::start(vec![Reply::Raw(head.into_bytes())]).await;
    assert!(matches!(endless(&server).groups().await.unwrap_err(), Error::Transport(_)));
}

#[tokio::test]
async fn a_shortage_is_waited_out() {
    let body = r#"{"code":50301,"message":"none left"}"#;
    for status in [200, 422] {
        let shortage = reply(status, &[("retry-after", "1")], body);
        let server = FaultyServer::start(vec![shortage, one_gateway()]).await;
        let started = Instant::now();
        let extraction = server.client().extract(1).await.unwrap();
        assert!(started.elapsed() >= Duration::from_secs(1), "{status}");
        let (seen, id) = (server.requests(), format!("request_id={}", extraction.request_id));
        assert!(seen.len() == 2 && seen.iter().all(|request| request.contains(&id)), "{status}: {seen:?}");
    }
}

#[tokio::test]
async fn retries_of_all_calls_share_a_budget() {
    let server = FaultyServer::start(vec![reply(503, &[], "")]).await;
    let policy = RetryPolicy { max_retries: 60, initial_backoff: Duration::ZERO, ..RetryPolicy::default() };
    let client = server.builder().retry(policy).total_timeout(Duration::from_secs(60)).build().unwrap();
    // Sixty retries of the first call leave forty to the second one, and none to a third.
    for requests in [61, 102, 103] {
        assert!(matches!(client.clone().groups().await, Err(Error::Rejected(_))));
        assert_eq!(server.requests().len(), requests);
    }
}
