//! Servers that misbehave: the right error, no hang, no second extraction.

mod faulty;

use std::time::{Duration, Instant, SystemTime};

use faulty::{FaultyServer, Reply, no_groups, ok, one_gateway, reply};
use sallyport_client::contract::{ExtractProxies, SearchStaticInstances};
use sallyport_client::{Address, BusinessCode, Error, GroupFilter, InstanceStatus, RetryPolicy, Separator};

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
        assert_eq!(server.seen().len(), 2, "{wait}");
    }
}

#[tokio::test]
async fn a_request_id_over_the_limit_is_not_sent() {
    const MOST: usize = sallyport_client::contract::ExtractProxies::REQUEST_ID_MAX_UTF8_BYTES;
    let server = FaultyServer::start(vec![one_gateway()]).await;
    for (id, is_sent) in
        [("x".repeat(MOST), true), ("x".repeat(MOST + 1), false), ("é".repeat(MOST / 2 + 1), false)]
    {
        let outcome = server.client().extract(1).request_id(id).await;
        match outcome {
            Ok(_) => assert!(is_sent),
            Err(Error::InvalidArgument(error)) => {
                assert!(!is_sent && error.clause == "open.extract.request-id-length", "{error}")
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(server.seen().len(), 1);
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
        assert_eq!(server.seen().len(), 3, "{wait}");
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
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn tries_are_limited_and_can_be_switched_off() {
    let server = FaultyServer::start(vec![reply(503, &[], "")]).await;
    assert!(server.client().groups().await.is_err());
    assert_eq!(server.seen().len(), 3);
    let once = server.builder().retry(RetryPolicy::none()).build().unwrap();
    assert!(once.groups().await.is_err());
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn an_html_503_keeps_its_status_and_its_retry_after() {
    let html = "<html><body>down for maintenance</body></html>";
    let server =
        FaultyServer::start(vec![reply(503, &[("content-type", "text/html"), ("retry-after", "60")], html)])
            .await;
    let error = server.client().groups().await.unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error:?}");
    assert_eq!(error.status().unwrap(), 503);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
    assert!(error.to_string().contains("maintenance"), "{error}");
}

#[tokio::test]
async fn another_business_code_under_200_is_a_rejection_that_is_not_repeated() {
    let server = FaultyServer::start(vec![ok(r#"{"code":7,"message":"no","requestId":"trace-1"}"#)]).await;
    let error = server.client().groups().await.unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error:?}");
    assert_eq!(error.code(), Some(&BusinessCode::Number(7)));
    assert_eq!(
        (error.status().unwrap().as_u16(), error.trace_id(), error.request_id()),
        (200, Some("trace-1"), None)
    );
    assert!(!error.is_retryable());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn an_extraction_keeps_its_number_over_every_kind_of_interruption() {
    let cut = Reply::Raw(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"code\":0,".to_vec());
    for fault in [cut, Reply::Raw(Vec::new()), Reply::Hang, reply(500, &[], "")] {
        let server = FaultyServer::start(vec![fault.clone(), fault, one_gateway()]).await;
        let extraction = server.client().extract(1).await.unwrap();
        let seen = server.seen();
        assert_eq!(seen.len(), 3);
        let number = format!("request_id={}", extraction.request_id);
        assert!(seen.iter().all(|request| request.contains(&number)), "{seen:?}");
    }
}

#[tokio::test]
async fn the_error_of_an_extraction_has_its_request_id() {
    let server = FaultyServer::start(vec![Reply::Raw(Vec::new())]).await;
    let error = server.client().extract(1).await.unwrap_err();
    assert!(matches!(error, Error::Transport(_)) && error.is_retryable(), "{error:?}");
    assert!(server.seen()[0].contains(error.request_id().unwrap()));
}

#[tokio::test]
async fn the_generated_client_makes_a_number_too_and_keeps_it() {
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
    let seen = server.seen();
    assert_eq!(number(&seen[0]), number(&seen[1]));
}

#[tokio::test]
async fn hangs_and_drips_end_in_time() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n";
    let drip = Reply::Drip([head.as_slice(), &[b' '; 10_000]].concat(), Duration::from_millis(5));
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
async fn a_body_without_end_is_not_read_to_its_end() {
    let server = FaultyServer::start(vec![Reply::Flood(50 << 20)]).await;
    let client =
        server.builder().request_timeout(Duration::from_secs(20)).max_body_bytes(1 << 20).build().unwrap();
    let error = client.groups().await.unwrap_err();
    assert!(matches!(error, Error::UnexpectedResponse(_)), "{error:?}");
    assert!(error.to_string().contains("1048576"), "{error}");
}

#[tokio::test]
async fn garbage_is_an_unexpected_response_with_status_headers_and_excerpt() {
    let gzip = "\u{1f}\u{8b}\u{8}garbage";
    for body in ["", "garbage", "[1,2]", "{\"code\":200", "{\"code\":200,\"data\":7}", gzip] {
        let server = FaultyServer::start(vec![reply(
            200,
            &[("content-type", "text/plain"), ("x-request-id", "t1")],
            body,
        )])
        .await;
        let error = server.client().groups().await.unwrap_err();
        let Error::UnexpectedResponse(response) = &error else { panic!("{body:?}: {error:?}") };
        assert_eq!(response.status, 200);
        assert!(
            response.headers.contains(&("content-type".to_owned(), "text/plain".to_owned())),
            "{response:?}"
        );
        assert_eq!(
            (response.excerpt.as_str(), error.trace_id(), error.request_id()),
            (body, Some("t1"), None)
        );
        assert_eq!(server.seen().len(), 1, "an unexpected response is not retried");
    }
}

#[tokio::test]
async fn an_error_in_a_text_body_is_not_a_gateway() {
    let server =
        FaultyServer::start(vec![reply(200, &[("content-type", "text/plain")], "error: token expired")])
            .await;
    let error = server.client().extract_text(1, Separator::CrLf).await.unwrap_err();
    assert!(matches!(&error, Error::UnexpectedResponse(response) if response.status == 200), "{error:?}");
    assert!(error.to_string().contains("token expired") && error.request_id().is_some(), "{error}");
}

#[tokio::test]
async fn what_is_new_or_odd_breaks_no_page() {
    let item = r#"{"instanceId":"9001","offerId":31,"status":"hibernating","ip":"203.0.113.7","port":"20001",
        "protocols":["http","quic"],"countryCode":"USA","cityCode":"NYC","ispType":9,"expiresAt":null,"activatedAt":null,
        "capabilities":{"teleport":true,"trialDays":"3"},"groupId":null,"colour":"red"}"#;
    let body = format!(
        r#"{{"code":"200","message":"ok","requestId":"r","more":1,"data":{{"items":[{item}],"page":1,"pageSize":20,"total":1}}}}"#
    );
    let server = FaultyServer::start(vec![ok(&body)]).await;
    let page = server.client().search(["203.0.113.7"]).page(1).await.unwrap();
    let instance = &page.items[0];
    assert_eq!((instance.instance_id, instance.port), (9001, 20001));
    assert_eq!(instance.status, InstanceStatus::Other("hibernating".to_owned()));
    assert_eq!((instance.activated_at, instance.capabilities.trial_days), (None, Some(3)));
}

#[tokio::test]
async fn odd_times_and_terms_break_no_page() {
    let item = r#"{"instanceId":9001,"offerId":31,"status":"active","ip":"203.0.113.7","port":20001,"protocols":[],
        "countryCode":"USA","cityCode":"NYC","ispType":1,"expiresAt":"9999-12-31T23:59:59Z",
        "activatedAt":"2016-12-31T23:59:60.1234567891Z","capabilities":{"trialDays":1.0,
        "renew":{"allowedDays":["30",90]},"purchase":{"allowedDays":null}},"groupId":null}"#;
    let body = format!(
        r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[{item}],"page":1,"pageSize":20,"total":1}}}}"#
    );
    let server = FaultyServer::start(vec![ok(&body)]).await;
    let page = server.client().search(["203.0.113.7"]).page(1).await.unwrap();
    let instance = &page.items[0];
    assert_eq!(instance.expires_at, Some(sallyport_client::jiff::Timestamp::MAX));
    assert!(instance.activated_at.is_some());
    assert_eq!(instance.capabilities.trial_days, Some(1));
    assert_eq!(instance.capabilities.renew.as_ref().unwrap().allowed_days, [30, 90]);
    assert!(instance.capabilities.purchase.as_ref().unwrap().allowed_days.is_empty());
}

#[tokio::test]
async fn addresses_come_in_every_type_and_go_as_they_were_written() {
    let body =
        r#"{"code":200,"message":"ok","requestId":"r","data":{"items":[],"page":1,"pageSize":20,"total":0}}"#;
    let server = FaultyServer::start(vec![ok(body)]).await;
    let client = server.client();
    let address: Address = "2001:DB8::1".parse().unwrap();
    let v4 = std::net::Ipv4Addr::new(192, 0, 2, 1);
    client.search([&address]).page(1).await.unwrap();
    client.search([address.clone()]).page(1).await.unwrap();
    client.search([v4]).page(1).await.unwrap();
    client.search([std::net::IpAddr::from(v4)]).page(1).await.unwrap();
    client.search([std::net::Ipv6Addr::LOCALHOST]).page(1).await.unwrap();
    client.search([std::net::SocketAddr::from((v4, 80))]).page(1).await.unwrap();
    let sent = ["2001:DB8::1", "2001:DB8::1", "192.0.2.1", "192.0.2.1", "::1", "192.0.2.1:80"];
    for (request, address) in server.seen().iter().zip(sent) {
        assert!(request.contains(&format!("[\"{address}\"]")), "{address}: {request}");
    }
}

#[tokio::test]
async fn an_empty_request_id_is_none_and_a_number_is_made() {
    let server = FaultyServer::start(vec![reply(500, &[], ""), one_gateway()]).await;
    let extraction = server.client().extract(1).request_id("").region("").await.unwrap();
    let seen = server.seen();
    assert!(!extraction.request_id.is_empty());
    let number = format!("request_id={}", extraction.request_id);
    assert!(seen.len() == 2 && seen.iter().all(|request| request.contains(&number)), "{seen:?}");
    assert!(!seen[0].contains("regions="), "{}", seen[0]);

    let server = FaultyServer::start(vec![one_gateway()]).await;
    server.client().generated().extract_proxies().num(1).request_id("").send().await.unwrap();
    let request = server.seen()[0].to_ascii_lowercase();
    assert!(
        request.contains("x-request-id: ") && !request.contains("request_id=") && request.contains("num=1"),
        "{request}"
    );
}

#[tokio::test]
async fn a_rejection_whose_body_breaks_off_keeps_its_status_and_its_wait() {
    for status in [429, 503] {
        let cut = format!(
            "HTTP/1.1 {status} No\r\nretry-after: 60\r\ncontent-length: 500\r\n\r\n{{\"code\":7,\"message\":"
        );
        let server = FaultyServer::start(vec![Reply::Raw(cut.into_bytes())]).await;
        let error = server.client().groups().await.unwrap_err();
        assert_eq!(error.status().map(|status| status.as_u16()), Some(status), "{error:?}");
        assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
    }
}

#[tokio::test]
async fn a_rejection_of_any_length_stays_one() {
    let page = format!("<html>{}</html>", "down ".repeat(4 << 20));
    let server = FaultyServer::start(vec![reply(503, &[("retry-after", "60")], &page)]).await;
    let error = server.client().groups().await.unwrap_err();
    assert!(
        matches!(&error, Error::Rejected(rejection) if rejection.message.starts_with("<html>down")),
        "{error:?}"
    );
    assert_eq!(error.retry_after(), Some(Duration::from_secs(60)));
}

#[tokio::test]
async fn a_rejected_caller_is_not_retried() {
    let body = r#"{"code":40301,"message":"not in the whitelist"}"#;
    let server = FaultyServer::start(vec![reply(403, &[("retry-after", "0")], body), one_gateway()]).await;
    let error = server.client().extract(1).await.unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error:?}");
    assert_eq!(server.seen().len(), 1);
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
async fn totals_of_batches_are_added_up_whatever_they_are() {
    let many: Vec<String> = (0..1200u16).map(|n| format!("10.0.{}.{}", n / 256, n % 256)).collect();
    for total in [i64::MAX, i64::MIN, -1] {
        let body = format!(
            r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[],"page":1,"pageSize":20,"total":{total}}}}}"#
        );
        let server = FaultyServer::start(vec![ok(&body)]).await;
        for number in [1, 1_000_000] {
            let page = server.client().search(&many).in_batches().page_size(1000).page(number).await.unwrap();
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
async fn other_layouts_of_a_text_lose_nothing() {
    let body = "gw.invalid:80\r\ngw.invalid:81:user:pass\r\n";
    let server = FaultyServer::start(vec![reply(200, &[("content-type", "text/plain")], body)]).await;
    let text = server.client().extract_text(2, Separator::CrLf).await.unwrap();
    assert_eq!((text.raw.as_str(), text.endpoints.len(), text.is_partial), (body, 1, false));
    assert_eq!(text.unparsed, ["gw.invalid:81:user:pass"]);
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
    assert!(!server.seen()[0].to_ascii_lowercase().contains("accept-encoding"), "none is requested");
    assert!(
        response.reason.contains("`Content-Encoding: gzip`") && response.excerpt.is_empty(),
        "{response:?}"
    );

    // Without the header, and as a rejection.
    for (status, header) in [(200, ""), (404, ""), (404, "content-encoding: gzip\r\n")] {
        let head = format!("HTTP/1.1 {status} Some\r\n{header}content-length: {}\r\n\r\n", gzip.len());
        let server = FaultyServer::start(vec![Reply::Raw([head.into_bytes(), gzip.clone()].concat())]).await;
        let error = server.client().groups().await.unwrap_err().to_string();
        assert!(error.contains("gzip") && !error.contains(['\u{fffd}', '\u{1f}', '\\']), "{error}");
    }
}

#[tokio::test]
async fn a_field_that_must_be_there_is_missed() {
    let item = r#"{"groupId":1,"name":"a","createdAt":"2026-01-04T09:30:00Z"}"#;
    let body = format!(r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[{item}]}}}}"#);
    let server = FaultyServer::start(vec![ok(&body)]).await;
    let error = server.client().groups().await.unwrap_err();
    assert!(
        matches!(error, Error::UnexpectedResponse(_)) && error.to_string().contains("updatedAt"),
        "{error}"
    );
}

#[tokio::test]
async fn invalid_arguments_are_not_sent() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let client = server.client();
    let beyond = |limit: i64| u32::try_from(limit + 1).unwrap();
    let distinct = SearchStaticInstances::IPS_MAX_DISTINCT;
    let many = || (0..=distinct).map(|n| format!("10.0.{}.{}", n / 256, n % 256));
    let far = std::iter::repeat_n("192.0.2.1", SearchStaticInstances::IPS_MAX_ITEMS + 1);
    let long = "é".repeat(ExtractProxies::SB_MAX_UTF8_BYTES / 2 + 1);
    let (early, late) = ("2026-01-01T00:00:00Z".parse().unwrap(), "2026-01-02T00:00:00Z".parse().unwrap());
    let errors: Vec<(&str, Error)> = vec![
        ("extract.num-range", client.extract(0).await.unwrap_err()),
        ("extract.num-range", client.extract(beyond(ExtractProxies::NUM_MAXIMUM)).await.unwrap_err()),
        ("extract.sb-required", client.extract_text(1, Separator::Custom(String::new())).await.unwrap_err()),
        ("extract.sb-length", client.extract_text(1, Separator::Custom(long)).await.unwrap_err()),
        ("search.ips-raw-limit", client.search::<[&str; 0]>([]).page(1).await.unwrap_err()),
        ("search.ips-raw-limit", client.search(far).page(1).await.unwrap_err()),
        ("search.ips-dedup-limit", client.search(many()).page(1).await.unwrap_err()),
        ("search.ips-item", client.search(["192.0.2.0/24"]).page(1).await.unwrap_err()),
        ("search.ips-port", client.search(["192.0.2.1:0"]).page(1).await.unwrap_err()),
        ("search.group", client.search(["192.0.2.1"]).group(GroupFilter::Id(0)).page(1).await.unwrap_err()),
        ("search.group", client.search(["192.0.2.1"]).group(GroupFilter::Id(-1)).page(1).await.unwrap_err()),
        ("search.page", client.search(["192.0.2.1"]).page(0).await.unwrap_err()),
        (
            "search.page",
            client.search(["192.0.2.1"]).page(beyond(SearchStaticInstances::PAGE_MAXIMUM)).await.unwrap_err(),
        ),
        (
            "search.page-size",
            client
                .search(["192.0.2.1"])
                .page_size(beyond(SearchStaticInstances::PAGE_SIZE_MAXIMUM))
                .page(1)
                .await
                .unwrap_err(),
        ),
        ("search.status", client.search(["192.0.2.1"]).status("gone".into()).page(1).await.unwrap_err()),
        (
            "search.activated-order",
            client.search(["192.0.2.1"]).activated_from(late).activated_to(early).page(1).await.unwrap_err(),
        ),
    ];
    for (clause, error) in errors {
        let Error::InvalidArgument(argument) = &error else { panic!("{clause}: {error:?}") };
        assert_eq!(argument.clause, clause, "{error}");
    }
    assert_eq!(server.seen().len(), 0);
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
        let (seen, id) = (server.seen(), format!("request_id={}", extraction.request_id));
        assert!(seen.len() == 2 && seen.iter().all(|request| request.contains(&id)), "{status}: {seen:?}");
    }
}

#[tokio::test]
async fn a_rejection_of_another_operation_is_no_shortage() {
    let rejection = reply(400, &[("retry-after", "1")], r#"{"code":40001,"message":"no"}"#);
    let server = FaultyServer::start(vec![rejection, no_groups()]).await;
    assert!(matches!(server.client().groups().await, Err(Error::Rejected(_))));
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn retry_after_is_limited_by_the_policy_if_it_says_so() {
    let server = FaultyServer::start(vec![reply(429, &[("retry-after", "2")], ""), no_groups()]).await;
    let second = Duration::from_secs(1);
    let policy = RetryPolicy { max_retry_after: Some(second), ..RetryPolicy::default() };
    let error = server.builder().retry(policy).build().unwrap().groups().await.unwrap_err();
    assert_eq!((error.retry_after(), server.seen().len()), (Some(2 * second), 1));
    // A short maximum of the backoff does not limit Retry-After.
    let server = FaultyServer::start(vec![reply(429, &[("retry-after", "1")], ""), no_groups()]).await;
    let policy = RetryPolicy { max_backoff: Duration::from_millis(1), ..RetryPolicy::default() };
    let started = Instant::now();
    server.builder().retry(policy).build().unwrap().groups().await.unwrap();
    assert!(started.elapsed() >= second);
}

#[tokio::test]
async fn a_retry_after_date_is_relative_to_the_date_of_the_response() {
    let (now, hour) = (SystemTime::now(), Duration::from_secs(3600));
    for clock in [now + hour, now - hour] {
        let (sent, until) =
            (httpdate::fmt_http_date(clock), httpdate::fmt_http_date(clock + Duration::from_secs(1)));
        let throttled = reply(429, &[("date", &sent), ("retry-after", &until)], "");
        let server = FaultyServer::start(vec![throttled, no_groups()]).await;
        let started = Instant::now();
        server.client().groups().await.unwrap();
        assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
        assert_eq!(server.seen().len(), 2);
    }
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
        assert_eq!((text.endpoints.len(), text.endpoints[1].port), (2, 8080), "{cut:?}");
        let id = format!("request_id={}", text.request_id);
        assert!(server.seen().iter().all(|request| request.contains(&id)), "{:?}", server.seen());

        let server = FaultyServer::start(vec![text_without_length(cut)]).await;
        let error = server.client().extract_text(2, Separator::CrLf).await.unwrap_err();
        assert!(matches!(&error, Error::Transport(_)) && error.request_id().is_some(), "{error:?}");
        assert_eq!(server.seen().len(), 3);
    }
    // With a declared length the text needs no separator at its end.
    let body = "a.invalid:80\r\nb.invalid:8080";
    let server = FaultyServer::start(vec![reply(200, &[("content-type", "text/plain")], body)]).await;
    assert_eq!(server.client().extract_text(2, Separator::CrLf).await.unwrap().endpoints.len(), 2);
    // A rejection and a page stay what they are.
    let server = FaultyServer::start(vec![text_without_length(r#"{"code":7,"message":"no"}"#)]).await;
    let error = server.client().extract_text(1, Separator::CrLf).await.unwrap_err();
    assert!(matches!(error, Error::Rejected(_)), "{error:?}");
    let server = FaultyServer::start(vec![text_without_length("<html>8080</html>")]).await;
    let error = server.client().extract_text(1, Separator::CrLf).await.unwrap_err();
    assert!(matches!(error, Error::UnexpectedResponse(_)), "{error:?}");
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
async fn an_awaited_search_collects_all_pages() {
    let item = |id: u8| {
        format!(
            r#"{{"instanceId":{id},"offerId":31,"status":"active","ip":"203.0.113.7","port":1,"protocols":[],
            "countryCode":"USA","cityCode":"NYC","ispType":1,"expiresAt":null,"activatedAt":null,"capabilities":{{}},
            "groupId":null}}"#
        )
    };
    let page = |number: u8| {
        ok(&format!(
            r#"{{"code":200,"message":"ok","requestId":"r","data":{{"items":[{}],"page":{number},"pageSize":1,"total":2}}}}"#,
            item(number)
        ))
    };
    let server = FaultyServer::start(vec![page(1), page(2)]).await;
    let instances = server.client().search(["203.0.113.7"]).page_size(1).await.unwrap();
    assert_eq!(instances.iter().map(|instance| instance.instance_id).collect::<Vec<_>>(), [1, 2]);
}

#[tokio::test]
async fn a_stream_needs_one_request_for_each_page() {
    let body = r#"{"code":200,"data":{"items":[],"page":1,"pageSize":1000,"total":0}}"#;
    let server = FaultyServer::start(vec![ok(body)]).await;
    let addresses: Vec<String> = (0..1200u16).map(|n| format!("10.0.{}.{}", n / 256, n % 256)).collect();
    assert!(server.client().search(&addresses).in_batches().await.unwrap().is_empty());
    assert_eq!(server.seen().len(), 3, "one for each batch");
    // Pages have the total of all batches, which takes one more for each.
    let mut pages = server.client().search(&addresses).in_batches().pages();
    assert!(pages.next().await.unwrap().is_some() && pages.next().await.unwrap().is_none());
    assert_eq!(server.seen().len(), 3 + 6);
}

#[tokio::test]
async fn the_error_for_too_many_addresses_names_in_batches() {
    let server = FaultyServer::start(vec![no_groups()]).await;
    let client = server.client();
    let addresses: Vec<String> = (0..501u16).map(|n| format!("10.0.{}.{}", n / 256, n % 256)).collect();
    let duplicated: Vec<String> = addresses.iter().cycle().take(10_521).cloned().collect();
    for addresses in [addresses, duplicated] {
        let error = client.search(&addresses).await.unwrap_err();
        assert!(error.to_string().contains("`in_batches()`"), "{error}");
    }
    let error = client.search::<[&str; 0]>([]).await.unwrap_err();
    assert!(!error.to_string().contains("in_batches"), "{error}");
    assert!(server.seen().is_empty());
}

#[tokio::test]
async fn ids_of_request_and_trace_are_two() {
    let server =
        FaultyServer::start(vec![reply(400, &[("x-request-id", "t1")], r#"{"code":7,"message":"no"}"#)])
            .await;
    let error = server.client().extract(1).request_id("mine").await.unwrap_err();
    assert_eq!((error.request_id(), error.trace_id()), (Some("mine"), Some("t1")));
    assert!(error.to_string().ends_with("[request id mine] [trace id t1]"), "{error}");
    let server = FaultyServer::start(vec![reply(400, &[("x-request-id", "mine")], "{}")]).await;
    let error = server.client().extract(1).request_id("mine").await.unwrap_err();
    assert_eq!(error.to_string().matches("mine").count(), 1, "{error}");
}
