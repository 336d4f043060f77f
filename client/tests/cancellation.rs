//! Futures that are dropped before their end: every kind of call, at each of its await points.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::{
    fs,
    future::poll_fn,
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};

use crate::{
    faulty::{CANARY, FaultyServer},
    sessions::call,
};
use futures_util::TryStreamExt;
use sallyport_client::{
    Client, ClientBuilder, Error, Middleware, MiddlewareFuture, Next, RetryPolicy, Separator, bytes::Bytes,
    contract::SearchStaticInstances, http,
};
use tempfile::TempDir;
use tokio::{
    runtime::{Builder, Runtime},
    task::yield_now,
};

/// Maximum number of await points of a call in these tests.
const LIMIT: usize = 1000;

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

/// The calls of each kind, as lines of `sessions`, with a part of their results and how many requests these take. `ID` is the id of an
/// extraction. The last one is a search of two batches, the first of which has two pages.
const CALLS: [(&str, &str, usize); 5] = [
    ("extract 1 id=ID", r#""returned":1"#, 1),
    ("text 1 lf id=ID", r#""entries":[{"ip":"gw.invalid","port":80}]"#, 1),
    ("groups", r#""groupId":1"#, 1),
    ("search 203.0.113.7", "[3]", 1),
    ("search #MAX stream batches=true size=1", "[1, 2, 3]", 3),
];

/// More addresses than one request takes.
fn stream(client: &Client) -> sallyport_client::Instances {
    let addresses = (0..=SearchStaticInstances::IPS_MAX_DISTINCT)
        .map(|number| format!("10.0.{}.{}", number / 250, number % 250));
    client.search(addresses).in_batches().page_size(1).stream()
}

/// Waits on both sides of each request.
struct Slow;

impl Middleware for Slow {
    fn handle<'a>(&'a self, request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
        Box::pin(async move {
            yield_now().await;
            let response = next.run(request).await;
            yield_now().await;
            response
        })
    }
}

/// A server for all calls, and a folder with a token that is replaced while the first request is under way, which is then rejected.
/// The next reply is a failure that is retried, and the others come in pieces, so that a future is woken within the head and within
/// the body.
struct Service {
    server: FaultyServer,
    folder: TempDir,
    /// Whether the client has a middleware with await points of its own.
    has_middleware: bool,
    /// Whether every connection is closed without a response.
    is_broken: Arc<AtomicBool>,
}

impl Service {
    fn start(servers: &Runtime, has_middleware: bool) -> Self {
        let (folder, is_broken) = (TempDir::new().unwrap(), Arc::new(AtomicBool::new(false)));
        let (file, next) = (folder.path().join("token"), folder.path().join("next"));
        fs::write(&file, "old-token").unwrap();
        let (broken, has_failed) = (is_broken.clone(), AtomicBool::new(false));
        let respond = move |_: usize, request: &str| {
            if broken.load(Ordering::Relaxed) {
                return "close".to_owned();
            }
            if request.contains("old-token") {
                fs::write(&next, CANARY).unwrap();
                fs::rename(&next, &file).unwrap();
                return "401".to_owned();
            }
            if !has_failed.swap(true, Ordering::Relaxed) {
                return "503".to_owned();
            }
            format!("pieces 60 1 {}", success(request))
        };
        let server = servers.block_on(FaultyServer::with(respond));
        Self { server, folder, has_middleware, is_broken }
    }

    fn builder(&self) -> ClientBuilder {
        let policy = RetryPolicy { initial_backoff: Duration::from_millis(1), ..RetryPolicy::default() };
        // Without certificates, which take longer to load than all the rest of a test.
        let http = sallyport_client::reqwest::Client::builder().tls_certs_only([]);
        let builder = Client::builder().base_url(self.server.base_url()).retry(policy).http(http);
        let builder = builder.token_file(self.folder.path().join("token"));
        if self.has_middleware { builder.middleware(Slow) } else { builder }
    }

    /// Sends the call of a line and drops it after `polls` polls. Returns whether it was complete by then, with the client and the line with
    /// its request id.
    async fn drop_after(
        &self,
        (line, result, _): (&str, &str, usize),
        polls: usize,
    ) -> (bool, Client, String) {
        let client = self.builder().build().unwrap();
        // Where the client makes the id, the caller knows it before the future is polled.
        let line = line.replace("ID", client.extract(1).ensure_request_id());
        let line = line.replace("MAX", &(SearchStaticInstances::IPS_MAX_DISTINCT + 1).to_string());
        let outcome = poll_at_most(call(&client, &line), polls).await;
        let is_complete = outcome.is_some();
        if let Some(found) = outcome {
            assert!(found.unwrap().contains(result), "{line}");
        }
        (is_complete, client, line)
    }
}

/// The success that a request asks for. The first address of [`stream`] stands for the first batch.
fn success(request: &str) -> String {
    let line = request.lines().next().unwrap();
    if line.contains("/static/groups") {
        return "groups 1".to_owned();
    }
    if line.contains("return_type=txt") {
        return r"200 gw.invalid:80\n".to_owned();
    }
    if line.contains("/proxy/extract") {
        return "gateway".to_owned();
    }
    let page = if request.contains("\"page\":2") { 2 } else { 1 };
    let (total, id) = if request.contains("\"10.0.0.0\"") { (2, page) } else { (1, 3) };
    format!("page {id} of {total}")
}

/// Runs `test` with each number of polls until it says that the future was complete, each time with a service of its own.
fn at_each_await_point(line: &str, mut test: impl FnMut(&Service, usize) -> bool) {
    let servers = servers();
    for has_middleware in [false, true] {
        let ends = |polls| test(&Service::start(&servers, has_middleware), polls);
        assert!((0..LIMIT).any(ends), "{line} has more than {LIMIT} await points");
    }
}

#[test]
fn a_client_works_after_any_dropped_call() {
    for one @ (line, result, requests_of_one) in CALLS {
        at_each_await_point(line, |service, polls| {
            let (is_complete, line) = without_tasks_left(async || {
                let (is_complete, client, line) = service.drop_after(one, polls).await;
                // The same client, with the connections and the retries that the dropped call left behind.
                let found = call(&client, &line).await.unwrap();
                assert!(found.contains(result), "{line}, {polls}: {found}");
                (is_complete, line)
            });
            let requests = service.server.requests();
            // 503, 401 and the pages of the dropped call, then those of the next one.
            let max = 2 * requests_of_one + 2;
            assert!(requests.len() <= max, "{line}, {polls}: {} requests", requests.len());
            if let Some((_, id)) = line.split_once("id=") {
                let is_under_id = |request: &String| request.contains(&format!("request_id={id}"));
                assert!(requests.iter().all(is_under_id), "{polls}: {requests:?}");
            }
            is_complete
        });
    }
}

#[test]
fn a_dropped_extraction_is_resumed_in_another_client_with_the_id_of_an_error() {
    for one in [CALLS[0], CALLS[1]] {
        at_each_await_point(one.0, |service, polls| {
            let (is_complete, line) = without_tasks_left(async || {
                let (is_complete, _, line) = service.drop_after(one, polls).await;
                (is_complete, line)
            });
            // Nothing of the first client runs any more. The second one fails, and the third goes on with its error.
            let error = without_tasks_left(async || {
                service.is_broken.store(true, Ordering::Relaxed);
                let client = service.builder().retry(RetryPolicy::none()).build().unwrap();
                call(&client, &line).await.unwrap_err()
            });
            assert!(matches!(error, Error::Transport(_)), "{error:?}");
            assert!(line.ends_with(&format!("id={}", error.request_id().unwrap())), "{error:?}");
            without_tasks_left(async || {
                service.is_broken.store(false, Ordering::Relaxed);
                let client = service.builder().build().unwrap();
                let resumed = if line.starts_with("text") {
                    client.extract_text(1, Separator::Lf).resume(&error).await.unwrap().request_id
                } else {
                    client.extract(1).resume(&error).await.unwrap().request_id
                };
                assert!(line.ends_with(&format!("id={resumed}")), "{line}, {polls}: {resumed}");
            });
            let requests = service.server.requests();
            let lines: Vec<_> = requests.iter().map(|request| request.lines().next().unwrap()).collect();
            assert!(lines.iter().all(|line| *line == lines[0]), "{line}, {polls}: {lines:?}");
            is_complete
        });
    }
}

#[test]
fn a_stream_goes_on_where_it_was_dropped() {
    at_each_await_point("stream", |service, polls| {
        without_tasks_left(async || {
            let client = service.builder().build().unwrap();
            let mut instances = stream(&client);
            let outcome = poll_at_most(instances.try_next(), polls).await;
            let first = outcome.iter().flat_map(|first| first.as_ref().unwrap());
            let mut ids: Vec<_> = first.map(|one| one.instance_id).collect();
            while let Some(instance) = instances.try_next().await.unwrap() {
                ids.push(instance.instance_id);
            }
            assert_eq!(ids, [1, 2, 3], "{polls}");
            outcome.is_some()
        })
    });
}

#[test]
fn a_dropped_page_is_requested_again() {
    at_each_await_point("pages", |service, polls| {
        without_tasks_left(async || {
            let client = service.builder().build().unwrap();
            let mut pages = client.search(["10.0.0.0"]).page_size(1).pages();
            let outcome = poll_at_most(pages.next(), polls).await;
            // One that was received is not.
            let expected = if outcome.is_some() { "\"page\":2" } else { "\"page\":1" };
            let before = service.server.requests().len();
            pages.next().await.unwrap().unwrap();
            let requests = &service.server.requests()[before..];
            assert!(requests.iter().all(|request| request.contains(expected)), "{polls}");
            outcome.is_some()
        })
    });
}
