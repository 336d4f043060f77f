//! Settings of a single call, and its result.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::time::{Duration, Instant};

use crate::faulty::{FaultyServer, Reply, no_groups, ok, one_gateway, plain_text, reply};
use sallyport_client::{Error, RetryPolicy, Separator, TextEntry};

const EMPTY_PAGE: &str =
    r#"{"code":200,"message":"ok","requestId":"r","data":{"items":[],"page":1,"pageSize":20,"total":0}}"#;

#[tokio::test]
async fn a_partial_result_tells_what_the_service_sent() {
    let headers = [
        ("x-proxy-requested-count", "3"),
        ("x-proxy-returned-count", "2"),
        ("x-proxy-partial", "Yes"),
        ("retry-after", "7"),
    ];
    let body = r#"{"code":0,"data":[{"ip":"gw.invalid","port":80}]}"#;
    let server = FaultyServer::start(vec![reply(200, &headers, body)]).await;
    let extraction = server.client().extract(3).await.unwrap();
    assert!(extraction.is_partial, "the number of gateways decides");
    assert_eq!((extraction.requested, extraction.returned, extraction.endpoints.len()), (3, 2, 1));
    assert_eq!(extraction.retry_after, Some(Duration::from_secs(7)));
    let sent = &extraction.headers;
    assert_eq!((sent.x_proxy_requested_count, sent.x_proxy_returned_count), (Some(3), Some(2)));
    assert_eq!(sent.x_proxy_partial.as_deref(), Some("Yes"));

    let server = FaultyServer::start(vec![reply(200, &headers, "gw.invalid:80\r\n")]).await;
    let text = server.client().extract_text(3, Separator::CrLf).await.unwrap();
    assert_eq!((text.is_partial, text.retry_after), (true, Some(Duration::from_secs(7))));
    assert_eq!(text.headers.x_proxy_partial.as_deref(), Some("Yes"));

    let mixed = "a.invalid:1:user:pass\r\nb.invalid:2\r\nc.invalid:3:user:pass\r\n";
    let server = FaultyServer::start(vec![plain_text(mixed)]).await;
    let text = server.client().extract_text(3, Separator::CrLf).await.unwrap();
    assert_eq!((text.raw.as_str(), text.is_partial), (mixed, false));
    assert_eq!(text.endpoints().count(), 1);
    assert_eq!(text.unparsed().collect::<Vec<_>>(), ["a.invalid:1:user:pass", "c.invalid:3:user:pass"]);
    assert!(
        matches!(&text.entries[1], TextEntry::Endpoint(endpoint) if Some(endpoint) == text.endpoints().next())
    );
    assert_eq!(
        [text.entries[0].to_string(), text.entries[2].to_string()].as_slice(),
        text.unparsed().collect::<Vec<_>>()
    );

    let server = FaultyServer::start(vec![one_gateway()]).await;
    let whole = server.client().extract(1).await.unwrap();
    assert!(!whole.is_partial && whole.retry_after.is_none() && whole.headers.x_proxy_partial.is_none());
}

#[tokio::test]
async fn timeouts_of_zero_are_rejected() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let (client, zero) = (server.client(), Duration::ZERO);
    for (name, error) in [
        ("request_timeout", client.groups().request_timeout(zero).await.unwrap_err()),
        ("total_timeout", client.groups().total_timeout(zero).await.unwrap_err()),
        ("request_timeout", client.extract(1).request_timeout(zero).await.unwrap_err()),
        ("total_timeout", client.search(["192.0.2.1"]).total_timeout(zero).await.unwrap_err()),
    ] {
        assert!(matches!(&error, Error::Configuration(message) if message.contains(name)), "{error:?}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn every_call_takes_timeouts_and_retries_of_its_own() {
    let server = FaultyServer::start(vec![reply(503, &[], "")]).await;
    let client = server.client();
    client.groups().retry(RetryPolicy::none()).await.unwrap_err();
    assert_eq!(server.requests().len(), 1);
    let policy = RetryPolicy { max_retries: 4, initial_backoff: Duration::ZERO, ..RetryPolicy::default() };
    client.search(["192.0.2.1"]).retry(policy).await.unwrap_err();
    assert_eq!(server.requests().len(), 6);

    // The client's own limits are far away; a minute would fail the test by its length.
    let server = FaultyServer::start(vec![Reply::Hang]).await;
    let minute = Duration::from_secs(60);
    let client = server.builder().request_timeout(minute).total_timeout(minute).build().unwrap();
    let (short, started) = (Duration::from_millis(30), Instant::now());
    let once = RetryPolicy::none();
    let error = client.groups().request_timeout(short).retry(once).await.unwrap_err();
    assert!(
        matches!(&error, Error::Timeout(timeout) if !timeout.is_total && timeout.limit == Some(short)),
        "{error:?}"
    );
    for error in [
        client.extract(1).total_timeout(short).await.unwrap_err(),
        client.extract_text(1, Separator::Lf).total_timeout(short).await.unwrap_err(),
        client.search(["192.0.2.1"]).total_timeout(short).await.unwrap_err(),
    ] {
        assert!(
            matches!(&error, Error::Timeout(timeout) if timeout.is_total && timeout.limit == Some(short)),
            "{error:?}"
        );
    }
    assert!(started.elapsed() < minute);
}

#[tokio::test]
async fn the_response_is_there_beside_the_typed_result() {
    let groups = r#"{"code":200,"data":{"items":[]},"more":1}"#;
    let server = FaultyServer::start(vec![
        reply(503, &[], ""),
        reply(200, &[("x-plan", "gold"), ("x-request-id", "t")], groups),
    ])
    .await;
    let response = server.client().groups().with_response().await.unwrap();
    assert!(response.value.is_empty());
    assert_eq!(
        (response.status.as_u16(), response.attempts, &response.body[..]),
        (200, 2, groups.as_bytes())
    );
    assert_eq!(
        (&response.headers["x-plan"], &response.headers["x-request-id"]),
        (&"gold".parse().unwrap(), &"t".parse().unwrap())
    );
    let shown = format!("{response:?}");
    assert!(shown.contains("x-plan") && !shown.contains("gold") && !shown.contains("more"), "{shown}");

    let server =
        FaultyServer::start(vec![one_gateway(), reply(200, &[], "gw.invalid:1"), ok(EMPTY_PAGE)]).await;
    let client = server.client();
    let extraction = client.extract(1).with_response().await.unwrap();
    assert_eq!((extraction.value.endpoints.len(), extraction.attempts), (1, 1));
    assert!(extraction.body.starts_with(b"{\"code\":0"));
    let text = client.extract_text(1, Separator::Lf).with_response().await.unwrap();
    assert_eq!((text.value.endpoints().count(), &text.body[..]), (1, &b"gw.invalid:1"[..]));
    let page = client.search(["192.0.2.1"]).page_with_response(1).await.unwrap();
    assert_eq!((page.value.total, &page.body[..]), (0, EMPTY_PAGE.as_bytes()));
    let server = FaultyServer::start(vec![reply(400, &[], "{}")]).await;
    assert!(matches!(server.client().groups().with_response().await, Err(Error::Rejected(_))));
}

#[tokio::test]
async fn an_extraction_is_resumed_with_the_id_of_its_error() {
    let server = FaultyServer::start(vec![Reply::Raw(Vec::new()), one_gateway()]).await;
    let client = server.builder().retry(RetryPolicy::none()).build().unwrap();
    let error = client.extract(1).await.unwrap_err();
    let extraction = client.extract(1).resume(&error).await.unwrap();
    assert_eq!(error.request_id(), Some(extraction.request_id.as_str()));
    let seen = server.requests();
    assert_eq!(seen[0].lines().next(), seen[1].lines().next());

    // An error of something that was not sent has no id, and changes nothing.
    let error = client.extract(0).await.unwrap_err();
    let text = client.extract_text(1, Separator::Lf).request_id("mine").resume(&error);
    assert_eq!(text.clone().ensure_request_id(), "mine");
    let mut call = client.extract(1).request_id("");
    let id = call.ensure_request_id().to_owned();
    assert_eq!((id.len(), call.ensure_request_id()), (32, id.as_str()));
    assert_eq!(call.await.unwrap().request_id, id);
}

#[tokio::test]
async fn results_are_json() {
    use sallyport_client::testing::{Replies, instance};
    use serde_json::{json, to_value};

    let replies = Replies::new().partial(["gw.invalid:80"], 2, Some(Duration::from_millis(7500)));
    let partial = replies.builder().build().unwrap().extract(2).request_id("mine").await.unwrap();
    let gateway = json!({"ip": "gw.invalid", "port": 80});
    let expected = json!({
        "endpoints": [gateway], "requested": 2, "returned": 1, "partial": true, "retryAfter": 7, "requestIp": "127.0.0.1",
        "requestId": "mine", "message": "ok",
    });
    assert_eq!(to_value(partial).unwrap(), expected);

    let replies = Replies::new().page(1, [instance(1, "203.0.113.7", 80)], 1);
    let page = replies.builder().build().unwrap().search(["203.0.113.7"]).page(1).await.unwrap();
    let expected =
        json!({"items": page.items, "page": 1, "pageSize": 1, "total": 1, "traceId": page.trace_id});
    assert_eq!(to_value(page).unwrap(), expected);

    let server = FaultyServer::start(vec![plain_text("gw.invalid:80\ngw.invalid:80:user")]).await;
    let text = server.client().extract_text(3, Separator::Lf).request_id("mine").await.unwrap();
    let expected = json!({
        "raw": text.raw, "entries": [gateway, "gw.invalid:80:user"], "requested": 3, "partial": true, "retryAfter": null,
        "requestId": "mine",
    });
    assert_eq!(to_value(text).unwrap(), expected);
}
