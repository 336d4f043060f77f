//! Runs of the suite against a server that rules describe.

use std::time::Duration;

use sallyport_conformance::run::Glob;
use sallyport_conformance::wire::WireOptions;
use sallyport_conformance::{
    Budget, Contract, Facts, Options, Report, Secret, Selection, SilentObserver, Suite, Target,
};

use super::program::TOKEN;
use super::rules::RuledServer;

/// Options that choose the checks that fit a pattern.
pub(crate) fn only(glob: &str) -> Options {
    let selection = Selection { only: vec![Glob::new(glob)], skip: Vec::new() };
    Options { selection, ..Options::default() }
}

/// Runs the suite against a target.
pub(crate) async fn judge(target: &Target, options: Options) -> Report {
    let contract = Contract::embedded().expect("contract");
    Suite::new(contract, target, options).expect("a suite").run(&SilentObserver).await
}

/// Runs the checks that fit `only`, one at a time, with a timeout that suits a test.
pub(crate) async fn run(server: &RuledServer, only: &str, change: impl FnOnce(&mut Options)) -> Report {
    let target = Target::new(&server.url(), Secret::new("API_KEY", TOKEN), Facts::default(), false)
        .expect("a loopback URL");
    let mut options = Options {
        budget: Budget { concurrency: 1, ..Budget::default() },
        wire: WireOptions { timeout: Duration::from_secs(5), ..WireOptions::default() },
        ..self::only(only)
    };
    change(&mut options);
    judge(&target, options).await
}
