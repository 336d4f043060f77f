//! How often the suite names the fault that a server has.

use std::collections::BTreeMap;

use futures::StreamExt as _;
use libtest_mimic::Failed;
use sallyport_conformance::run::Diagnosis;

use crate::judge::{Judge, Proven};
use crate::record::AT_ONCE;
use crate::world::KnownFault;

/// Faults that are tried, spread evenly over all; `SALLYPORT_DIAGNOSIS=90` tries more. Of 91 that were noticed, 70 were among the
/// three that were named first.
const SAMPLE: usize = 12;

/// Of those that the suite notices, so many percent at least must be among the faults that it names first. Of the faults of the
/// matrix, a fifth show in the very cases in which more than three do, and no diagnosis can tell these apart.
const LEAST_NAMED: usize = 50;

/// What came of one fault.
struct Trial<'a> {
    id: &'a str,
    is_noticed: bool,
    /// The faults that are named, by cause.
    named: Vec<Vec<String>>,
}

/// Runs the whole suite against a sample of the faults. The one that the server has must be among those named often enough.
pub fn names_the_fault(judge: &Judge) -> Result<(), Failed> {
    let size = std::env::var("SALLYPORT_DIAGNOSIS").ok().and_then(|size| size.parse().ok()).unwrap_or(SAMPLE);
    let faults = judge.lab.world.faults();
    let step = (faults.len() / size).max(1);
    let sample = faults.iter().step_by(step);
    let trials = judge.block_on(async {
        let trials = sample.map(|fault| trial(&judge.lab, fault));
        futures::stream::iter(trials).buffer_unordered(AT_ONCE).collect::<Vec<_>>().await
    });
    let noticed: Vec<&Trial<'_>> = trials.iter().filter(|trial| trial.is_noticed).collect();
    let is_named = |trial: &&&Trial<'_>| trial.named.iter().flatten().any(|id| id == trial.id);
    let named = noticed.iter().filter(is_named).count();
    let is_first =
        |trial: &&&Trial<'_>| trial.named.first().is_some_and(|ids| ids.iter().any(|id| id == trial.id));
    let first = noticed.iter().filter(is_first).count();
    let mut causes: BTreeMap<usize, usize> = BTreeMap::new();
    for trial in &noticed {
        *causes.entry(trial.named.len()).or_default() += 1;
    }
    println!(
        "{} faults, {} noticed; named as the first cause: {first}, as any: {named}; how many have so many causes: {causes:?}",
        trials.len(),
        noticed.len()
    );
    for trial in noticed.iter().filter(|trial| !is_named(trial)) {
        println!("not named: {}; named: {:?}", trial.id, trial.named);
    }
    match first * 100 >= noticed.len() * LEAST_NAMED {
        true => Ok(()),
        false => Err(Failed::from(format!("named {first} of {}", noticed.len()))),
    }
}

async fn trial<'a>(lab: &Proven, fault: &'a KnownFault) -> Trial<'a> {
    let report = lab.against(fault, &[]).await;
    let ids = |diagnosis: &Diagnosis| diagnosis.faults.iter().map(|fault| fault.id.clone()).collect();
    Trial {
        id: &fault.id,
        is_noticed: report.failing_cases().next().is_some(),
        named: report.diagnosis.iter().map(ids).collect(),
    }
}
