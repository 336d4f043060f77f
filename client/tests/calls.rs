//! Settings of a single call, and its result.
#![allow(clippy::unwrap_used, reason = "a server that cannot be set up fails its test")]

use std::net;

use crate::faulty::FaultyServer;
use sallyport_client::{Address, Error, Separator};

const EMPTY_PAGE: &str =
    r#"{"code":200,"message":"ok","requestId":"r","data":{"items":[],"page":1,"pageSize":20,"total":0}}"#;

#[tokio::test]
async fn a_partial_result_tells_what_the_service_sent() {
    let headers = "x-proxy-requested-count: 3 + x-proxy-returned-count: 2 + x-proxy-partial: Yes";
    let gateways = r#"200 {"code":0,"data":[{"ip":"gw.invalid","port":80}]}"#;
    let text = r"200 a.invalid:1:user:pass\r\nb.invalid:2\r\n";
    let server = FaultyServer::start(&format!("{gateways} + {headers} | {text} + {headers} | gateway")).await;
    let client = server.client();
    let sent = client.extract(3).await.unwrap().headers;
    assert_eq!((sent.x_proxy_requested_count, sent.x_proxy_returned_count), (Some(3), Some(2)));
    let text = client.extract_text(3, Separator::CrLf).await.unwrap();
    assert!(text.headers == sent && sent.x_proxy_partial.as_deref() == Some("Yes"), "{sent:?}");
    assert_eq!(text.endpoints().map(ToString::to_string).collect::<Vec<_>>(), ["b.invalid:2"]);
    assert_eq!(text.unparsed().collect::<Vec<_>>(), [text.entries[0].to_string()]);
    assert!(client.extract(1).await.unwrap().headers.x_proxy_partial.is_none());
}

#[tokio::test]
async fn the_response_is_there_beside_the_typed_result() {
    let groups = r#"{"code":200,"data":{"items":[]},"more":1}"#;
    let server = FaultyServer::start(&format!("503 | 200 {groups} + x-plan: gold + x-request-id: t")).await;
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

    let server = FaultyServer::start(&format!("gateway | 200 gw.invalid:1 | 200 {EMPTY_PAGE}")).await;
    let client = server.client();
    let extraction = client.extract(1).with_response().await.unwrap();
    assert_eq!((extraction.value.endpoints.len(), extraction.attempts), (1, 1));
    assert!(extraction.body.starts_with(b"{\"code\":0"));
    let text = client.extract_text(1, Separator::Lf).with_response().await.unwrap();
    assert_eq!((text.value.endpoints().count(), &text.body[..]), (1, &b"gw.invalid:1"[..]));
    let page = client.search(["192.0.2.1"]).page_with_response(1).await.unwrap();
    assert_eq!((page.value.total, &page.body[..]), (0, EMPTY_PAGE.as_bytes()));
    let server = FaultyServer::start("400 {}").await;
    assert!(matches!(server.client().groups().with_response().await, Err(Error::Rejected(_))));
}

#[tokio::test]
async fn an_error_without_a_request_id_resumes_nothing() {
    let server = FaultyServer::start("gateway").await;
    let client = server.client();
    // Nothing was sent.
    let error = client.extract(0).await.unwrap_err();
    let text = client.extract_text(1, Separator::Lf).request_id("mine").resume(&error);
    assert_eq!(text.clone().ensure_request_id(), "mine");
    let mut call = client.extract(1).request_id("");
    let id = call.ensure_request_id().to_owned();
    assert_eq!((id.len(), call.ensure_request_id()), (32, id.as_str()));
    assert_eq!(call.await.unwrap().request_id, id);
}

#[tokio::test]
async fn addresses_come_in_every_type_and_go_as_they_were_written() {
    let server = FaultyServer::start("page of 0").await;
    let client = server.client();
    let address: Address = "2001:DB8::1".parse().unwrap();
    let v4 = net::Ipv4Addr::new(192, 0, 2, 1);
    client.search([&address]).page(1).await.unwrap();
    client.search([address.clone()]).page(1).await.unwrap();
    client.search([v4]).page(1).await.unwrap();
    client.search([net::IpAddr::from(v4)]).page(1).await.unwrap();
    client.search([net::Ipv6Addr::LOCALHOST]).page(1).await.unwrap();
    client.search([net::SocketAddr::from((v4, 80))]).page(1).await.unwrap();
    assert!(matches!(client.search([net::SocketAddr::from((v4, 0))]).await, Err(Error::InvalidArgument(_))));
    let sent = ["2001:DB8::1", "2001:DB8::1", "192.0.2.1", "192.0.2.1", "::1", "192.0.2.1:80"];
    assert_eq!(server.requests().len(), sent.len());
    for (request, address) in server.requests().iter().zip(sent) {
        assert!(request.contains(&format!("[\"{address}\"]")), "{address}: {request}");
    }
}
