//! Code around each request, and the responses that tests write down.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::{
    faulty::{CANARY, FaultyServer},
    sessions::Custom,
};
use sallyport_client::{
    Attempt, Error, Middleware, MiddlewareFuture, Next, RetryPolicy, Separator,
    bytes::Bytes,
    http,
    testing::{Replies, group, instance},
};
use serde_json::json;

type Log = Arc<Mutex<Vec<String>>>;

/// Writes down everything that it sees, and adds a header.
struct RecordingMiddleware {
    name: &'static str,
    log: Log,
}

impl Middleware for RecordingMiddleware {
    fn handle<'a>(&'a self, mut request: http::Request<Bytes>, next: Next<'a>) -> MiddlewareFuture<'a> {
        Box::pin(async move {
            let attempt = *request.extensions().get::<Attempt>().unwrap();
            let line = format!("{} {} {} {request:?} {next:?}", self.name, attempt.operation, attempt.number);
            self.log.lock().unwrap().push(line);
            request.headers_mut().append("x-seen-by", self.name.parse().unwrap());
            let outcome = next.run(request).await;
            let text = outcome.as_ref().map(|response| String::from_utf8_lossy(response.body()).into_owned());
            self.log.lock().unwrap().push(format!("{} {outcome:?} {text:?}", self.name));
            outcome
        })
    }
}

#[tokio::test]
async fn the_first_one_is_outermost_and_runs_for_each_request() {
    let server = FaultyServer::start("503 | groups").await;
    let log = Log::default();
    let recording = |name| RecordingMiddleware { name, log: log.clone() };
    let client =
        server.builder().middleware(recording("outer")).middleware(recording("inner")).build().unwrap();
    client.groups().await.unwrap();
    let starts: Vec<String> = log
        .lock()
        .unwrap()
        .iter()
        .map(|line| line.split(' ').take(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(starts[0], "outer listStaticGroups 1");
    assert_eq!(starts[1], "inner listStaticGroups 1");
    assert!(starts[2].starts_with("inner Ok") && starts[3].starts_with("outer Ok"), "{starts:?}");
    assert_eq!(starts[4], "outer listStaticGroups 2");
    assert_eq!(starts.len(), 8);
    for request in server.requests() {
        let names: Vec<&str> = request.lines().filter_map(|line| line.strip_prefix("x-seen-by: ")).collect();
        assert_eq!(names, ["outer", "inner"], "{request}");
    }
}

#[tokio::test]
async fn the_token_is_out_of_reach_in_both_directions() {
    let url = "?key=canary%2FT0ken%2B9";
    let echo = format!(
        r#"{{"code":"{CANARY}","message":"{url}"}} + x-echo: {CANARY} + location: http://x.invalid/{url}"#
    );
    for script in
        [format!("400 {echo}"), format!("200 {echo}"), format!("302 {echo}"), format!("cut 200 {CANARY}")]
    {
        let server = FaultyServer::start(&script).await;
        let log = Log::default();
        let builder = server.builder().retry(RetryPolicy::none());
        let client = builder.middleware(RecordingMiddleware { name: "m", log: log.clone() }).build().unwrap();
        assert!(!format!("{client:?}").contains("T0ken"));
        client.groups().await.unwrap_err();
        client.extract(1).await.unwrap_err();
        client.search(["192.0.2.1"]).page(1).await.unwrap_err();
        assert!(server.requests().iter().all(|request| request.contains("T0ken")), "the service receives it");
        let log = log.lock().unwrap().join("\n");
        assert!(log.contains("searchStaticInstances") && !log.contains("T0ken"), "{log}");
    }
}

#[tokio::test]
async fn requests_are_the_same_with_middleware_as_without() {
    let server = FaultyServer::start("gateway").await;
    let passing = Custom::new("pass");
    let clients =
        [server.builder(), server.builder().middleware(passing)].map(|builder| builder.build().unwrap());
    for client in clients {
        client.extract(1).request_id("same").region("Ü S&A").await.unwrap();
        client.search(["192.0.2.1"]).page(1).await.unwrap_err();
    }
    let sorted = |request: &String| {
        let mut lines: Vec<&str> = request.lines().collect();
        lines[1..].sort_unstable();
        lines.join("\n")
    };
    let seen: Vec<String> = server.requests().iter().map(sorted).collect();
    assert_eq!((&seen[0], &seen[1]), (&seen[2], &seen[3]));
}

#[tokio::test]
async fn replies_stand_in_for_the_service() {
    let text = http::Response::new(Bytes::from_static(b"gw.invalid:1\r\n[2001:db8::1]:2"));
    let replies = Replies::new()
        .interruption()
        .throttled(Duration::ZERO)
        .gateways(["gw.invalid:8080", "[2001:db8::1]:1080"])
        .groups([group(1, "a")])
        .page(1, [instance(9001, "203.0.113.7", 20001)], 1)
        .response(text)
        .shortage(Duration::from_secs(3600))
        .json(400, &json!({"code": 7, "message": "no"}));
    let client = replies.builder().build().unwrap();
    let extraction = client.extract(2).await.unwrap();
    assert_eq!(extraction.endpoints[1].to_string(), "[2001:db8::1]:1080");
    let listed = &client.groups().await.unwrap()[0];
    assert_eq!((listed.name.as_str(), listed.created_at.to_string().as_str()), ("a", "2026-01-31T08:00:00Z"));
    let found = &client.search(["203.0.113.7"]).await.unwrap()[0];
    assert_eq!(
        (found.instance_id, found.socket_addr()),
        (9001, Some(SocketAddr::from(([203, 0, 113, 7], 20001))))
    );
    assert_eq!(client.extract_text(2, Separator::CrLf).await.unwrap().endpoints().count(), 2);
    let shortage = client.extract(1).await.unwrap_err();
    assert!(matches!(shortage, Error::Shortage(_)), "{shortage:?}");
    assert_eq!(shortage.retry_after(), Some(Duration::from_secs(3600)));
    assert!(matches!(client.extract(1).await, Err(Error::Rejected(_))));
    assert_eq!((replies.remaining(), replies.requests().len()), (0, 8));
    let error = client.groups().await.unwrap_err();
    assert_eq!(error.to_string(), "the test has no reply for request 9");
    assert!(!format!("{:?} {replies:?}", replies.requests()).contains("token-of-a-test"));
    // Limits are those of production.
    assert!(matches!(client.extract(0).await, Err(Error::InvalidArgument(_))));
}

#[tokio::test]
async fn a_mistake_in_the_replies_is_named() {
    let client = |replies: Replies| replies.builder().build().unwrap();
    for gateway in ["nonsense", "gw.invalid:0", "gw.invalid:70000", ":80", "gw.invalid:x", ""] {
        for replies in [Replies::new().gateways([gateway]), Replies::new().partial([gateway], 2, None)] {
            let error = client(replies.clone()).extract(1).await.unwrap_err();
            let Error::Configuration(message) = &error else { panic!("{gateway}: {error:?}") };
            assert!(message.contains("expected `host:port`") && message.contains(gateway), "{message}");
            assert_eq!(replies.requests().len(), 1, "a mistake is not retried");
        }
    }
}

#[tokio::test]
async fn a_partial_extraction_has_its_headers() {
    let wait = Duration::from_secs(9);
    let replies = Replies::new().partial(["gw.invalid:1", "[2001:db8::1]:2"], 3, Some(wait));
    let received = replies.builder().build().unwrap().extract(3).await.unwrap();
    assert_eq!((received.returned, received.is_partial, received.retry_after), (2, true, Some(wait)));
    let sent = received.headers;
    assert_eq!((sent.x_proxy_requested_count, sent.x_proxy_returned_count), (Some(3), Some(2)));
    assert!(sent.x_proxy_partial.is_some());
}
