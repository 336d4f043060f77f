//! Runs the suite against a fault or against variations, and says whether it should have come out so.

use std::time::Duration;

use futures::StreamExt as _;
use libtest_mimic::Failed;
use sallyport_conformance::check::{InferredClauses, Outcome, Severity};
use sallyport_conformance::contract::{Clause, OperationId};
use sallyport_conformance::detection::{KnownFault, Matrix};
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::lab::{Backend, Upstream};
use sallyport_conformance::observe::{Archive, Traffic, observe};
use sallyport_conformance::report::Format;
use sallyport_conformance::run::Glob;
use sallyport_conformance::{
    Contract, Facts, Options, Report, Selection, SilentObserver, Suite, Target, registry,
};
use tokio::runtime::Runtime;

use crate::independent;
use crate::record::AT_ONCE;
use crate::variations::Varied;
use crate::world::{self, World, proxy, target};

/// Checks that do not apply to the reference server: it is reached without TLS and never throttles.
const EXPECTED_SKIPS: [&str; 2] = ["all.https.verified", "all.throttled-retry-after.watched"];

/// Variations that rightly leave a check inconclusive: an account without an entitlement says nothing of the protocol, and a
/// service on this machine may trust what the suite forges.
const UNDECIDED: [&str; 2] = ["accounts.one-protocol", "extract.proxy-on-this-machine-trusted"];

/// Both worlds.
pub struct Judge {
    /// The reference server, and in front of it the faults of the lab.
    pub lab: World,
    pub independent: World,
    runtime: Runtime,
    _reference: Reference,
}

impl World {
    /// The report of some checks or cases, against a fault. All of them run without a pattern.
    pub async fn against(&self, fault: &KnownFault, only: &[String]) -> Report {
        let selection = Selection { only: only.iter().map(Glob::new).collect(), skip: Vec::new() };
        // A fault that shows once only is a fault, so nothing is tried again.
        let options = Options { selection, retries: Some(0), ..enough() };
        self.run(fault, self.backend.facts.clone(), options).await
    }

    /// The report of a run against a fault, with some facts.
    pub async fn run(&self, fault: &KnownFault, facts: Facts, options: Options) -> Report {
        let proxy = proxy(self.serve(fault), false).await;
        let token = self.backend.token.clone();
        let target = Target::new(&proxy.base_url(), token, facts, false).expect("a usable address");
        let report = run(&target, options).await;
        if let Some(failure) = world::row(fault).map_or_else(independent::failure, |row| row.failure()) {
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
        let reference = runtime.block_on(Reference::start()).expect("the reference server starts");
        let contract = Contract::embedded().expect("the embedded contract is complete");
        let backend = Backend::new(contract, reference.target()).expect("a client for plain http");
        Self {
            lab: World::new(backend, world::of_lab()),
            independent: World::new(independent::backend(Vec::new()), independent::faults()),
            runtime,
            _reference: reference,
        }
    }

    /// Every fault, with its world.
    pub fn faults(&self) -> impl Iterator<Item = (&World, &KnownFault)> {
        let worlds = [&self.lab, &self.independent].into_iter();
        worlds.flat_map(|world| world.faults.iter().map(move |fault| (world, fault)))
    }

    /// The fault with that id, and its world.
    pub fn find(&self, id: &str) -> Option<(&World, &KnownFault)> {
        self.faults().find(|(_, fault)| fault.id == id)
    }

    /// The fault with that id must be noticed by the cheapest case that the matrix names, by the cheapest of each check, or by all of them.
    pub fn fault(&self, id: &str) -> Result<(), Failed> {
        let matrix = Matrix::embedded()?;
        let known = matrix.faults().iter().find(|fault| fault.id == id).ok_or("unknown fault")?;
        let (world, fault) = self.find(id).ok_or("unknown fault")?;
        self.block_on(async {
            let cheapest = world.costs.cheapest(matrix, known);
            // A server that throttles each twentieth call does so to many cases together.
            let all = world.costs.noticing(matrix, known).into_iter().collect();
            let mut chosen = vec![cheapest.first().cloned().unwrap_or_default(), cheapest.concat(), all];
            chosen.dedup();
            for only in chosen {
                if cites(&world.against(fault, &only).await, fault) {
                    return Ok(());
                }
            }
            // Some faults show only after other requests.
            let report = world.trial(fault).await;
            if cites(&report, fault) {
                return Ok(());
            }
            let ran: Vec<_> =
                report.checks.iter().map(|check| format!("{} {:?}", check.id, check.outcome)).collect();
            Err(Failed::from(format!("{} is not noticed: {}", fault.breaks, ran.join("; "))))
        })
    }

    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }

    /// The results of trials, of which a few run at the same time.
    pub fn all<T>(&self, trials: impl IntoIterator<Item = impl Future<Output = T>>) -> Vec<T> {
        self.block_on(futures::stream::iter(trials).buffer_unordered(AT_ONCE).collect())
    }

    /// Nothing may fail, and nothing be left out, on the reference server as it is.
    pub fn untampered(&self) -> Result<(), Failed> {
        self.block_on(async {
            let backend = &self.lab.backend;
            let proxy = proxy(backend.upstream.clone(), false).await;
            let options = Options { retries: Some(0), ..enough() };
            let report = run(&target(backend, &proxy.base_url()), options).await;
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
        let backend = &self.lab.backend;
        let target = |base: &str| varied.target(backend, base);
        // What comes once in a while may come again when a case is run once more, and hardly each time.
        let retries = u32::from(varied.name() == "http.error-at-times");
        let options = Options { retries: Some(retries), ..enough() };
        let upstream = varied.upstream(backend);
        let problems = self.of_conforming(&varied.name(), upstream, varied.has_capitals(), target, options);
        problems.map(|problems| problems.into_iter().chain(varied.failures()).collect())
    }

    /// The same for a variation of the independent server.
    pub fn independent_variation(&self, variation: &independent::Variation) -> Result<(), Failed> {
        let backend = independent::backend(variation.decisions.clone());
        let target = |base: &str| target(&backend, base);
        let upstream = backend.upstream.clone();
        expect_none(self.of_conforming(variation.id, upstream, variation.has_capitals(), target, enough())?)
    }

    /// What a conforming server should not have shown, in a run or in its recorded traffic.
    fn of_conforming(
        &self,
        name: &str,
        upstream: Upstream,
        capitals: bool,
        target: impl Fn(&str) -> Target,
        options: Options,
    ) -> Result<Vec<String>, Failed> {
        let report = self.block_on(async {
            let proxy = proxy(upstream, capitals).await;
            run(&target(&proxy.base_url()), Options { keep_exchanges: true, ..options }).await
        });
        let mut problems = problems(&report, name);
        problems.extend(observed(&report)?);
        Ok(problems)
    }
}

fn concerned(clause: Clause) -> impl Iterator<Item = OperationId> {
    let prefix = clause.id().split('.').next().unwrap_or_default().to_owned();
    OperationId::ALL.iter().copied().filter(move |id| prefix == "all" || id.id() == prefix)
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
    expect_none(bad)
}

/// Fails with problems, if there are any.
fn expect_none(problems: Vec<String>) -> Result<(), Failed> {
    if problems.is_empty() { Ok(()) } else { Err(Failed::from(problems.join("\n"))) }
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
