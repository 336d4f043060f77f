//! What responses cost in memory, in bytes that are allocated: a body of two bytes for each value must not take fifty times its
//! length, nor may it be kept after it was judged.

use allocation_counter::measure;
use sallyport_conformance::check::InferredClauses;
use sallyport_conformance::observe::{Archive, Traffic, observe};
use sallyport_conformance::run::Glob;
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{
    Budget, Contract, Facts, Options, Outcome, Report, Secret, Selection, Target, Verdict,
};

use super::canned::judge;
use super::rules::RuledServer;

/// The most bytes that a run of some checks holds at once, on one thread.
fn peak(body: &str) -> (u64, Report) {
    // Its memory is not counted, since it is in threads of its own.
    let server = RuledServer::start(&format!("-> 200 {body} + - + Content-Type: application/json"));
    let facts = Facts { own_addresses: vec!["203.0.113.7".to_owned()], ..Facts::default() };
    let token = Secret::new("API_KEY", "a-token-of-tests");
    let target = Target::new(&server.url(), token, facts, false).expect("a target");
    let only = ["groups.*", "search.envelope*", "search.paging*"].map(Glob::new).into();
    // As many checks at a time as there may be get a response to judge, more than once; more of them would only take time.
    let budget = Budget { requests: 24, ..Budget::default() };
    let selection = Selection { only, skip: Vec::new() };
    let options = Options { selection, retries: Some(0), budget, ..Options::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut report = None;
    let counted = measure(|| report = Some(runtime.block_on(judge(&target, options))));
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
        let (peak, report) = peak(&envelope(&items));
        assert!(peak < BOUND / 8, "{peak} bytes");
        assert_eq!(report.verdict, Verdict::Incomplete);
        let asked = report.checks.iter().filter(|check| check.requests > 0);
        for check in asked {
            let is_open = matches!(check.outcome, Outcome::Inconclusive(_) | Outcome::Skipped(_));
            assert!(is_open, "{}: {:?}", check.id, check.outcome);
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
        let (peak, report) = peak(&envelope(&items));
        assert!(peak < BOUND, "{peak} bytes");
        assert_ne!(report.verdict, Verdict::Conforms);
    }
}

/// The most bytes that judging an archive of these entries holds at once, and its length.
fn peak_of_archive(entries: &[String]) -> (u64, u64, Report) {
    let text = format!(r#"{{"log":{{"version":"1.2","entries":[{}]}}}}"#, entries.join(","));
    let contract = Contract::embedded().expect("contract");
    let mut report = None;
    let counted = measure(|| {
        let archive = Archive::read(text.as_bytes(), u64::MAX).expect("an archive");
        let traffic = Traffic::from_archive(contract, archive, None).expect("traffic");
        report = Some(observe(contract, &traffic, InferredClauses::Fail));
    });
    (counted.bytes_max, text.len() as u64, report.expect("it ran"))
}

fn entry(second: usize, total: usize, items: &str) -> String {
    let (page, city) = (second % 2 + 1, if second.is_multiple_of(3) { r#","cityCode":"NYC""# } else { "" });
    let sent = format!(r#"{{"ips":["203.0.113.7"],"status":"active"{city},"page":{page}}}"#);
    let body = envelope(items).replace("\"total\": 1", &format!("\"total\": {total}"));
    serde_json::json!({
        "startedDateTime": format!("2026-01-01T10:00:{:02}Z", second % 60),
        "request": {"method": "POST", "url": "https://a.invalid/openapi/v1/static/instances/search?api_key=a-token-of-tests",
                    "headers": [], "postData": {"text": sent}},
        "response": {"status": 200, "headers": [], "content": {"text": body}},
    })
    .to_string()
}

/// What the README states: four times the length of the file, or the memory of the one response that is judged.
#[test]
fn recorded_traffic_takes_at_most_four_times_its_length() {
    let value_limit = WireOptions::default().value_limit - 40;
    // Each breaks relations with hundreds of others, and the schema.
    let searches: Vec<_> = (0..2_000).map(|at| entry(at, 100 + at, r#"{"instanceId":1}"#)).collect();
    let numbers: Vec<_> = (0..4).map(|at| entry(at, 1, &format!("{}0", "0,".repeat(value_limit)))).collect();
    let one = vec![entry(0, 1, &format!("{}0", "0,".repeat(10 << 20)))];
    let names = |at: usize| {
        (0..100).map(|name| format!(r#"{{"p{at}x{name}password":"s3cret"}}"#)).collect::<Vec<_>>()
    };
    let names: Vec<_> = (0..200).map(|at| entry(at, 1, &names(at).join(","))).collect();
    for (what, entries) in [("searches", searches), ("numbers", numbers), ("one", one), ("names", names)] {
        let (peak, length, report) = peak_of_archive(&entries);
        let one = if what == "numbers" { BOUND / 4 } else { 0 };
        assert!(peak <= one.max(4 * length), "{what}: {peak} bytes for {length}");
        assert_eq!(report.verdict == Verdict::Incomplete, what == "one", "{what}");
        let longest = report.checks.iter().map(|check| check.findings.len()).max();
        assert!(longest <= Some(100), "{what}: {longest:?}");
    }
}
