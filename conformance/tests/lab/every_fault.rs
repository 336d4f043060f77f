//! Every fault and variation, with requests of each kind: whatever comes, the lab responds.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _};
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use sallyport_conformance::Contract;
use sallyport_conformance::Facts;
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{
    self, Backend, Context, Handler, Journal, Lab, ProxiedRequest, Reply, Upstream,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_makes_one_panic() {
    let (reference, backend, requests) = started().await;
    let panicked = panics_of_all(&backend, |_| requests.iter().collect()).await;
    reference.close().await;
    assert!(panicked.is_empty(), "{panicked:#?}");
}

/// An upstream may send anything. Each fault meets each response to a quarter of the requests, its neighbour to another quarter.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_response_of_an_upstream_makes_one_panic() {
    let bodies = rows().filter_map(|row| row.strip_prefix("=>")).map(str::trim_start);
    let (reference, known, requests) = started().await;
    let mut panicked = Vec::new();
    for (at, body) in bodies.enumerate() {
        let backend = Arc::new(Backend { upstream: Upstream::new(Always(body)), ..Backend::clone(&known) });
        let quarter = |number| requests.iter().skip((at + number) % 4).step_by(4).collect();
        let panics = panics_of_all(&backend, quarter).await;
        panicked.extend(panics.into_iter().map(|what| format!("{what}: {body}")));
    }
    reference.close().await;
    assert!(panicked.is_empty(), "{panicked:#?}");
}

/// What the list of needs says of a fault is true.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fault_that_lacks_a_fact_changes_nothing() {
    let (reference, known, requests) = started().await;
    let without = Arc::new(Backend { facts: Facts::default(), ..Backend::clone(&known) });
    let mut wrong = Vec::new();
    let mut lacking = 0;
    for fault in lab::faults() {
        if fault.lacks(true, &Facts::default()).is_empty() {
            continue;
        }
        lacking += 1;
        let journal = Arc::new(Journal::default());
        let upstream = Lab::new(Arc::clone(&without)).row(fault).journal(&journal).into_upstream();
        for (_, request) in &requests {
            upstream.call(request).await;
        }
        let changes: Vec<_> = journal.entries().into_iter().flat_map(|entry| entry.changes).collect();
        if !changes.is_empty() {
            wrong.push(format!("{}: {changes:?}", fault.id));
        }
    }
    reference.close().await;
    assert!(lacking > 50, "{lacking} faults lack a fact");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The embedded server, and requests of each kind for it.
async fn started() -> (Reference, Arc<Backend>, Vec<(&'static str, ProxiedRequest)>) {
    let reference = Reference::start().await.expect("the reference server starts");
    let target = reference.target();
    let backend = Backend::new(Contract::embedded().expect("the contract"), target).expect("a client");
    let requests = requests(target.token.expose(), &target.facts.own_addresses);
    (reference, backend, requests)
}

struct Always(&'static str);

impl Handler for Always {
    async fn handle(&self, _: ProxiedRequest) -> Reply {
        Reply { body: self.0.into(), ..Reply::json_with(200, &serde_json::Value::Null) }
    }
}

/// Without a lab, which would catch a panic and compare what goes in and out. `sent` gives the requests for the row of that number.
async fn panics_of_all<'r>(
    backend: &Arc<Backend>,
    sent: impl Fn(usize) -> Vec<&'r (&'static str, ProxiedRequest)>,
) -> Vec<String> {
    let trials =
        lab::faults().iter().chain(lab::variations()).enumerate().map(|(number, row)| {
            panics(&row.id, Upstream::new(row.server(Context::new(backend))), sent(number))
        });
    futures::stream::iter(trials).buffer_unordered(8).concat().await
}

async fn panics(id: &str, upstream: Upstream, requests: Vec<&(&str, ProxiedRequest)>) -> Vec<String> {
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

fn rows() -> impl Iterator<Item = &'static str> {
    include_str!("every_fault.txt").lines().filter(|row| !row.is_empty() && !row.starts_with('#'))
}

fn requests(token: &str, own: &[String]) -> Vec<(&'static str, ProxiedRequest)> {
    let ips = serde_json::json!(own).to_string();
    let request = |row: &'static str| {
        let (what, request) = row.split_once(": ").filter(|_| !row.starts_with("=>"))?;
        let (line, body) = request.split_once(" <- ").unwrap_or((request, ""));
        let (method, target) = line.split_once(' ').expect("a method");
        let (path, query) = target.split_once('?').expect("a query");
        let request = ProxiedRequest {
            method: method.parse().expect("a method"),
            path: format!("/openapi/v1/{path}"),
            query: Some(query.replace("{key}", &format!("api_key={token}"))),
            headers: HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]),
            body: body.replace("{ips}", &ips).replace("\\0", "\0").into(),
        };
        Some((what, request))
    };
    rows().filter_map(request).collect()
}
