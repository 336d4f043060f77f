//! Runs the suite against a fault or a variation, and says whether it should have come out so.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use libtest_mimic::Failed;
use sallyport_conformance::check::{Case, InferredClauses, Outcome, Scope, Severity, SharedControl};
use sallyport_conformance::detection::{CaseName, KnownFault, Matrix};
use sallyport_conformance::lab::{self, Context, Fault, FaultyServer, VariedServer};
use sallyport_conformance::observe::{Archive, Traffic, observe};
use sallyport_conformance::run::Glob;
use sallyport_conformance::{
    Check, Contract, Options, Report, Selection, SilentObserver, Suite, Target, registry, report,
};
use tokio::runtime::Runtime;

use crate::variations::TestedVariation;
use crate::world::{World, proxy};
use crate::{record, variations};

/// Checks that do not apply to the reference server: it is reached without TLS and never throttles.
const EXPECTED_SKIPS: [&str; 2] = ["all.https.verified", "all.throttled-retry-after.watched"];

/// Variations that rightly leave a check inconclusive: an account without an entitlement says nothing of the protocol, and a
/// service on this machine may trust what the suite forges.
const UNDECIDED: [&str; 2] = ["accounts.one-protocol", "extract.proxy-on-this-machine-trusted"];

/// The reference server behind all faults and variations.
pub struct Judge {
    /// The world.
    pub world: Arc<World>,
    faults: Vec<Arc<Fault>>,
    variations: Vec<TestedVariation>,
    runtime: Runtime,
}

impl Judge {
    /// Starts the reference server.
    pub fn start() -> Self {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = threads.expect("a runtime");
        let world = runtime.block_on(World::start());
        let faults = lab::faults().into_iter().map(Arc::new).collect();
        let variations = variations::all();
        Self { world, faults, variations, runtime }
    }

    /// The fault with that id must be noticed by the cases that the matrix names: the cheapest of each check that cites
    /// the clause.
    pub fn fault(&self, id: &str) -> Result<(), Failed> {
        let matrix = Matrix::embedded()?;
        let known = matrix.faults().iter().find(|fault| fault.id == id);
        let known =
            known.ok_or("it is not in the matrix: run `cargo test --workspace --test proof -- --record`")?;
        let only = self.cheapest(matrix, known);
        let fault = self.faults.iter().find(|fault| fault.id == id).ok_or("no such fault")?;
        let report = self.runtime.block_on(self.against(fault, &only));
        if cites(&report, fault) {
            return Ok(());
        }
        // Some faults show only after other requests: then all cases of the checks that cite the clause must notice.
        let report = self.runtime.block_on(record::trial(self, fault));
        if cites(&report, fault) {
            return Ok(());
        }
        let ran = report.checks.iter().map(|check| format!("{} {:?}", check.id, check.outcome));
        Err(Failed::from(format!("{} is not noticed: {}", fault.breaks, ran.collect::<Vec<_>>().join("; "))))
    }

    /// The report of some checks or cases, against a fault.
    pub async fn against(&self, fault: &Arc<Fault>, only: &[String]) -> Report {
        let faulty = FaultyServer { fault: Arc::clone(fault), context: Context::new(&self.world.backend) };
        let proxy = proxy(faulty, false).await;
        let only = only.iter().map(Glob::new).collect();
        run(&self.world.target(&proxy.base_url()), Selection { only, skip: Vec::new() }).await
    }

    /// Runs work to its end.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// The faults.
    pub fn faults(&self) -> &[Arc<Fault>] {
        &self.faults
    }

    /// Patterns for the cheapest case of each check that notices a fault and cites its clause.
    fn cheapest(&self, matrix: &Matrix, known: &KnownFault) -> Vec<String> {
        let prices = self.prices();
        let senders = self.senders();
        let cheapest = |check: &&'static Check| {
            let notices = known.noticed_by.iter().filter(|notice| notice.judge == check.id);
            let cases = notices.map(|notice| &matrix.cases()[notice.case]);
            cases.filter_map(|case| Some((prices.get(case)?, senders.get(case).unwrap_or(case)))).min()
        };
        let citing = registry().into_iter().filter(|check| check.clauses.contains(&known.clause));
        let chosen = citing.filter_map(|check| Some((check, cheapest(&check)?.1)));
        chosen
            .flat_map(|(check, CaseName { check: of, label })| {
                // The unnamed case of a check is chosen by the check itself.
                let case = if label.is_empty() { of.clone() } else { format!("{of}/{label}") };
                if check.is_passive() { vec![check.id.to_owned(), case] } else { vec![case] }
            })
            .collect()
    }

    /// What each case and each control request of a run costs, in requests; a gateway costs nothing here.
    pub fn prices(&self) -> HashMap<CaseName, u32> {
        let scope = Scope { contract: self.world.contract, facts: &self.world.facts };
        let of_check = |check: &'static Check| {
            let cases = check.cases(&scope);
            let controls = cases.iter().flat_map(Case::controls_in_run);
            let controls = controls.map(|control| (name_of(control), control.cost.requests));
            let alone = cases.iter().map(|case| (name(check, case), case.cost_alone().requests));
            alone.chain(controls).collect::<Vec<_>>()
        };
        registry().into_iter().flat_map(of_check).collect()
    }

    /// The cheapest case that sends each control request which the run shares.
    fn senders(&self) -> HashMap<CaseName, CaseName> {
        let scope = Scope { contract: self.world.contract, facts: &self.world.facts };
        let mut senders: HashMap<CaseName, (u32, CaseName)> = HashMap::new();
        for check in registry() {
            for case in check.cases(&scope) {
                let sender = (case.cost_alone().requests, name(check, &case));
                for control in case.controls_in_run() {
                    let known = senders.entry(name_of(control)).or_insert_with(|| sender.clone());
                    if sender < *known {
                        *known = sender.clone();
                    }
                }
            }
        }
        senders.into_iter().map(|(control, (_, case))| (control, case)).collect()
    }

    /// Every case that the checks have in this world, and every control request that they share in a run.
    pub fn cases(&self) -> Vec<CaseName> {
        self.prices().into_keys().collect()
    }

    /// Nothing may fail, and nothing be left out, on the reference server as it is.
    pub fn untampered(&self) -> Result<(), Failed> {
        self.runtime.block_on(async {
            let proxy = proxy(self.world.upstream.clone(), false).await;
            let report = run(&self.world.target(&proxy.base_url()), Selection::default()).await;
            match report.diagnosis.is_empty() {
                true => all_pass(&report),
                false => Err(Failed::from(format!("a cause of nothing: {:?}", report.diagnosis))),
            }
        })
    }

    /// Nothing may fail on the variation with that id, neither in a run nor in its recorded traffic.
    pub fn variation(&self, id: &str) -> Result<(), Failed> {
        let variation =
            self.variations.iter().find(|variation| variation.id == id).ok_or("no such variation")?;
        let report = self.runtime.block_on(async {
            let proxy = match &variation.variation {
                Some(varied) => {
                    let context = Context::new(&self.world.backend);
                    proxy(VariedServer { variation: Arc::clone(varied), context }, varied.capitals).await
                }
                None => proxy(self.world.upstream.clone(), false).await,
            };
            let target = (variation.target)(&self.world, &proxy.base_url());
            // What comes once in a while may come again when a case is run once more, and hardly each time.
            let retries = u32::from(id == "http.error-at-times");
            run_with(&target, Options { retries, keep_exchanges: true, ..Options::default() }).await
        });
        let mut failures = Vec::new();
        for check in &report.checks {
            match &check.outcome {
                Outcome::Passed | Outcome::Skipped(_) | Outcome::Warning => {}
                // What a conforming service does must leave no check without a verdict.
                Outcome::Inconclusive(_) if UNDECIDED.contains(&id) => {}
                Outcome::Inconclusive(why) => failures.push(format!("{}: inconclusive: {why:?}", check.id)),
                Outcome::Failed | Outcome::Flaky(_) | Outcome::ExpectedFailure(_) | Outcome::Error(_) => {
                    let finding = check.findings.iter().find(|finding| finding.severity == Severity::Fail);
                    let what = finding.map(|found| {
                        format!("{}: expected {}; came {}", found.clause, found.expected, found.actual)
                    });
                    failures.push(format!("{}: {:?} {what:?}", check.id, check.outcome));
                }
            }
        }
        // A check that gave up would have seen nothing.
        let default = report.checks.iter().find(|check| check.id == "extract.regions-default.global");
        if id.contains("at-first") && default.is_none_or(|check| check.outcome != Outcome::Passed) {
            failures.push(format!("{default:?}"));
        }
        if report.totals.passed == 0 {
            failures.push(format!("nothing passed: {:?}", report.stopped));
        }
        failures.extend(observed(&report)?);
        if failures.is_empty() { Ok(()) } else { Err(Failed::from(failures.join("\n"))) }
    }
}

/// What `observe` says against the traffic of a run. A conforming service conforms there too.
fn observed(report: &Report) -> Result<Vec<String>, Failed> {
    let contract = Contract::embedded().expect("the embedded contract is complete");
    let mut har = Vec::new();
    report::har(report, &mut har)?;
    let archive = Archive::read(har.as_slice(), u64::MAX)?;
    let traffic = Traffic::from_archive(contract, archive, None)?;
    let observed = observe(contract, &traffic, InferredClauses::Fail);
    if observed.totals.passed == 0 {
        return Ok(vec![format!("`observe` judged nothing: {:?}", traffic.left_out())]);
    }
    let findings =
        observed.checks.iter().flat_map(|check| check.findings.iter().map(|found| (check.id, found)));
    let failures = findings.filter(|(_, found)| found.severity == Severity::Fail);
    let told = failures
        .map(|(id, found)| format!("`observe`, {id}: expected {}; came {}", found.expected, found.actual));
    Ok(told.collect())
}

fn name(check: &Check, case: &Case) -> CaseName {
    CaseName { check: check.id.to_owned(), label: case.label().to_owned() }
}

fn name_of(control: &SharedControl) -> CaseName {
    CaseName { check: SharedControl::SOURCE.to_owned(), label: control.label.to_string() }
}

/// Whether a finding cites the clause that a fault breaks.
pub fn cites(report: &Report, fault: &Fault) -> bool {
    let findings = report.checks.iter().flat_map(|check| &check.findings);
    findings.into_iter().any(|found| found.clause == fault.clause() && found.severity == Severity::Fail)
}

/// Every check must pass, but for those that do not apply.
fn all_pass(report: &Report) -> Result<(), Failed> {
    let is_clear = |outcome: &Outcome, id: &str| match outcome {
        Outcome::Passed => true,
        Outcome::Skipped(_) => EXPECTED_SKIPS.contains(&id),
        _ => false,
    };
    let unclear = report.checks.iter().filter(|check| !is_clear(&check.outcome, check.id));
    let bad: Vec<_> = unclear
        .map(|check| format!("{}: {:?} {:?}", check.id, check.outcome, check.findings.first()))
        .collect();
    if bad.is_empty() { Ok(()) } else { Err(Failed::from(bad.join("\n"))) }
}

async fn run(target: &Target, selection: Selection) -> Report {
    // A fault that shows once only is a fault, so nothing is tried again.
    run_with(target, Options { selection, retries: 0, ..Options::default() }).await
}

async fn run_with(target: &Target, mut options: Options) -> Report {
    options.budget.gateways *= 4;
    options.budget.requests *= 4;
    options.budget.wall = Duration::from_secs(600);
    let contract = Contract::embedded().expect("the embedded contract is complete");
    Suite::new(contract, target, options).expect("the suite is set up").run(&SilentObserver).await
}
