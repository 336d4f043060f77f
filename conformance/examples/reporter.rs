//! The suite as a library, with a reporter of one's own: `cargo run -p sallyport-conformance --example reporter`.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::sync::atomic::{AtomicUsize, Ordering};

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::report::Format;
use sallyport_conformance::run::{CheckResult, Glob};
use sallyport_conformance::{Check, Contract, Observer, Options, Outcome, Selection, Suite};

/// Is told what the run does, and prints a dot for each check.
#[derive(Default)]
struct Dots {
    failed: AtomicUsize,
}

impl Observer for Dots {
    fn begun(&self, checks: &[&'static Check]) {
        println!("{} checks", checks.len());
    }

    fn check_ended(&self, result: &CheckResult) {
        let sign = match result.outcome {
            Outcome::Passed => '.',
            Outcome::Skipped(_) => 's',
            _ => '!',
        };
        self.failed.fetch_add(usize::from(result.outcome == Outcome::Failed), Ordering::Relaxed);
        print!("{sign}");
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A service elsewhere is `Target::new(base_url, token, facts, false)?`.
    let reference = Reference::start().await?;
    let selection = Selection { only: vec![Glob::new("groups.*")], skip: Vec::new() };
    let suite =
        Suite::new(Contract::embedded()?, reference.target(), Options { selection, ..Options::default() })?;
    let dots = Dots::default();
    let report = suite.run(&dots).await;
    println!("\n{} failed", dots.failed.load(Ordering::Relaxed));
    println!("{}", Format::Markdown.render(&report)?);
    reference.close().await;
    Ok(())
}
