//! Each check as a test of its own, by its name: `cargo test --test each_check search.match-port`, or with nextest.
//!
//! With `SALLYPORT_TEST_BASE_URL` the tests hold that service against the contract; the token and the facts come from the
//! same variables as for the program. Without it they run against the embedded reference server. `SALLYPORT_BASE_URL` does
//! not count, so that `cargo test` sends nothing to the service that a shell is set up for.

use std::sync::Arc;

use libtest_mimic::{Arguments, Failed, Trial};
use sallyport_conformance::embedded::Reference;
use sallyport_conformance::report::{Screen, failures};
use sallyport_conformance::run::{Glob, Profile};
use sallyport_conformance::target::facts_from;
use sallyport_conformance::{
    Check, Contract, Options, Outcome, Secret, Selection, SilentObserver, Suite, Target, registry,
};

/// What the tests share. Each of them builds a suite of its own, so that they can run in any order and any process.
struct Fixture {
    runtime: tokio::runtime::Runtime,
    target: Target,
    profile: Profile,
    _reference: Option<Reference>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = Arguments::from_args();
    // Runners list the tests of a binary first; no server is needed for that.
    let tested = if arguments.list { None } else { Some(Arc::new(Fixture::new()?)) };
    let trial = |check: &'static Check| {
        let tested = tested.clone();
        Trial::test(check.id, move || tested.map_or(Ok(()), |tested| tested.hold(check)))
    };
    let trials = registry().into_iter().map(trial).collect();
    libtest_mimic::run(&arguments, trials).exit()
}

impl Fixture {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let runtime = tokio::runtime::Runtime::new()?;
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let Some(base_url) = variable("SALLYPORT_TEST_BASE_URL") else {
            let reference = runtime.block_on(Reference::start())?;
            let target = reference.target().clone();
            return Ok(Self { runtime, target, profile: Profile::Full, _reference: Some(reference) });
        };
        let token = variable("SALLYPORT_API_KEY").ok_or("set SALLYPORT_API_KEY to the account's token")?;
        let target = Target::new(&base_url, Secret::new("API_KEY", token), facts_from(variable)?, false)?;
        Ok(Self { runtime, target, profile: Profile::Production, _reference: None })
    }

    /// A check that could not come to a result for want of a fact is not a failure; one that watches others needs some of
    /// them beside it.
    fn hold(&self, check: &'static Check) -> Result<(), Failed> {
        let beside = ["groups.envelope", "search.envelope", "extract.envelope", "extract.num-range"];
        let beside = beside.into_iter().filter(|_| check.is_passive());
        let only = [check.id].into_iter().chain(beside).map(Glob::new).collect();
        let (selection, budget) = (Selection { only, skip: Vec::new() }, self.profile.budget());
        let options = Options { selection, profile: self.profile, budget, ..Options::default() };
        let suite = Suite::new(Contract::embedded()?, &self.target, options)?;
        let mut report = self.runtime.block_on(suite.run(&SilentObserver));
        if let Some(reason) = report.stopped {
            return Err(reason.into());
        }
        report.checks.retain(|result| result.id == check.id);
        match report.checks.first().map(|result| &result.outcome) {
            Some(Outcome::Failed | Outcome::Flaky(_)) => Err(failures(&report, &Screen::PLAIN).into()),
            Some(Outcome::Inconclusive(reason) | Outcome::Error(reason)) => Err(reason.into()),
            Some(Outcome::Passed | Outcome::Warning | Outcome::ExpectedFailure(_) | Outcome::Skipped(_)) => {
                Ok(())
            }
            None => Err("the check did not run".into()),
        }
    }
}
