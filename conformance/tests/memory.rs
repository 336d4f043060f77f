//! What responses cost in memory, in bytes that are allocated: a body of two bytes for each value must not take fifty times its
//! length, nor may it be kept after it was judged.

#![expect(clippy::expect_used, reason = "a test that can't go on has failed")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use allocation_counter::measure;
use sallyport_conformance::run::Glob;
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{
    Contract, Facts, Options, Outcome, Report, Secret, Selection, SilentObserver, Suite, Target, Verdict,
};

/// A server in a thread of its own, whose memory is not counted.
fn serve(body: String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        let body = std::sync::Arc::new(body);
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let body = std::sync::Arc::clone(&body);
            std::thread::spawn(move || {
                let mut head = [0; 65_536];
                let _ = stream.read(&mut head);
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
            });
        }
    });
    url
}

/// The most bytes that a run of some checks holds at once, on one thread.
fn peak(body: String) -> (u64, Report) {
    let url = serve(body);
    let contract = Contract::embedded().expect("contract");
    let facts = Facts { own_addresses: vec!["203.0.113.7".to_owned()], ..Facts::default() };
    let target =
        Target::new(&url, Secret::new("API_KEY", "a-token-of-tests"), facts, false).expect("a target");
    let only = ["groups.*", "search.envelope*", "search.instance*", "search.paging*", "search.total*"]
        .map(Glob::new)
        .into();
    let options =
        Options { selection: Selection { only, skip: Vec::new() }, retries: 0, ..Options::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let suite = Suite::new(contract, &target, options).expect("a suite");
    let mut report = None;
    let counted = measure(|| report = Some(runtime.block_on(suite.run(&SilentObserver))));
    (counted.bytes_max, report.expect("it ran"))
}

fn envelope(items: &str) -> String {
    format!(
        r#"{{"code": 200, "message": "ok", "requestId": "r", "data": {{"items": [{items}], "page": 1, "pageSize": 20, "total": 1}}}}"#
    )
}

/// What the README states: 64 MiB for each check at a time, of which there are eight.
const BOUND: u64 = 8 * 64 * 1024 * 1024;

#[test]
fn a_response_that_is_too_large_is_not_parsed() {
    let numbers = format!("{}0", "0,".repeat(8 * 1024 * 1024));
    for items in [numbers.clone(), numbers[..1_500_000].trim_end_matches(',').to_owned()] {
        let (peak, report) = peak(envelope(&items));
        assert!(peak < BOUND / 8, "{peak} bytes");
        assert_eq!(report.verdict, Verdict::Incomplete);
        let asked = report.checks.iter().filter(|check| check.requests > 0);
        for check in asked {
            assert!(
                matches!(check.outcome, Outcome::Inconclusive(_) | Outcome::Skipped(_)),
                "{}: {:?}",
                check.id,
                check.outcome
            );
        }
        let reasons: Vec<_> = report.checks.iter().filter_map(|check| check.outcome.reason()).collect();
        assert!(reasons.iter().any(|reason| reason.contains("too large to judge")), "{reasons:?}");
    }
}

#[test]
fn responses_at_the_limit_stay_within_the_bound() {
    let limit = WireOptions::default().value_limit - 20;
    let objects = format!("{}0", r#"{"a":0},"#.repeat(limit / 3));
    let numbers = format!("{}0", "0,".repeat(limit));
    let nested = format!("{}0", "[[[[]]]],".repeat(limit / 6));
    for items in [objects, numbers, nested] {
        let (peak, report) = peak(envelope(&items));
        assert!(peak < BOUND, "{peak} bytes");
        assert_ne!(report.verdict, Verdict::Conforms);
    }
}
