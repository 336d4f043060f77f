//! Services that are busy: they get a verdict all the same.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use sallyport_conformance::report::{self, Screen};
use sallyport_conformance::run::Rerun;
use sallyport_conformance::wire::Throttling;
use sallyport_conformance::{Outcome, Report, Verdict};

use super::canned::{CannedRequest, CannedServer, Reply};

/// What keeps a list of groups from being served, among these requests.
async fn groups_unless(
    instead: impl Fn(&CannedRequest) -> Option<Reply> + Send + Sync + 'static,
) -> CannedServer {
    CannedServer::start(move |asked| {
        instead(asked).unwrap_or_else(|| match asked.has_token() {
            true => Reply::groups(),
            false => Reply::rejected(401, 40100, "unknown token"),
        })
    })
    .await
}

fn throttled(retry_after: &str) -> Reply {
    Reply::rejected(429, 42900, "slow down").with("Retry-After", retry_after)
}

fn summary(report: &Report) -> String {
    report::summary(report, &Screen::PLAIN)
}

/// The checks of groups send some 60 requests.
const CHECKS: &str = "groups.*";

#[tokio::test]
async fn a_service_that_throttles_a_burst_conforms_and_gets_a_lower_rate() {
    const BURST: std::ops::Range<usize> = 10..30;
    let server = groups_unless(|asked| BURST.contains(&asked.number).then(|| throttled("1"))).await;
    let report = server.run(CHECKS, |options| options.budget.concurrency = 8).await;
    assert_eq!(report.verdict, Verdict::Conforms, "{}", summary(&report));
    assert_eq!(report.throttling.responses, 20);
    assert!(report.throttling.lowest_rate.is_some());
    let text = summary(&report);
    assert!(text.contains("the service throttled 20 requests; the rate was lowered to "), "{text}");
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
    // An hour, and the largest number of seconds that fits.
    for retry_after in ["3600", "18446744073709551615"] {
        let server = groups_unless(move |asked| (asked.number > 0).then(|| throttled(retry_after))).await;
        let report = server.run("*", |_| {}).await;
        assert_eq!(report.verdict, Verdict::Incomplete);
        let Rerun { checks, concluded } = report.run_again;
        assert!((1..=3).contains(&checks) && concluded == 0, "{:?}", report.run_again);
        assert!(report.totals.inconclusive > 10, "{:?}", report.totals);
        assert_eq!(report.totals.errors, 0, "{}", summary(&report));
        assert!(server.requests() < 100, "{} requests", server.requests());
    }
}

/// Wrong tokens are throttled whatever the rate, and everything else is served.
#[tokio::test]
async fn what_is_throttled_whatever_the_rate_does_not_slow_down_the_rest() {
    let server = groups_unless(|asked| (!asked.has_token()).then(|| throttled("1"))).await;
    let report = server
        .run(CHECKS, |options| {
            options.budget.concurrency = 8;
            options.wire.longest_wait = Duration::from_secs(2);
        })
        .await;
    assert_eq!(report.verdict, Verdict::Incomplete, "{}", summary(&report));
    // Each of some twenty wrong tokens would wait otherwise, and again at the end.
    let Throttling { responses, .. } = report.throttling;
    assert!((20..70).contains(&responses), "{responses} throttled: {}", summary(&report));
    assert!(report.totals.passed >= 4, "{}", summary(&report));
}

#[tokio::test]
async fn a_service_that_restarts_conforms() {
    const LAST: usize = 20;
    let server =
        groups_unless(|asked| (asked.number == LAST).then_some(Reply::Restart(Duration::from_millis(900))))
            .await;
    let report = server.run(CHECKS, |options| options.budget.concurrency = 4).await;
    assert!(server.requests() > LAST);
    assert_eq!(report.verdict, Verdict::Conforms, "{}", summary(&report));
}

/// One gateway, as JSON, or a rejection of the account.
fn extraction(is_served: bool) -> Reply {
    match is_served {
        true => Reply::json(
            200,
            r#"{"code": 0, "success": true, "msg": "ok", "data": [{"ip": "gw.example", "port": 1080}], "request_ip": "127.0.0.1"}"#,
        ),
        false => Reply::rejected(403, 40305, "the quota is used up"),
    }
}

fn is_extraction(asked: &CannedRequest) -> bool {
    asked.line.contains("num=")
}

#[tokio::test]
async fn a_quota_that_is_used_up_is_no_violation_and_what_is_really_rejected_is_one() {
    const EACH: &str = "extract.token-transport.each";
    for quota in 1..5 {
        let extracted = AtomicUsize::new(0);
        let server = groups_unless(move |asked| {
            is_extraction(asked).then(|| extraction(extracted.fetch_add(1, Ordering::SeqCst) < quota))
        })
        .await;
        let report = server.run(EACH, |_| {}).await;
        assert_eq!(report.verdict, Verdict::Incomplete, "{quota}: {}", summary(&report));
    }
    let server = groups_unless(|asked| is_extraction(asked).then(|| extraction(asked.has_token()))).await;
    let report = server.run(EACH, |_| {}).await;
    assert_eq!(report.verdict, Verdict::Findings, "{}", summary(&report));
}
