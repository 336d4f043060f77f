//! Futures that are dropped before their end.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

mod faulty;

use std::{
    future::poll_fn,
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};

use faulty::{FaultyServer, Reply, no_groups, one_gateway, reply};
use sallyport_client::{Client, Error, RetryPolicy};
use tokio::runtime::{Builder, Runtime};

/// Polls `future` up to `limit` times; `None` when it was dropped at one of its await points.
async fn poll_at_most<F: Future>(future: F, limit: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    let mut left = limit;
    poll_fn(move |context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

/// Runs `test` in a runtime of its own, in which nothing but the client runs, and waits until no task is left there.
fn without_tasks_left<T>(test: impl AsyncFnOnce() -> T) -> T {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let outcome = runtime.block_on(test());
    let started = Instant::now();
    while runtime.metrics().num_alive_tasks() > 0 {
        assert!(started.elapsed() < Duration::from_secs(20), "a task is left after the client was dropped");
        runtime.block_on(async { tokio::time::sleep(Duration::from_millis(1)).await });
    }
    outcome
}

/// The servers run elsewhere, so that their tasks are not counted.
fn servers() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

fn builder(server: &FaultyServer) -> sallyport_client::ClientBuilder {
    let policy = RetryPolicy { initial_backoff: Duration::from_millis(2), ..RetryPolicy::default() };
    // Without certificates, which take longer to load than all the rest of a test.
    let http = sallyport_client::reqwest::Client::builder().tls_certs_only([]);
    Client::builder().base_url(server.base_url()).token(faulty::CANARY).retry(policy).http(http)
}

/// Most await points of a call here; the responses come in few pieces.
const LIMIT: usize = 500;

#[test]
fn an_extraction_dropped_at_any_await_point_is_resumed_under_its_id() {
    let servers = servers();
    let slow = {
        let Reply::Raw(bytes) = one_gateway() else { unreachable!("it is bytes") };
        // In pieces, so that the future is woken within the head and within the body.
        Reply::Pieces(bytes.chunks(40).map(<[u8]>::to_vec).collect())
    };
    let mut completed = false;
    for polls in 0..LIMIT {
        let script = vec![reply(503, &[], ""), slow.clone(), one_gateway()];
        let server = servers.block_on(FaultyServer::start(script));
        let id = without_tasks_left(async || {
            let client = builder(&server).build().unwrap();
            let mut call = client.extract(1);
            let id = call.ensure_request_id().to_owned();
            completed = match poll_at_most(call.into_future(), polls).await {
                Some(outcome) => outcome.unwrap().endpoints.len() == 1,
                None => false,
            };
            id
        });
        // Nothing of the first client runs any more; another one goes on.
        let sent = server.seen().len();
        assert!(sent <= 2, "{polls}: {sent} requests");
        let resumed = without_tasks_left(async || {
            let client = builder(&server).build().unwrap();
            client.extract(1).request_id(id.as_str()).await.unwrap()
        });
        assert_eq!((resumed.request_id.as_str(), resumed.endpoints.len()), (id.as_str(), 1));
        let requests = server.seen();
        let lines: Vec<_> = requests.iter().map(|request| request.lines().next().unwrap()).collect();
        assert!(lines.iter().all(|line| *line == lines[0]) && lines[0].contains(&id), "{polls}: {lines:?}");
        if completed {
            return;
        }
    }
    panic!("an extraction has more than {LIMIT} await points");
}

#[test]
fn a_client_is_as_good_as_new_after_a_dropped_call() {
    let servers = servers();
    for polls in 0..LIMIT {
        let server =
            servers.block_on(FaultyServer::start(vec![reply(429, &[("retry-after", "0")], ""), no_groups()]));
        let is_complete = without_tasks_left(async || {
            let client = builder(&server).build().unwrap();
            let outcome = poll_at_most(client.groups().into_future(), polls).await;
            // The same client, with the connections and the retries that the dropped call left behind.
            assert!(client.groups().await.unwrap().is_empty());
            outcome.is_some()
        });
        if is_complete {
            return;
        }
    }
    panic!("a listing has more than {LIMIT} await points");
}

#[test]
fn pages_go_on_where_they_were_dropped() {
    let servers = servers();
    let page = |number: u8| {
        faulty::ok(&format!(
            r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[{{"instanceId":{number},"offerId":31,
            "status":"active","ip":"203.0.113.7","port":1,"protocols":[],"countryCode":"USA","cityCode":"NYC","ispType":1,
            "expiresAt":null,"activatedAt":null,"capabilities":{{}},"groupId":null}}],"page":{number},"pageSize":1,"total":2}}}}"#
        ))
    };
    for polls in 0..LIMIT {
        let is_complete = without_tasks_left(async || {
            let first = servers.spawn(FaultyServer::start(vec![page(1)])).await.unwrap();
            let client = builder(&first).build().unwrap();
            let mut pages = client.search(["203.0.113.7"]).page_size(1).pages();
            let outcome = poll_at_most(pages.next(), polls).await;
            // A dropped page is requested again, a received one is not.
            let expected = if outcome.is_some() { "\"page\":2" } else { "\"page\":1" };
            let before = first.seen().len();
            pages.next().await.unwrap().unwrap();
            assert!(first.seen()[before..].iter().all(|request| request.contains(expected)), "{polls}");
            outcome.is_some()
        });
        if is_complete {
            return;
        }
    }
    panic!("a page has more than {LIMIT} await points");
}

#[test]
fn an_error_goes_on_in_another_client() {
    let servers = servers();
    let server = servers.block_on(FaultyServer::start(vec![Reply::Raw(Vec::new()), one_gateway()]));
    without_tasks_left(async || {
        let client = builder(&server).retry(RetryPolicy::none()).build().unwrap();
        let error = client.extract(1).await.unwrap_err();
        assert!(matches!(error, Error::Transport(_)));
        drop(client);
        let other = builder(&server).build().unwrap();
        assert_eq!(other.extract(1).resume(&error).await.unwrap().request_id, error.request_id().unwrap());
    });
}
