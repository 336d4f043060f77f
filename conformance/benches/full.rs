//! What a full run costs against the reference server on loopback: `cargo bench -p sallyport-conformance --bench full`.
//! `cargo test --bench full` only shows that it still runs.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

use std::time::Instant;

use sallyport_conformance::embedded::Reference;
use sallyport_conformance::run::Profile;
use sallyport_conformance::{Contract, Options, Report, SilentObserver, Suite, Verdict};

const RUNS: usize = 5;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let contract = Contract::embedded()?;
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let runs = if is_measuring { RUNS } else { 1 };
    println!("run  wall s  busy s  requests  gateways  checks");
    let mut walls = Vec::new();
    for run in 1..=runs {
        // A fresh server each time, so that no run finds what another one left.
        let reference = Reference::start().await?;
        let options = Options { budget: Profile::Full.budget(), ..Options::default() };
        let begun = Instant::now();
        let report = Suite::new(contract, reference.target(), options)?.run(&SilentObserver).await;
        let wall = begun.elapsed();
        reference.close().await;
        if report.verdict != Verdict::Conforms {
            return Err(format!("the reference server does not conform: {:?}", report.totals).into());
        }
        println!("{run:>3}  {:>6.2}  {}", wall.as_secs_f64(), figures(&report));
        walls.push(wall);
    }
    walls.sort();
    println!("median {:.2} s", walls[runs / 2].as_secs_f64());
    Ok(())
}

/// `busy` is the time in checks, apart from the time they wait for the server.
fn figures(report: &Report) -> String {
    let usage = report.usage;
    let busy = report.busy_ms as f64 / 1000.0;
    format!("{busy:>6.2}  {:>8}  {:>8}  {:>6}", usage.requests, usage.gateways, report.totals.all())
}
