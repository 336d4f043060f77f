//! Waits, repetitions and their limits: no hang, no second extraction.

use std::time::{Duration, Instant, SystemTime};

use sallyport_client::{Error, RetryPolicy};
use tokio::{net::TcpListener, time::timeout};

use crate::{
    faulty::{FaultyServer, Reply, kept, no_groups, one_gateway, reply},
    listing_error,
};

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

/// Only lower bounds: a busy machine makes waits longer, never shorter.
#[tokio::test]
async fn no_wait_or_one_that_is_over_leaves_the_backoff() {
    let past = httpdate::fmt_http_date(SystemTime::now() - Duration::from_secs(3600));
    for wait in ["0", past.as_str()] {
        let throttled = reply(429, &[("retry-after", wait)], "{}");
        let server = FaultyServer::start(vec![throttled.clone(), throttled, no_groups()]).await;
        let policy = RetryPolicy { initial_backoff: Duration::from_millis(200), ..RetryPolicy::default() };
        let patient = server.builder().request_timeout(Duration::from_secs(30));
        let client = patient.total_timeout(Duration::from_secs(60)).retry(policy).build().unwrap();
        let started = Instant::now();
        client.groups().await.unwrap();
        assert_eq!(server.requests().len(), 3, "{wait}");
        // At least half of 200 ms and half of 400 ms.
        assert!(started.elapsed() >= Duration::from_millis(300), "{wait}: {:?}", started.elapsed());
    }
}

#[tokio::test]
async fn a_retry_after_past_the_total_timeout_ends_the_call_at_once() {
    let server = FaultyServer::start(vec![reply(429, &[("retry-after", "3600")], "")]).await;
    let error = server.client().groups().await.unwrap_err();
    assert!(matches!(error, Error::Throttled(_)) && error.is_retryable(), "{error}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3600)));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn retries_are_limited_and_can_be_disabled() {
    let server = FaultyServer::start(vec![reply(503, &[], "")]).await;
    assert!(server.client().groups().await.is_err());
    assert_eq!(server.requests().len(), 3);
    let once = server.builder().retry(RetryPolicy::none()).build().unwrap();
    assert!(once.groups().await.is_err());
    assert_eq!(server.requests().len(), 4);
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
async fn a_rejection_whose_body_breaks_off_keeps_its_status_and_its_wait() {
    for status in [429, 503] {
        let cut = format!(
            "HTTP/1.1 {status} No\r\nretry-after: 60\r\ncontent-length: 500\r\n\r\n{{\"code\":7,\"message\":"
        );
        let error = listing_error(Reply::Raw(cut.into_bytes())).await;
        assert_eq!(error.status().map(|status| status.as_u16()), Some(status), "{error:?}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
    }
}

#[tokio::test]
async fn a_rejected_caller_is_not_retried() {
    let body = r#"{"code":40301,"message":"not in the whitelist"}"#;
    let server = FaultyServer::start(vec![reply(403, &[("retry-after", "0")], body), one_gateway()]).await;
    let error = server.client().extract(1).await.unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error:?}");
    assert_eq!(server.requests().len(), 1);
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
async fn a_shortage_with_any_status_is_waited_out() {
    let body = r#"{"code":50301,"message":"none left"}"#;
    for status in [200, 400, 404, 409, 422, 500, 503] {
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
async fn a_rejection_of_another_operation_is_no_shortage() {
    let rejection = reply(400, &[("retry-after", "1")], r#"{"code":40001,"message":"no"}"#);
    let server = FaultyServer::start(vec![rejection, no_groups()]).await;
    assert!(matches!(server.client().groups().await, Err(Error::Rejected(_))));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn retry_after_is_limited_by_the_policy_if_it_says_so() {
    let server = FaultyServer::start(vec![reply(429, &[("retry-after", "2")], ""), no_groups()]).await;
    let second = Duration::from_secs(1);
    let policy = RetryPolicy { max_retry_after: Some(second), ..RetryPolicy::default() };
    let error = server.builder().retry(policy).build().unwrap().groups().await.unwrap_err();
    assert_eq!((error.retry_after(), server.requests().len()), (Some(2 * second), 1));
    // A short maximum of the backoff does not limit Retry-After.
    let server = FaultyServer::start(vec![reply(429, &[("retry-after", "1")], ""), no_groups()]).await;
    let policy = RetryPolicy { max_backoff: Duration::from_millis(1), ..RetryPolicy::default() };
    let started = Instant::now();
    server.builder().retry(policy).build().unwrap().groups().await.unwrap();
    assert!(started.elapsed() >= second);
}
