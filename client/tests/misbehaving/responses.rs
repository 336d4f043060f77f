//! Responses that break the contract, or go to its edges: the right error, and nothing lost.

use std::time::Duration;

use futures_util::TryStreamExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::timeout,
};

use sallyport_client::{
    Client, Error, InstanceStatus, Protocol, RetryPolicy, Separator,
    bytes::Bytes,
    contract::SearchStaticInstances as Limits,
    http,
    testing::{Replies, instance},
};

use super::{addresses, listing_error};
use crate::faulty::{FaultyServer, Reply, items, no_groups, ok, plain_text, reply};

/// What `call` makes of a reply that the service gives again and again.
async fn outcome(call: &str, reply: Reply) -> String {
    let server = FaultyServer::start(vec![reply]).await;
    let client = server.client();
    let outcome = match call {
        "groups" => client.groups().await.map(drop),
        "extract" => client.extract(1).request_id("mine").await.map(drop),
        _ => client.extract_text(2, Separator::CrLf).request_id("mine").await.map(drop),
    };
    let requests = server.requests().len();
    outcome.map_or_else(
        |error| format!("{} after {requests}: {error}", error.kind()),
        |()| format!("success after {requests}"),
    )
}

#[tokio::test]
async fn each_response_has_its_error() {
    let gzip = |head: &str| {
        // The head of RFC 1952 and the beginning of one stored block.
        let body = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 2, 0, 0xfd, 0xff, b'{', b'}'];
        Reply::Raw(
            [format!("HTTP/1.1 {head}content-length: {}\r\n\r\n", body.len()).as_bytes(), &body].concat(),
        )
    };
    let cut = |head: &str, body: &str| {
        Reply::Raw(format!("HTTP/1.1 {head}content-length: 500\r\n\r\n{body}").into_bytes())
    };
    let (rejection, headers) = (r#"{"code":7,"message":"no","requestId":"t2"}"#, [("x-request-id", "t1")]);
    let waiting = |wait| [("retry-after", wait)];
    let page = format!("<html>{}</html>", "down ".repeat(4 << 20));
    let rows = [
        ("groups", "another code", ok(rejection)),
        ("groups", "another code", ok(r#"{"code":"200"}"#)),
        ("groups", "a code with a fraction", ok(r#"{"code":200.0,"data":{"items":[]}}"#)),
        ("groups", "a code of text", ok(r#"{"code":"E1"}"#)),
        ("groups", "a failure with the code", reply(500, &waiting("60"), r#"{"code":200}"#)),
        ("groups", "no body", reply(200, &headers, "")),
        ("groups", "no JSON", reply(200, &headers, "garbage")),
        ("groups", "no object", ok("[1,2]")),
        ("groups", "a part", ok("{\"code\":200")),
        ("groups", "other data", ok("{\"code\":200,\"data\":7}")),
        (
            "groups",
            "no updatedAt",
            items(r#"{"groupId":1,"name":"a","createdAt":"2026-01-04T09:30:00Z"}"#, 1),
        ),
        ("groups", "another success", reply(204, &[], "")),
        ("groups", "a redirect", reply(302, &[("location", "http://else.invalid")], "")),
        ("groups", "gzip", gzip("200 OK\r\ncontent-encoding: gzip\r\n")),
        ("groups", "gzip unsaid", gzip("200 OK\r\n")),
        ("groups", "gzip rejected", gzip("404 Not\r\ncontent-encoding: gzip\r\n")),
        ("groups", "gzip rejected unsaid", gzip("404 Not\r\n")),
        ("groups", "deflate", reply(200, &[("content-encoding", "deflate")], "{}")),
        ("groups", "rejected", reply(400, &headers, rejection)),
        ("groups", "rejected without id", reply(400, &headers, r#"{"code":7,"message":"no"}"#)),
        ("groups", "rejected with a wait", reply(400, &waiting("1"), rejection)),
        (
            "groups",
            "not found by the service",
            reply(404, &[], r#"{"code":40401,"message":"no such group"}"#),
        ),
        ("groups", "not found elsewhere", reply(404, &[], "")),
        ("groups", "not found elsewhere", reply(404, &[], "<html>nothing here</html>")),
        ("groups", "a long page", reply(503, &waiting("60"), &page)),
        ("groups", "a cut rejection", cut("503 No\r\nretry-after: 60\r\n", "{\"code\":7,\"mess")),
        ("groups", "a cut rejection", cut("429 No\r\nretry-after: 60\r\n", "{\"code\":7,\"mess")),
        ("groups", "a cut success", cut("200 OK\r\n", "{\"code\":200,")),
        ("groups", "no response", Reply::Raw(Vec::new())),
        ("extract", "a rejected caller", reply(403, &waiting("0"), rejection)),
        ("extract", "a rejected token", reply(401, &waiting("0"), rejection)),
        ("extract", "throttled elsewhere", reply(429, &waiting("9000"), "<html>slow down</html>")),
        ("extract", "down elsewhere", reply(503, &waiting("9000"), "<html>down</html>")),
        ("extract", "a shortage", reply(503, &waiting("9000"), rejection)),
        ("extract", "a shortage", reply(200, &waiting("9000"), rejection)),
        ("extract", "a shortage", reply(422, &waiting("9000"), rejection)),
        ("extract", "ids", reply(400, &headers, r#"{"code":7}"#)),
        ("extract", "one id", reply(400, &[("x-request-id", "mine")], "{}")),
        ("text", "nothing", plain_text("")),
        ("text", "a sentence", plain_text("error 50301: too few gateways")),
        ("text", "a sentence", plain_text("your address 203.0.113.7, 4012: no\r\n")),
        ("text", "a number", plain_text("50301")),
        ("text", "JSON", plain_text(r#"{"code":0}"#)),
        ("text", "a rejection", text_without_length(rejection)),
        ("text", "a page", text_without_length("<html>8080</html>")),
        ("text", "a cut text", text_without_length("a.invalid:80\r\nb.inv")),
    ];
    let mut seen = Vec::new();
    for (call, what, reply) in rows {
        seen.push(format!("{call}, {what}: {}", outcome(call, reply).await));
    }
    insta::assert_snapshot!(seen.join("\n"));
}

#[tokio::test]
async fn an_unexpected_response_has_the_headers_that_help_and_no_others() {
    let headers = [("content-type", "text/plain"), ("x-request-id", "t1"), ("set-cookie", "private")];
    let error = listing_error(reply(200, &headers, "garbage")).await;
    let Error::UnexpectedResponse(response) = &error else { panic!("{error:?}") };
    let names: Vec<&str> = response.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!((names, response.excerpt.as_str()), (vec!["content-length", "content-type"], "garbage"));
    assert_eq!((error.trace_id(), error.request_id()), (Some("t1"), None));
    // Compressed bytes are no excerpt.
    let error = listing_error(reply(200, &[("content-encoding", "gzip")], "\u{1f}{}")).await;
    assert!(
        matches!(&error, Error::UnexpectedResponse(response) if response.excerpt.is_empty()),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_body_without_end_is_not_read_to_its_end() {
    let server = FaultyServer::start(vec![ok(&" ".repeat(50 << 20))]).await;
    let client =
        server.builder().request_timeout(Duration::from_secs(20)).max_body_bytes(1 << 20).build().unwrap();
    let error = client.groups().await.unwrap_err();
    assert!(matches!(error, Error::UnexpectedResponse(_)), "{error:?}");
    assert!(error.to_string().contains("1048576"), "{error}");
}

/// The size of a chunk may have any number of leading zeros, and none of them counts as body. The request's timeout ends the
/// call and the connection, and others go on meanwhile on the same thread.
#[tokio::test]
async fn a_chunk_size_without_end_is_not_read_to_its_end() {
    let (minute, other) = (Duration::from_secs(60), FaultyServer::start(vec![no_groups()]).await);
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
async fn what_is_new_or_odd_breaks_no_page() {
    let item = r#"{"instanceId":"9001","offerId":31,"status":"hibernating","ip":"203.0.113.7","port":"20001",
        "protocols":["http","quic"],"countryCode":"USA","cityCode":"NYC","ispType":9,"expiresAt":"9999-12-31T23:59:59Z",
        "activatedAt":"2016-12-31T23:59:60.1234567891Z","capabilities":{"teleport":true,"trialDays":"3",
        "renew":{"allowedDays":["30",90.0]},"purchase":{"allowedDays":null}},"groupId":null,"colour":"red"}"#;
    let server = FaultyServer::start(vec![items(item, 1)]).await;
    let instance = server.client().search(["203.0.113.7"]).page(1).await.unwrap().items.remove(0);
    assert_eq!((instance.instance_id, instance.port), (9001, 20001));
    assert_eq!(instance.status, InstanceStatus::Other("hibernating".to_owned()));
    assert_eq!(instance.expires_at, Some(sallyport_client::jiff::Timestamp::MAX));
    assert!(instance.activated_at.is_some());
    assert!(instance.supports(Protocol::Http) && !instance.supports(Protocol::Socks5));
    let capabilities = instance.capabilities;
    assert_eq!(capabilities.trial_days, Some(3));
    assert_eq!(capabilities.renew.unwrap().allowed_days, [30, 90]);
    assert!(capabilities.purchase.unwrap().allowed_days.is_empty());
}

#[tokio::test]
async fn what_the_generated_client_cannot_read_keeps_its_own_head() {
    let odd = |id: &str| reply(200, &[("x-request-id", id)], r#"{"code":200,"data":7}"#);
    let server = FaultyServer::start(vec![odd("first"), odd("second")]).await;
    let generated = server.client().generated();
    let first = generated.list_static_groups().send().await.unwrap_err();
    let second = generated.list_static_groups().send().await.unwrap_err();
    assert_eq!((first.trace_id(), second.trace_id()), (Some("first"), Some("second")));
    assert!([first, second].iter().all(|error| error.status().is_some_and(|status| status == 200)));
}

/// A text response whose end is the end of the connection.
fn text_without_length(body: &str) -> Reply {
    Reply::Raw(format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n{body}").into_bytes())
}

#[tokio::test]
async fn a_text_cut_short_yields_no_shortened_port() {
    for cut in ["", "a.invalid:80\r\nb.invalid:80", "a.invalid:80\r\nb.inv"] {
        let whole = text_without_length("a.invalid:80\r\nb.invalid:8080\r\n");
        let server = FaultyServer::start(vec![text_without_length(cut), whole]).await;
        let text = server.client().extract_text(2, Separator::CrLf).await.unwrap();
        let ports: Vec<_> = text.endpoints().map(|endpoint| endpoint.port).collect();
        assert_eq!((ports.len(), ports[1]), (2, 8080), "{cut:?}");
        let id = format!("request_id={}", text.request_id);
        assert!(server.requests().iter().all(|request| request.contains(&id)), "{:?}", server.requests());

        let server = FaultyServer::start(vec![text_without_length(cut)]).await;
        let error = server.client().extract_text(2, Separator::CrLf).await.unwrap_err();
        assert!(matches!(&error, Error::Transport(_)) && error.request_id().is_some(), "{error:?}");
        assert_eq!(server.requests().len(), 3);
    }
    // With a declared length the text needs no separator at its end.
    let body = "a.invalid:80\r\nb.invalid:8080";
    let server = FaultyServer::start(vec![plain_text(body)]).await;
    assert_eq!(server.client().extract_text(2, Separator::CrLf).await.unwrap().endpoints().count(), 2);
}

#[tokio::test]
async fn data_is_kept_when_a_text_beside_it_is_missing() {
    let gateway = r#"{"ip":"gw.invalid","port":80}"#;
    for beside in ["", r#","msg":null,"success":null,"request_ip":null"#, r#","request_ip":"unknown""#] {
        let server =
            FaultyServer::start(vec![ok(&format!(r#"{{"code":0,"data":[{gateway}]{beside}}}"#))]).await;
        let extraction = server.client().extract(1).await.unwrap();
        assert_eq!((extraction.endpoints.len(), extraction.request_ip), (1, None), "{beside}");
        assert_eq!(extraction.message, "");
    }
    let server = FaultyServer::start(vec![ok(r#"{"code":200,"data":{"items":[]}}"#)]).await;
    assert!(server.client().groups().await.unwrap().is_empty());
    let body = r#"{"code":200,"data":{"items":[],"page":1,"pageSize":20,"total":0}}"#;
    let server = FaultyServer::start(vec![ok(body)]).await;
    assert_eq!(server.client().search(["192.0.2.1"]).page(1).await.unwrap().trace_id, None);
}

#[tokio::test]
async fn a_message_in_another_encoding_loses_no_gateways() {
    let body = b"{\"code\":0,\"msg\":\"r\xe9ussi\",\"data\":[{\"ip\":\"gw.invalid\",\"port\":80}]}";
    let replies = Replies::new().response(http::Response::new(Bytes::from_static(body)));
    let extraction = replies.builder().build().unwrap().extract(1).await.unwrap();
    assert_eq!((extraction.endpoints.len(), extraction.message.as_str()), (1, "r\u{fffd}ussi"));
}

#[tokio::test]
async fn an_awaited_search_collects_all_pages() {
    let server = FaultyServer::start(vec![page_of(&[1], 2), page_of(&[2], 2)]).await;
    let instances = server.client().search(["203.0.113.7"]).page_size(1).await.unwrap();
    assert_eq!(instances.iter().map(|instance| instance.instance_id).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn a_stream_needs_one_request_for_each_page() {
    let body = r#"{"code":200,"data":{"items":[],"page":1,"pageSize":1000,"total":0}}"#;
    let server = FaultyServer::start(vec![ok(body)]).await;
    let addresses = addresses(Limits::IPS_MAX_DISTINCT * 5 / 2);
    assert!(server.client().search(&addresses).in_batches().await.unwrap().is_empty());
    assert_eq!(server.requests().len(), 3, "one for each batch");
    let pages = server.client().search(&addresses).in_batches().pages().into_stream();
    assert_eq!((pages.try_collect::<Vec<_>>().await.unwrap().len(), server.requests().len()), (1, 3 + 3));
    let server = FaultyServer::start(vec![ok(body), ok(body), page_of(&[1], 1)]).await;
    let pages = server.client().search(&addresses).in_batches().pages().into_stream();
    assert_eq!(pages.try_collect::<Vec<_>>().await.unwrap().len(), 1, "no empty page before it");
}

/// A page of a search whose instances have these ids.
fn page_of(ids: &[i64], total: i64) -> Reply {
    let items: Vec<_> = ids.iter().map(|id| instance(*id, "203.0.113.7", 1)).collect();
    let data = serde_json::json!({"items": items, "page": 1, "pageSize": 2, "total": total});
    ok(&serde_json::json!({"code": 200, "message": "ok", "requestId": "r", "data": data}).to_string())
}

#[tokio::test]
async fn pages_that_overlap_or_leave_gaps_are_an_error() {
    for (pages, reason) in [
        // The end comes too early, too late, or in the middle of a page.
        (vec![page_of(&[1, 2], 5), page_of(&[3], 5), page_of(&[], 5)], "received 3 of 5 instances"),
        (vec![page_of(&[1, 2], 3), page_of(&[3, 4], 3)], "received 4 of 3 instances"),
        (vec![page_of(&[], 2)], "received 0 of 2 instances"),
        // The number is right, and one instance stands for another.
        (vec![page_of(&[1, 2], 4), page_of(&[2, 3], 4)], "received instance 2 twice"),
        (vec![page_of(&[1, 1], 2)], "received instance 1 twice"),
    ] {
        let expected =
            format!("unexpected response: {reason}; the pages overlap or leave gaps (HTTP 200) [trace id r]");
        let server = FaultyServer::start(pages.clone()).await;
        let error = server.client().search(["203.0.113.7"]).page_size(2).await.unwrap_err();
        assert!(matches!(error, Error::UnexpectedResponse(_)) && !error.is_retryable(), "{error:?}");
        assert_eq!(error.to_string(), expected);
        let server = FaultyServer::start(pages.clone()).await;
        let streamed: Result<Vec<_>, Error> =
            server.client().search(["203.0.113.7"]).page_size(2).stream().try_collect().await;
        assert_eq!(streamed.unwrap_err().to_string(), expected);
        let server = FaultyServer::start(pages).await;
        let mut pages = server.client().search(["203.0.113.7"]).page_size(2).pages();
        let error = loop {
            match pages.next().await {
                Ok(page) => assert!(page.is_some(), "the walk ends without an error"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.to_string(), expected);
    }
}

#[tokio::test]
async fn a_list_notices_instances_on_any_two_pages() {
    let pages = vec![page_of(&[1, 2], 6), page_of(&[3, 4], 6), page_of(&[5, 1], 6)];
    let server = FaultyServer::start(pages.clone()).await;
    let error = server.client().search(["203.0.113.7"]).page_size(2).await.unwrap_err();
    assert!(error.to_string().contains("received instance 1 twice"), "{error}");
    // A stream keeps the ids of one page only.
    let server = FaultyServer::start(pages).await;
    let streamed: Vec<_> =
        server.client().search(["203.0.113.7"]).page_size(2).stream().try_collect().await.unwrap();
    assert_eq!(streamed.len(), 6);
}

#[tokio::test]
async fn data_that_changes_during_a_walk_is_no_error() {
    for pages in [
        vec![page_of(&[1, 2], 4), page_of(&[4], 3)],
        vec![page_of(&[1, 2], 3), page_of(&[2, 3], 4)],
        vec![page_of(&[1, 2], 4), page_of(&[], 2)],
        vec![page_of(&[1, 2], 3), page_of(&[3, 4], 5), page_of(&[], 5)],
    ] {
        let server = FaultyServer::start(pages).await;
        let found = server.client().search(["203.0.113.7"]).page_size(2).await.unwrap();
        assert!(found.len() >= 2);
    }
}

#[tokio::test]
async fn a_page_that_overlaps_is_requested_again() {
    let server =
        FaultyServer::start(vec![page_of(&[1, 2], 4), page_of(&[2, 3], 4), page_of(&[3, 4], 4)]).await;
    let mut pages = server.client().search(["203.0.113.7"]).page_size(2).pages();
    assert_eq!(pages.next().await.unwrap().unwrap().items.len(), 2);
    assert!(pages.next().await.is_err());
    assert_eq!(pages.next().await.unwrap().unwrap().items.len(), 2);
    assert!(pages.next().await.unwrap().is_none());
    assert!(server.requests()[1..].iter().all(|request| request.contains(r#""page":2"#)));
}

#[tokio::test]
async fn batches_are_counted_one_by_one() {
    let addresses = addresses(Limits::IPS_MAX_DISTINCT * 5 / 2);
    let batches = vec![page_of(&[1], 1), page_of(&[2], 1), page_of(&[3], 2), page_of(&[], 2)];
    let server = FaultyServer::start(batches).await;
    let error = server.client().search(&addresses).in_batches().await.unwrap_err();
    assert!(error.to_string().contains("received 1 of 2 instances"), "{error}");
}
