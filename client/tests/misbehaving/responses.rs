//! Responses that break the contract, or go to its edges: the right error, and nothing lost.

use std::time::Duration;

use futures_util::TryStreamExt;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
    time::timeout,
};

use sallyport_client::{
    BusinessCode, Client, Error, InstanceStatus, Protocol, RetryPolicy, Separator, TextExtraction,
    bytes::Bytes,
    contract::SearchStaticInstances as Limits,
    http,
    testing::{Replies, instance},
};

use crate::{
    addresses,
    faulty::{FaultyServer, Reply, items, no_groups, ok, plain_text, reply},
    listing_error,
};

#[tokio::test]
async fn another_business_code_under_200_is_a_rejection_that_is_not_repeated() {
    let server = FaultyServer::start(vec![ok(r#"{"code":7,"message":"no","requestId":"trace-1"}"#)]).await;
    let error = server.client().groups().await.unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error:?}");
    assert_eq!(error.code(), Some(&BusinessCode::Number(7)));
    assert_eq!((error.trace_id(), error.request_id()), (Some("trace-1"), None));
    assert!(error.status().unwrap() == 200 && !error.is_retryable());
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_body_without_end_is_not_read_to_its_end() {
    let server = FaultyServer::start(vec![Reply::Flood(50 << 20)]).await;
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
async fn garbage_is_an_unexpected_response_with_status_headers_and_excerpt() {
    let gzip = "\u{1f}\u{8b}\u{8}garbage";
    for body in ["", "garbage", "[1,2]", "{\"code\":200", "{\"code\":200,\"data\":7}", gzip] {
        let headers = [("content-type", "text/plain"), ("x-request-id", "t1")];
        let server = FaultyServer::start(vec![reply(200, &headers, body)]).await;
        let error = server.client().groups().await.unwrap_err();
        let Error::UnexpectedResponse(response) = &error else { panic!("{body:?}: {error:?}") };
        assert_eq!(response.status, 200);
        let media = ("content-type".to_owned(), "text/plain".to_owned());
        assert!(response.headers.contains(&media), "{response:?}");
        assert_eq!((error.trace_id(), error.request_id()), (Some("t1"), None));
        assert_eq!(response.excerpt, body);
        assert_eq!(server.requests().len(), 1, "an unexpected response is not retried");
    }
}

#[tokio::test]
async fn what_is_new_or_odd_breaks_no_page() {
    let item = r#"{"instanceId":"9001","offerId":31,"status":"hibernating","ip":"203.0.113.7","port":"20001",
        "protocols":["http","quic"],"countryCode":"USA","cityCode":"NYC","ispType":9,"expiresAt":null,"activatedAt":null,
        "capabilities":{"teleport":true,"trialDays":"3"},"groupId":null,"colour":"red"}"#;
    let body = format!(
        r#"{{"code":200,"message":"ok","requestId":"r","more":1,"data":{{"items":[{item}],"page":1,"pageSize":20,"total":1}}}}"#
    );
    let server = FaultyServer::start(vec![ok(&body)]).await;
    let page = server.client().search(["203.0.113.7"]).page(1).await.unwrap();
    let instance = &page.items[0];
    assert_eq!((instance.instance_id, instance.port), (9001, 20001));
    assert_eq!(instance.status, InstanceStatus::Other("hibernating".to_owned()));
    assert_eq!((instance.activated_at, instance.capabilities.trial_days), (None, Some(3)));
    assert_eq!(instance.protocols, ["http", "quic"]);
    assert!(instance.supports(Protocol::Http) && !instance.supports(Protocol::Socks5));
}

#[tokio::test]
async fn odd_times_and_terms_break_no_page() {
    let item = r#"{"instanceId":9001,"offerId":31,"status":"active","ip":"203.0.113.7","port":20001,"protocols":[],
        "countryCode":"USA","cityCode":"NYC","ispType":1,"expiresAt":"9999-12-31T23:59:59Z",
        "activatedAt":"2016-12-31T23:59:60.1234567891Z","capabilities":{"trialDays":1.0,
        "renew":{"allowedDays":["30",90]},"purchase":{"allowedDays":null}},"groupId":null}"#;
    let server = FaultyServer::start(vec![items(item, 1)]).await;
    let page = server.client().search(["203.0.113.7"]).page(1).await.unwrap();
    let instance = &page.items[0];
    assert_eq!(instance.expires_at, Some(sallyport_client::jiff::Timestamp::MAX));
    assert!(instance.activated_at.is_some());
    assert_eq!(instance.capabilities.trial_days, Some(1));
    assert_eq!(instance.capabilities.renew.as_ref().unwrap().allowed_days, [30, 90]);
    assert!(instance.capabilities.purchase.as_ref().unwrap().allowed_days.is_empty());
}

#[tokio::test]
async fn a_rejection_of_any_length_stays_one() {
    let page = format!("<html>{}</html>", "down ".repeat(4 << 20));
    let error =
        listing_error(reply(503, &[("content-type", "text/html"), ("retry-after", "60")], &page)).await;
    let Error::Rejected(rejection) = &error else { panic!("{error:?}") };
    assert!(rejection.status == 503 && rejection.message.starts_with("<html>down"), "{error:?}");
    assert!(error.to_string().contains("<html>down"), "{error}");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
}

#[tokio::test]
async fn totals_of_batches_are_added_up_whatever_they_are() {
    // Three batches, of which the last one is not full.
    let many = addresses(Limits::IPS_MAX_DISTINCT * 5 / 2);
    for total in [i64::MAX, i64::MIN, -1] {
        let server = FaultyServer::start(vec![items("", total)]).await;
        for number in [Limits::PAGE_MINIMUM, Limits::PAGE_MAXIMUM] {
            let search = server.client().search(&many).in_batches().page_size(Limits::PAGE_SIZE_MAXIMUM);
            let page = search.page(number).await.unwrap();
            assert_eq!(page.total, total.max(0));
        }
    }
}

#[tokio::test]
async fn what_the_generated_client_cannot_read_keeps_its_own_head() {
    let odd = |id: &str| reply(200, &[("x-request-id", id)], r#"{"code":200,"data":7}"#);
    let server = FaultyServer::start(vec![odd("first"), odd("second")]).await;
    let generated = server.client().generated();
    let again = generated.clone();
    let first = generated.list_static_groups().send().await.unwrap_err();
    let second = again.list_static_groups().send().await.unwrap_err();
    let (second, first) = (again.failure(second), generated.failure(first));
    assert_eq!((first.trace_id(), second.trace_id()), (Some("first"), Some("second")));
    assert!([first, second].iter().all(|error| error.status().is_some_and(|status| status == 200)));
}

#[tokio::test]
async fn gzip_that_was_not_requested_is_reported_and_not_shown() {
    // The head of RFC 1952 and the beginning of one stored block.
    let gzip = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1, 2, 0, 0xfd, 0xff, b'{', b'}'];
    let head = format!("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n", gzip.len());
    let server = FaultyServer::start(vec![Reply::Raw([head.into_bytes(), gzip.clone()].concat())]).await;
    let error = server.client().groups().await.unwrap_err();
    let Error::UnexpectedResponse(response) = &error else { panic!("{error:?}") };
    assert!(response.headers.contains(&("content-encoding".to_owned(), "gzip".to_owned())), "{response:?}");
    assert!(!server.requests()[0].to_ascii_lowercase().contains("accept-encoding"), "none is requested");
    assert!(response.reason.contains("`Content-Encoding: gzip`"), "{response:?}");
    assert!(response.excerpt.is_empty(), "{response:?}");
    // reqwest would decode this one, too, as the tests enable it.
    let error = listing_error(reply(200, &[("content-encoding", "deflate")], "{}")).await;
    assert!(error.to_string().contains("`Content-Encoding: deflate`"), "{error}");

    // Without the header, and as a rejection.
    for (status, header) in [(200, ""), (404, ""), (404, "content-encoding: gzip\r\n")] {
        let head = format!("HTTP/1.1 {status} Some\r\n{header}content-length: {}\r\n\r\n", gzip.len());
        let error = listing_error(Reply::Raw([head.into_bytes(), gzip.clone()].concat())).await.to_string();
        assert!(error.contains("gzip") && !error.contains(['\u{fffd}', '\u{1f}', '\\']), "{error}");
    }
}

#[tokio::test]
async fn a_field_that_must_be_there_is_missed() {
    let item = r#"{"groupId":1,"name":"a","createdAt":"2026-01-04T09:30:00Z"}"#;
    let error = listing_error(items(item, 1)).await;
    assert!(matches!(error, Error::UnexpectedResponse(_)), "{error}");
    assert!(error.to_string().contains("updatedAt"), "{error}");
}

/// A text extraction of two gateways to which a server replies so.
async fn extract(reply: Reply) -> Result<TextExtraction, Error> {
    FaultyServer::start(vec![reply]).await.client().extract_text(2, Separator::CrLf).await
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
    assert_eq!(extract(plain_text(body)).await.unwrap().endpoints().count(), 2);
    // A rejection and a page stay what they are.
    let rejected = extract(text_without_length(r#"{"code":7,"message":"no"}"#)).await;
    assert!(matches!(rejected, Err(Error::Rejected(_))), "{rejected:?}");
    let page = extract(text_without_length("<html>8080</html>")).await;
    assert!(matches!(page, Err(Error::UnexpectedResponse(_))), "{page:?}");
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
    // Pages have the total of all batches, which takes one more for each.
    let mut pages = server.client().search(&addresses).in_batches().pages();
    assert!(pages.next().await.unwrap().is_some() && pages.next().await.unwrap().is_none());
    assert_eq!(server.requests().len(), 3 + 6);
}

#[tokio::test]
async fn ids_of_request_and_trace_are_two() {
    let rejected = reply(400, &[("x-request-id", "t1")], r#"{"code":7,"message":"no"}"#);
    let server = FaultyServer::start(vec![rejected]).await;
    let error = server.client().extract(1).request_id("mine").await.unwrap_err();
    assert_eq!((error.request_id(), error.trace_id()), (Some("mine"), Some("t1")));
    assert!(error.to_string().ends_with("[request id mine] [trace id t1]"), "{error}");
    let server = FaultyServer::start(vec![reply(400, &[("x-request-id", "mine")], "{}")]).await;
    let error = server.client().extract(1).request_id("mine").await.unwrap_err();
    assert_eq!(error.to_string().matches("mine").count(), 1, "{error}");
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
