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

use crate::faulty::{CANARY, FaultyServer, Reply, ok, one_gateway, plain_text, reply};
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

#[derive(Clone, Copy, Debug, PartialEq)]
enum Call {
    Extract,
    ExtractText,
    Groups,
    Search,
    /// A search of two batches, the first of which has two pages.
    Stream,
}

impl Call {
    const ALL: [Self; 5] = [Self::Extract, Self::ExtractText, Self::Groups, Self::Search, Self::Stream];

    /// Sends the call, an extraction under `id`, and returns the number of results.
    async fn send(self, client: &Client, id: &str) -> Result<usize, Error> {
        Ok(match self {
            Self::Extract => client.extract(1).request_id(id).await?.endpoints.len(),
            Self::ExtractText => {
                client.extract_text(1, Separator::Lf).request_id(id).await?.endpoints().count()
            }
            Self::Groups => client.groups().await?.len(),
            Self::Search => client.search(["203.0.113.7"]).await?.len(),
            Self::Stream => stream(client).try_collect::<Vec<_>>().await?.len(),
        })
    }

    /// Goes on with an extraction that failed with `error`.
    async fn resume(self, client: &Client, error: &Error) -> Result<String, Error> {
        Ok(match self {
            Self::ExtractText => client.extract_text(1, Separator::Lf).resume(error).await?.request_id,
            _ => client.extract(1).resume(error).await?.request_id,
        })
    }

    fn is_extraction(self) -> bool {
        matches!(self, Self::Extract | Self::ExtractText)
    }

    /// How many gateways, groups or instances [`Service`] has for it.
    fn results(self) -> usize {
        if self == Self::Stream { 3 } else { 1 }
    }
}

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
                return Reply::Raw(Vec::new());
            }
            if request.contains("old-token") {
                fs::write(&next, CANARY).unwrap();
                fs::rename(&next, &file).unwrap();
                return reply(401, &[], "");
            }
            if !has_failed.swap(true, Ordering::Relaxed) {
                return reply(503, &[], "");
            }
            let Reply::Raw(bytes) = success(request) else { unreachable!("it is bytes") };
            Reply::Pieces(bytes.chunks(60).map(<[u8]>::to_vec).collect(), Duration::from_millis(1))
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

    /// Sends `call` and drops it after `polls` polls. Returns whether it was complete by then, with the client and the request id.
    async fn drop_after(&self, call: Call, polls: usize) -> (bool, Client, String) {
        let client = self.builder().build().unwrap();
        // Where the client makes the id, the caller knows it before the future is polled.
        let id = client.extract(1).ensure_request_id().to_owned();
        let outcome = poll_at_most(call.send(&client, &id), polls).await;
        let is_complete = outcome.is_some();
        if let Some(found) = outcome {
            assert_eq!(found.unwrap(), call.results(), "{call:?}");
        }
        (is_complete, client, id)
    }
}

/// The success that a request asks for. The first address of [`stream`] stands for the first batch.
fn success(request: &str) -> Reply {
    let line = request.lines().next().unwrap();
    if line.contains("/static/groups") {
        let group = r#"{"groupId":1,"name":"n","createdAt":"2026-01-01T00:00:00Z","updatedAt":"2026-01-01T00:00:00Z"}"#;
        return ok(&format!(r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[{group}]}}}}"#));
    }
    if line.contains("return_type=txt") {
        return plain_text("gw.invalid:80\n");
    }
    if line.contains("/proxy/extract") {
        return one_gateway();
    }
    let page = if request.contains("\"page\":2") { 2 } else { 1 };
    let (total, id) = if request.contains("\"10.0.0.0\"") { (2, page) } else { (1, 3) };
    ok(&format!(
        r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[{{"instanceId":{id},"offerId":31,
        "status":"active","ip":"203.0.113.7","port":1,"protocols":[],"countryCode":"USA","cityCode":"NYC","ispType":1,
        "expiresAt":null,"activatedAt":null,"capabilities":{{}},"groupId":null}}],"page":{page},"pageSize":1,"total":{total}}}}}"#
    ))
}

/// Runs `test` with each number of polls until it says that the future was complete, each time with a service of its own.
fn at_each_await_point(calls: &[Call], mut test: impl FnMut(&Service, Call, usize) -> bool) {
    let servers = servers();
    for (call, has_middleware) in calls.iter().flat_map(|call| [(*call, false), (*call, true)]) {
        let ends = |polls| test(&Service::start(&servers, has_middleware), call, polls);
        assert!((0..LIMIT).any(ends), "{call:?} has more than {LIMIT} await points");
    }
}

#[test]
fn a_client_works_after_any_dropped_call() {
    at_each_await_point(&Call::ALL, |service, call, polls| {
        let (is_complete, id) = without_tasks_left(async || {
            let (is_complete, client, id) = service.drop_after(call, polls).await;
            // The same client, with the connections and the retries that the dropped call left behind.
            let found = call.send(&client, &id).await.unwrap();
            assert_eq!(found, call.results(), "{call:?}, {polls}");
            (is_complete, id)
        });
        let requests = service.server.requests();
        // 503, 401 and the pages of the dropped call, then those of the next one.
        let max = 2 * call.results() + 2;
        assert!(requests.len() <= max, "{call:?}, {polls}: {} requests", requests.len());
        let is_under_id = |request: &String| request.contains(&format!("request_id={id}"));
        assert!(!call.is_extraction() || requests.iter().all(is_under_id), "{polls}: {requests:?}");
        is_complete
    });
}

#[test]
fn a_dropped_extraction_is_resumed_in_another_client_with_the_id_of_an_error() {
    at_each_await_point(&[Call::Extract, Call::ExtractText], |service, call, polls| {
        let (is_complete, id) = without_tasks_left(async || {
            let (is_complete, _, id) = service.drop_after(call, polls).await;
            (is_complete, id)
        });
        // Nothing of the first client runs any more. The second one fails, and the third goes on with its error.
        let error = without_tasks_left(async || {
            service.is_broken.store(true, Ordering::Relaxed);
            let client = service.builder().retry(RetryPolicy::none()).build().unwrap();
            call.send(&client, &id).await.unwrap_err()
        });
        assert!(matches!(error, Error::Transport(_)), "{error:?}");
        assert_eq!(error.request_id(), Some(id.as_str()));
        let resumed = without_tasks_left(async || {
            service.is_broken.store(false, Ordering::Relaxed);
            call.resume(&service.builder().build().unwrap(), &error).await.unwrap()
        });
        assert_eq!(resumed, id);
        let requests = service.server.requests();
        let lines: Vec<_> = requests.iter().map(|request| request.lines().next().unwrap()).collect();
        let is_repeated = lines.iter().all(|line| *line == lines[0]) && lines[0].contains(&id);
        assert!(is_repeated, "{call:?}, {polls}: {lines:?}");
        is_complete
    });
}

#[test]
fn a_stream_goes_on_where_it_was_dropped() {
    at_each_await_point(&[Call::Stream], |service, _, polls| {
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
    at_each_await_point(&[Call::Search], |service, _, polls| {
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
