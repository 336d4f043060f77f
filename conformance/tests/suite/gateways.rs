//! The ceiling of gateways holds against targets that break the contract.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sallyport_conformance::contract::Clause;
use sallyport_conformance::run::{Glob, Profile, SessionError};
use sallyport_conformance::snapshot;
use sallyport_conformance::wire::BudgetError;
use sallyport_conformance::{Budget, Contract, Facts, Options, Outcome, Report, Secret, Selection, Target};

use super::canned::{CannedRequest, CannedServer, Reply, TOKEN, judge};

const CEILING: u64 = 25;

/// How many gateways a request is given.
type Generosity = fn(&CannedRequest) -> u64;

/// A target that hands out gateways in JSON and in text, and counts them.
struct GenerousServer {
    server: CannedServer,
    handed_out: Arc<AtomicU64>,
}

fn asked(asked: &CannedRequest) -> Option<i64> {
    asked.param("num")?.parse().ok()
}

fn clamped(request: &CannedRequest) -> u64 {
    u64::try_from(asked(request).unwrap_or(100).clamp(1, 100)).unwrap_or(1)
}

fn ignored(_: &CannedRequest) -> u64 {
    10
}

fn thousands(_: &CannedRequest) -> u64 {
    4_000
}

/// As many as asked for, and thousands under a status that rejects.
fn rejected_with_thousands(request: &CannedRequest) -> u64 {
    if asked(request).is_some_and(|num| (1..=100).contains(&num)) { clamped(request) } else { 4_000 }
}

impl GenerousServer {
    async fn start(generosity: Generosity, status: u16) -> Self {
        let handed_out = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&handed_out);
        let server = CannedServer::extracting(move |request| {
            let came = generosity(request);
            count.fetch_add(came, Ordering::SeqCst);
            let gateway = |number: u64| (format!("gw{number}.invalid"), 1_000 + number);
            let regular = asked(request).is_some_and(|num| u64::try_from(num) == Ok(came));
            let status = if regular { 200 } else { status };
            if request.param("return_type") == Some("txt") {
                let lines: Vec<_> = (0..came).map(gateway).map(|(ip, port)| format!("{ip}:{port}")).collect();
                return Reply::json(status, &lines.join("\r\n"));
            }
            let items: Vec<_> =
                (0..came).map(gateway).map(|(ip, port)| serde_json::json!({"ip": ip, "port": port})).collect();
            let code = if status == 200 { 0 } else { 7 };
            let body = serde_json::json!({"code": code, "success": true, "msg": "ok", "request_ip": "127.0.0.1", "data": items});
            Reply::json(status, &body.to_string())
        })
        .await;
        Self { server, handed_out }
    }

    fn target(&self) -> Target {
        let facts = Facts { plentiful_region: Some("USA".to_owned()), ..Facts::default() };
        Target::new(&self.server.url(), Secret::new("API_KEY", TOKEN), facts, false).expect("a loopback URL")
    }

    fn handed_out(&self) -> u64 {
        self.handed_out.load(Ordering::SeqCst)
    }

    async fn run(&self, concurrency: usize) -> Report {
        let budget = Budget { gateways: CEILING, concurrency, ..Budget::default() };
        // Few enough that the ceiling lets all of them begin.
        let only = [
            "extract.num-range.*",
            "extract.num-required.*",
            "extract.envelope.success",
            "extract.partial.watched",
            "groups.*",
        ];
        let selection = Selection { only: only.map(Glob::new).into(), skip: Vec::new() };
        let options = Options { selection, budget, profile: Profile::Production, ..Options::default() };
        judge(&self.target(), options).await
    }
}

/// The bound of the README: the ceiling, and what those responses hold beyond what they were asked for that were under way when
/// it was reached, of which there are as many as checks at a time, and two at least.
fn bound(concurrency: usize, per_response: u64) -> u64 {
    CEILING + per_response * u64::try_from(concurrency.max(2)).expect("a few")
}

#[tokio::test]
async fn the_ceiling_of_gateways_holds_against_targets_that_break_the_contract() {
    let cases: [(Generosity, u16, u64); 5] = [
        (clamped, 200, 100),
        (ignored, 200, 10),
        (thousands, 200, 4_000),
        (rejected_with_thousands, 403, 4_000),
        (thousands, 503, 4_000),
    ];
    for (index, (generosity, status, per_response)) in cases.into_iter().enumerate() {
        for concurrency in [1, 2, 8] {
            let target = GenerousServer::start(generosity, status).await;
            let report = target.run(concurrency).await;
            let handed_out = target.handed_out();
            assert!(
                handed_out <= bound(concurrency, per_response),
                "{index}, {concurrency} at a time: {handed_out}"
            );
            // What the end of the run cuts off counts as many as were asked for.
            let counted = report.usage.gateways + bound(concurrency, per_response) - CEILING;
            assert!(counted >= handed_out, "{index}: {:?} of {handed_out}", report.usage);
            let stopped = report.stopped.as_deref().unwrap_or_default();
            let is_exceeded = stopped.contains("the limit of 25 gateways is exceeded");
            assert!(is_exceeded || handed_out <= CEILING, "{index}, {handed_out} handed out: {stopped}");
            let found = report
                .checks
                .iter()
                .any(|check| check.outcome == Outcome::Failed && !check.findings.is_empty());
            assert!(found || status != 200, "{index}, {concurrency} at a time: its findings are kept");
        }
    }
}

/// One request at a time may take what the contract forbids, and it takes all that is left: so the first finding comes in time.
#[tokio::test]
async fn a_low_ceiling_still_judges_the_range_of_num() {
    let target = GenerousServer::start(clamped, 200).await;
    let report =
        target.server.run("extract.num-range.boundaries", |options| options.budget.gateways = CEILING).await;
    let check = report.checks.first().expect("it ran");
    assert_eq!(check.outcome, Outcome::Failed);
    assert!(
        check.findings.iter().all(|finding| finding.clause == Clause::ExtractNumRange),
        "{:?}",
        check.findings
    );
    assert!(target.handed_out() <= CEILING + 100, "{}", target.handed_out());
}

#[tokio::test]
async fn a_recording_keeps_the_ceiling_too() {
    let cases: [(Generosity, u64); 3] = [(clamped, 100), (ignored, 10), (thousands, 4_000)];
    for (generosity, per_response) in cases {
        let target = GenerousServer::start(generosity, 200).await;
        let contract = Contract::embedded().expect("contract");
        let budget = Budget { gateways: CEILING, ..Budget::default() };
        let recorded = snapshot::record(contract, &target.target(), budget, Options::default().wire).await;
        // A recording sends one request after the other.
        assert!(target.handed_out() <= CEILING + per_response, "{}", target.handed_out());
        assert!(matches!(recorded, Err(SessionError::Budget(BudgetError::Overdrawn { .. }))), "{recorded:?}");
    }
}
