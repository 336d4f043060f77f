//! Services that are busy: they get a verdict all the same.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use sallyport_conformance::report::{self, Screen};
use sallyport_conformance::run::Rerun;
use sallyport_conformance::{Outcome, Report, Verdict};

use crate::canned::{CannedRequest, CannedServer, Reply};

/// What keeps a list of groups from being served, among these requests.
async fn groups_unless(
    instead: impl Fn(&CannedRequest) -> Option<Reply> + Send + Sync + 'static,
) -> CannedServer {
    CannedServer::start(move |asked| {
        instead(asked).unwrap_or_else(|| match asked.has_token() {
            true => Reply::groups(),
            false => Reply::json(401, r#"{"code": 40100, "message": "unknown token"}"#),
        })
    })
    .await
}

fn throttled(retry_after: &str) -> Reply {
    Reply::json(429, r#"{"code": 42900, "message": "slow down"}"#).with("Retry-After", retry_after)
}

fn summary(report: &Report) -> String {
    report::summary(report, &Screen::PLAIN)
}

/// The checks of groups send some 60 requests.
const CHECKS: &str = "groups.*";

#[tokio::test]
async fn a_service_that_throttles_a_burst_conforms_and_gets_a_lower_rate() {
    const BURST: std::ops::Range<usize> = 10..17;
    let server = groups_unless(|asked| BURST.contains(&asked.number).then(|| throttled("1"))).await;
    let report = server.run(CHECKS, |options| options.budget.concurrency = 8).await;
    assert_eq!(report.verdict, Verdict::Conforms, "{}", summary(&report));
    assert_eq!(report.throttling.responses, 7);
    assert!(report.throttling.lowest_rate.is_some());
    let text = summary(&report);
    assert!(text.contains("the service throttled 7 requests; the rate was lowered to "), "{text}");
    // An archive is what was sent, and no report.
    for format in report::Format::ALL.into_iter().filter(|format| *format != report::Format::Har) {
        let text = format.render(&report).expect("rendered");
        assert!(text.contains("throttled"), "{text}");
    }
}

#[tokio::test]
async fn a_service_that_serves_so_many_requests_a_second_conforms() {
    const A_SECOND: u32 = 20;
    let window = Mutex::new((Instant::now(), 0));
    let server = groups_unless(move |_| {
        let mut window = window.lock().expect("whole");
        if window.0.elapsed() >= Duration::from_secs(1) {
            *window = (Instant::now(), 0);
        }
        window.1 += 1;
        (window.1 > A_SECOND).then(|| throttled("1"))
    })
    .await;
    let report = server.run(CHECKS, |options| options.budget.concurrency = 8).await;
    assert_eq!(report.verdict, Verdict::Conforms, "{}", summary(&report));
}

#[tokio::test]
async fn inconclusive_checks_run_again_alone_at_the_end() {
    // At first only the request of the preflight is served, and later all are.
    const BUSY: std::ops::Range<usize> = 1..12;
    let server = groups_unless(|asked| BUSY.contains(&asked.number).then(|| throttled("3600"))).await;
    let report = server.run(CHECKS, |_| {}).await;
    assert_eq!(report.verdict, Verdict::Conforms, "{}", summary(&report));
    let Rerun { checks, concluded } = report.run_again;
    assert!(checks > 0 && checks == concluded, "{:?}", report.run_again);
    let passed = report.checks.iter().filter(|check| check.outcome == Outcome::Passed).count();
    assert_eq!(passed, report.totals.passed);
    assert!(summary(&report).contains("with a result now"), "{}", summary(&report));
}

#[tokio::test]
async fn what_breaks_when_it_runs_again_is_a_finding() {
    const ONE: &str = "groups.envelope.success";
    let server = groups_unless(|asked| match asked.number {
        0 => None,
        1 => Some(throttled("3600")),
        // The code of a success under another status than that of a success.
        _ => Some(Reply::json(
            202,
            r#"{"code": 200, "message": "ok", "requestId": "r-1", "data": {"items": []}}"#,
        )),
    })
    .await;
    let report = server.run(ONE, |_| {}).await;
    assert_eq!(report.verdict, Verdict::Findings, "{}", summary(&report));
    let check = &report.checks[0];
    let cited = &check.findings[0].exchanges;
    assert!(!cited.is_empty() && cited.iter().all(|index| check.exchanges.iter().any(|e| e.index == *index)));
    assert_eq!(check.findings.len(), 1, "{:?}", check.findings);
}

#[tokio::test]
async fn a_service_that_stays_busy_gets_no_verdict_and_is_not_asked_forever() {
    let server = groups_unless(|asked| (asked.number > 0).then(|| throttled("3600"))).await;
    let report = server.run("*", |_| {}).await;
    assert_eq!(report.verdict, Verdict::Incomplete);
    let Rerun { checks, concluded } = report.run_again;
    assert!((1..=3).contains(&checks) && concluded == 0, "{:?}", report.run_again);
    assert!(report.totals.inconclusive > 10, "{:?}", report.totals);
    assert!(server.requests() < 100, "{} requests", server.requests());
}
