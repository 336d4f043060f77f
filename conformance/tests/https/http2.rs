//! Calls by way of a front that speaks HTTP/2 only.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use h2::Reason;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo};
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{ProxiedRequest, Upstream};
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{Options, Verdict};
use tokio::net::TcpListener;

use super::{assert_conforms, canned, config};
use crate::support::network::{Authority, front};

/// Whether a front refuses the stream of a request, by its path and the number of requests before it.
type Refuses = fn(&str, u64) -> bool;

/// A server behind a front that refuses some streams, and resets those whose headers HTTP/2 forbids (RFC 9113, section 8.2.1).
async fn behind(authority: &Authority, refuses: Refuses) -> Reference {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let issued = authority.issue("127.0.0.1", 4096);
    let front = front(listener.local_addr().expect("bound"), &issued, None, &["h2"]).await;
    let reference = Reference::reached_by(config(), |running| {
        let base = running.base_url().parse().expect("a URL");
        let service = Upstream::http(&base, &WireOptions::default()).expect("a client");
        let count = Arc::new(AtomicU64::new(0));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (service, count) = (service.clone(), Arc::clone(&count));
                tokio::spawn(async move {
                    let respond = service_fn(move |request| {
                        let number = count.fetch_add(1, Ordering::Relaxed);
                        respond(request, service.clone(), refuses, number)
                    });
                    let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                    // A caller may leave early.
                    let _ = http.serve_connection(TokioIo::new(stream), respond).await;
                });
            }
        });
        format!("https://{front}")
    });
    reference.await.expect("started")
}

/// An error resets the stream.
async fn respond(
    request: Request<Incoming>,
    service: Upstream,
    refuses: Refuses,
    number: u64,
) -> Result<Response<Full<Bytes>>, h2::Error> {
    let (parts, body) = request.into_parts();
    let is_padded = |value: &http::HeaderValue| value.as_bytes().trim_ascii() != value.as_bytes();
    if parts.headers.values().any(is_padded) {
        return Err(Reason::PROTOCOL_ERROR.into());
    }
    if refuses(parts.uri.path(), number) {
        return Err(Reason::REFUSED_STREAM.into());
    }
    let body = body.collect().await.map_err(|_| Reason::INTERNAL_ERROR)?.to_bytes();
    let reply = service.call(&ProxiedRequest::from_parts(parts, body)).await;
    let mut response = Response::new(Full::new(reply.body));
    (*response.status_mut(), *response.headers_mut()) = (reply.status, reply.headers);
    Ok(response)
}

#[tokio::test(flavor = "multi_thread")]
async fn it_conforms_behind_a_front_that_refuses_streams() {
    let authority = Authority::new("Company");
    let reference = behind(&authority, |_, number| number % 5 == 4).await;
    assert_conforms(&reference, authority.pem()).await;
    reference.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_extraction_takes_no_gateways_and_is_no_finding() {
    let authority = Authority::new("Company");
    let reference = behind(&authority, |path, _| path.ends_with("/extract")).await;
    let wire = WireOptions { authorities: authority.pem().into_bytes(), ..WireOptions::default() };
    let options = Options { wire, ..canned::only("extract.num-range.*") };
    let report = canned::judge(reference.target(), options).await;
    reference.close().await;
    assert_eq!(report.verdict, Verdict::Incomplete);
    assert!(report.usage.requests > 10, "{:?}", report.usage);
    assert_eq!(report.usage.gateways, 0);
    let findings: Vec<_> = report.checks.iter().flat_map(|check| &check.findings).collect();
    assert!(findings.is_empty(), "{findings:#?}");
}
