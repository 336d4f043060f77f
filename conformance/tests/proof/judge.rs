//! Runs the suite against a fault or against variations, and says whether it should have come out so.

use std::time::Duration;

use libtest_mimic::Failed;
use sallyport_conformance::check::{InferredClauses, Outcome, Severity};
use sallyport_conformance::contract::{Clause, OperationId};
use sallyport_conformance::detection::Matrix;
use sallyport_conformance::observe::{Archive, Traffic, observe};
use sallyport_conformance::report::Format;
use sallyport_conformance::run::Glob;
use sallyport_conformance::{
    Contract, Facts, Options, Report, Selection, SilentObserver, Suite, Target, registry,
};
use tokio::runtime::Runtime;

use crate::costs::Costs;
use crate::independent::{self, Independent};
use crate::variations::Varied;
use crate::world::{KnownFault, LabWorld, World, proxy, target};

/// Checks that do not apply to the reference server: it is reached without TLS and never throttles.
const EXPECTED_SKIPS: [&str; 2] = ["all.https.verified", "all.throttled-retry-after.watched"];

/// Variations that rightly leave a check inconclusive: an account without an entitlement says nothing of the protocol, and a
/// service on this machine may trust what the suite forges.
const UNDECIDED: [&str; 2] = ["accounts.one-protocol", "extract.proxy-on-this-machine-trusted"];

/// Both worlds.
pub struct Judge {
    pub lab: Proven,
    pub independent: Proven,
    runtime: Runtime,
}

/// A world, and what its cases cost.
pub struct Proven {
    pub world: Box<dyn World>,
    pub costs: Costs,
}

impl Proven {
    fn new(world: impl World + 'static) -> Self {
        Self { costs: Costs::new(world.backend()), world: Box::new(world) }
    }

    /// The report of some checks or cases, against a fault. All of them run without a pattern.
    pub async fn against(&self, fault: &KnownFault, only: &[String]) -> Report {
        let only = only.iter().map(Glob::new).collect();
        // A fault that shows once only is a fault, so nothing is tried again.
        let options = Options { selection: Selection { only, skip: Vec::new() }, retries: 0, ..enough() };
        self.run(fault, self.world.backend().facts.clone(), options).await
    }

    /// The report of a run against a fault, with some facts.
    pub async fn run(&self, fault: &KnownFault, facts: Facts, options: Options) -> Report {
        let proxy = proxy(self.world.serve(fault), false).await;
        let token = self.world.backend().token.clone();
        let target = Target::new(&proxy.base_url(), token, facts, false).expect("a usable address");
        let report = run(&target, options).await;
        if let Some(failure) = self.world.failure(fault) {
            panic!("with `{}`: {failure}", fault.id);
        }
        report
    }

    /// The report of the checks that cite the clause of a fault, or of all checks when those show nothing. Passive checks need
    /// something to judge: the operations.
    pub async fn trial(&self, fault: &KnownFault) -> Report {
        let citing: Vec<_> =
            registry().into_iter().filter(|check| check.clauses.contains(&fault.clause)).collect();
        let mut only: Vec<String> = citing.iter().map(|check| check.id.to_owned()).collect();
        if citing.iter().any(|check| check.is_passive()) {
            only.extend(concerned(fault.clause).map(|operation| operation.id().to_owned()));
            only.extend(concerned(fault.clause).map(|operation| format!("{}.*", operation.id())));
        }
        let report = self.against(fault, &only).await;
        if report.failing_cases().next().is_some() { report } else { self.against(fault, &[]).await }
    }
}

impl Judge {
    /// Starts the reference server.
    pub fn start() -> Self {
        let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = threads.expect("a runtime");
        let lab = Proven::new(runtime.block_on(LabWorld::start()));
        Self { lab, independent: Proven::new(Independent::new()), runtime }
    }

    pub fn worlds(&self) -> [&Proven; 2] {
        [&self.lab, &self.independent]
    }

    /// The fault with that id, and its world.
    pub fn find(&self, id: &str) -> Option<(&Proven, &KnownFault)> {
        for proven in self.worlds() {
            if let Some(fault) = proven.world.faults().iter().find(|fault| fault.id == id) {
                return Some((proven, fault));
            }
        }
        None
    }

    /// The fault with that id must be noticed by the cheapest case that the matrix names, or by the cheapest of each check.
    pub fn fault(&self, id: &str) -> Result<(), Failed> {
        let matrix = Matrix::embedded()?;
        let known = matrix.faults().iter().find(|fault| fault.id == id).ok_or("unknown fault")?;
        let (proven, fault) = self.find(id).ok_or("unknown fault")?;
        self.block_on(async {
            let cheapest = proven.costs.cheapest(matrix, known);
            for only in [cheapest.first().cloned().unwrap_or_default(), cheapest.concat()] {
                if cites(&proven.against(fault, &only).await, fault) {
                    return Ok(());
                }
            }
            // Some faults show only after other requests.
            let report = proven.trial(fault).await;
            if cites(&report, fault) {
                return Ok(());
            }
            let ran: Vec<_> =
                report.checks.iter().map(|check| format!("{} {:?}", check.id, check.outcome)).collect();
            Err(Failed::from(format!("{} is not noticed: {}", fault.breaks, ran.join("; "))))
        })
    }

    /// Runs work to its end.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// Nothing may fail, and nothing be left out, on the reference server as it is.
    pub fn untampered(&self) -> Result<(), Failed> {
        self.block_on(async {
            let backend = self.lab.world.backend();
            let proxy = proxy(backend.upstream.clone(), false).await;
            let report = run(&target(backend, &proxy.base_url()), Options { retries: 0, ..enough() }).await;
            match report.diagnosis.is_empty() {
                true => all_pass(&report),
                false => Err(Failed::from(format!("a cause of nothing: {:?}", report.diagnosis))),
            }
        })
    }

    /// Nothing may fail on the variations that are tested together, neither in a run nor in its recorded traffic. When something
    /// does, each is tested alone.
    pub fn variations(&self, together: &Varied) -> Result<(), Failed> {
        let problems = self.problems(together)?;
        if problems.is_empty() {
            return Ok(());
        }
        for alone in together.each() {
            let of_one = self.problems(&alone)?;
            if !of_one.is_empty() {
                return Err(Failed::from(format!("{}\n{}", alone.name(), of_one.join("\n"))));
            }
        }
        let advice = "each conforms alone; give those that concern the same thing an aspect in common";
        Err(Failed::from(format!("{advice}\n{}", problems.join("\n"))))
    }

    fn problems(&self, varied: &Varied) -> Result<Vec<String>, Failed> {
        let report = self.block_on(async {
            let backend = self.lab.world.backend();
            let proxy = proxy(varied.upstream(backend), varied.has_capitals()).await;
            let target = (varied.target)(backend, &proxy.base_url());
            // What comes once in a while may come again when a case is run once more, and hardly each time.
            let retries = u32::from(varied.name() == "http.error-at-times");
            run(&target, Options { retries, keep_exchanges: true, ..enough() }).await
        });
        let mut problems = problems(&report, &varied.name());
        problems.extend(observed(&report)?);
        problems.extend(varied.failures());
        Ok(problems)
    }

    /// The same for a variation of the independent server.
    pub fn independent_variation(&self, variation: &independent::Variation) -> Result<(), Failed> {
        let backend = variation.backend();
        let report = self.block_on(async {
            let proxy = proxy(backend.upstream.clone(), variation.has_capitals()).await;
            run(&target(&backend, &proxy.base_url()), Options { keep_exchanges: true, ..enough() }).await
        });
        let mut problems = problems(&report, variation.id);
        problems.extend(observed(&report)?);
        if problems.is_empty() { Ok(()) } else { Err(Failed::from(problems.join("\n"))) }
    }
}

fn concerned(clause: Clause) -> impl Iterator<Item = OperationId> {
    let prefix = clause.id().split('.').next().unwrap_or_default().to_owned();
    let operations = Contract::embedded().into_iter().flat_map(Contract::operations);
    operations.map(|operation| operation.id).filter(move |id| prefix == "all" || id.id() == prefix)
}

/// What a run against a conforming server should not have shown.
fn problems(report: &Report, name: &str) -> Vec<String> {
    let mut problems = Vec::new();
    for check in &report.checks {
        match &check.outcome {
            Outcome::Passed | Outcome::Skipped(_) | Outcome::Warning => {}
            // What a conforming service does must leave no check without a verdict.
            Outcome::Inconclusive(_) if UNDECIDED.contains(&name) => {}
            Outcome::Inconclusive(why) => problems.push(format!("{}: inconclusive: {why:?}", check.id)),
            Outcome::Failed | Outcome::Flaky(_) | Outcome::ExpectedFailure(_) | Outcome::Error(_) => {
                let finding = check.findings.iter().find(|finding| finding.severity == Severity::Fail);
                problems.push(format!("{}: {:?} {finding:?}", check.id, check.outcome));
            }
        }
    }
    // A check that gave up would have seen nothing.
    let default = report.checks.iter().find(|check| check.id == "extract.regions-default.global");
    if name.contains("at-first") && default.is_none_or(|check| check.outcome != Outcome::Passed) {
        problems.push(format!("{default:?}"));
    }
    if report.totals.passed == 0 {
        problems.push(format!("nothing passed: {:?}", report.stopped));
    }
    problems
}

/// What `observe` says against the traffic of a run. A conforming service conforms there too.
fn observed(report: &Report) -> Result<Vec<String>, Failed> {
    let contract = Contract::embedded().expect("the embedded contract is complete");
    let mut har = Vec::new();
    Format::Har.write(report, &mut har)?;
    let archive = Archive::read(har.as_slice(), u64::MAX)?;
    let traffic = Traffic::from_archive(contract, archive, None)?;
    let observed = observe(contract, &traffic, InferredClauses::Fail);
    if observed.totals.passed == 0 {
        return Ok(vec![format!("`observe` judged nothing: {:?}", traffic.left_out)]);
    }
    let findings = observed.checks.iter().flat_map(|check| &check.findings);
    let failures = findings.filter(|found| found.severity == Severity::Fail);
    Ok(failures.map(|found| format!("`observe`: {found:?}")).collect())
}

/// Whether a finding cites the clause that a fault breaks. Of the faults of the independent server, whose author did not know the
/// checks, any finding counts.
pub fn cites(report: &Report, fault: &KnownFault) -> bool {
    let findings = report.checks.iter().flat_map(|check| &check.findings);
    let is_independent = fault.id.starts_with(independent::PREFIX);
    findings
        .filter(|found| found.severity == Severity::Fail)
        .any(|found| found.clause == fault.clause || is_independent)
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

/// Options with a budget that a whole run does not use up, also where the account is large.
pub fn enough() -> Options {
    let mut options = Options::default();
    options.budget.gateways *= 4;
    options.budget.requests *= 4;
    options.budget.wall = Duration::from_secs(600);
    options
}

pub async fn run(target: &Target, options: Options) -> Report {
    let contract = Contract::embedded().expect("the embedded contract is complete");
    Suite::new(contract, target, options).expect("the suite is set up").run(&SilentObserver).await
}
