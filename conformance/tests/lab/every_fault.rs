//! Every fault and variation, with requests of each kind: whatever comes, the lab responds.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use sallyport_conformance::Contract;
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{self, Backend, Lab, ProxiedRequest, Upstream};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_makes_one_panic() {
    let reference = Reference::start().await.expect("the reference server starts");
    let contract = Contract::embedded().expect("the contract");
    let backend = Backend::new(contract, reference.target()).expect("a client");
    let requests = requests(reference.target().token.expose(), &reference.target().facts.own_addresses);
    let plain = || Lab::new(Arc::clone(&backend));
    let faults = lab::faults().into_iter().map(|fault| (fault.id, plain().fault(fault)));
    let variations = lab::variations().into_iter().map(|one| (one.id, plain().variation(one)));
    let labs = faults.chain(variations).map(|(id, lab)| (id, lab.into_upstream()));
    let trials = labs.map(|(id, upstream)| panics(id, upstream, &requests));
    let panicked: Vec<String> = futures::stream::iter(trials).buffer_unordered(8).concat().await;
    reference.close().await;
    assert!(panicked.is_empty(), "{panicked:#?}");
}

/// The requests whose handling panics.
async fn panics(id: &str, upstream: Upstream, requests: &[(&str, ProxiedRequest)]) -> Vec<String> {
    let mut panicked = Vec::new();
    for (what, request) in requests {
        let handled = AssertUnwindSafe(upstream.call(request)).catch_unwind();
        // Some of them wait; a wait is no panic.
        if let Ok(Err(_)) = tokio::time::timeout(Duration::from_millis(500), handled).await {
            panicked.push(format!("{id}: {what}"));
        }
    }
    panicked
}

fn requests(token: &str, own: &[String]) -> Vec<(&'static str, ProxiedRequest)> {
    let request = |method: &str, path: &str, query: String, body: &str| {
        let json = HeaderValue::from_static("application/json");
        ProxiedRequest {
            method: method.parse().expect("a method"),
            path: path.to_owned(),
            query: Some(query),
            headers: HeaderMap::from_iter([(CONTENT_TYPE, json)]),
            body: body.to_owned().into(),
        }
    };
    let (extract, groups, search) =
        ("/openapi/v1/proxy/extract", "/openapi/v1/static/groups", "/openapi/v1/static/instances/search");
    let key = |rest: &str| format!("api_key={token}{rest}");
    let ips = serde_json::json!(own);
    let searching = |rest: &str| format!("{{\"ips\": {ips}{rest}}}");
    vec![
        ("an extraction", request("GET", extract, key("&num=2&request_id=r-1"), "")),
        ("a text", request("GET", extract, key("&num=2&return_type=txt&lb=6&sb=%7C"), "")),
        ("a shortage", request("GET", extract, key("&num=2&regions=ATA"), "")),
        ("a partial result", request("GET", extract, key("&num=9&country=ISL"), "")),
        ("a rejected extraction", request("GET", extract, key("&num=0"), "")),
        ("an extraction without a token", request("GET", extract, "num=1".to_owned(), "")),
        ("an extraction by POST", request("POST", extract, key("&num=1"), "")),
        ("a listing", request("GET", groups, key(""), "")),
        ("a listing without a token", request("GET", groups, String::new(), "")),
        ("a search", request("POST", search, key(""), &searching(""))),
        (
            "a search with filters",
            request("POST", search, key(""), &searching(r#", "status": "active", "page": 2, "pageSize": 1"#)),
        ),
        ("a search of nothing", request("POST", search, key(""), r#"{"ips": ["203.0.113.251"]}"#)),
        ("a rejected search", request("POST", search, key(""), r#"{"ips": "x", "page": null}"#)),
        ("a body that is a list", request("POST", search, key(""), "[1]")),
        ("a body that is no JSON", request("POST", search, key(""), "\u{0}{")),
        ("another path", request("DELETE", "/openapi/v1/other%ff", key("&=&&x"), "{}")),
    ]
}
