//! How often the suite names the fault that a server has.

use libtest_mimic::Failed;

use crate::judge::Judge;

/// Faults that are tried, spread evenly over all; `SALLYPORT_DIAGNOSIS=90` tries more.
const SAMPLE: usize = 24;

/// One in so many is tried by the whole suite; the others by the checks of their clause, in a tenth of the time.
const WHOLE: usize = 6;

/// Of those that the suite notices, so many percent at least must be among the faults of the first cause. Of the faults of the
/// matrix, a fifth show in the very cases in which more than two do, and no diagnosis can tell these apart.
const LEAST_NAMED: usize = 50;

/// Runs the suite against a sample of the faults. The one that the server has must be among those named often enough.
pub fn names_the_fault(judge: &Judge) -> Result<(), Failed> {
    let size = std::env::var("SALLYPORT_DIAGNOSIS").ok().and_then(|size| size.parse().ok()).unwrap_or(SAMPLE);
    let faults = &judge.lab.faults;
    let sample = faults.iter().step_by((faults.len() / size).max(1));
    let trials = judge.all(sample.enumerate().map(async |(at, fault)| {
        let report = match at % WHOLE {
            0 => judge.lab.against(fault, &[]).await,
            _ => judge.lab.trial(fault).await,
        };
        (&fault.id, report)
    }));
    let (mut noticed, mut named) = (0, 0);
    for (id, report) in trials.iter().filter(|(_, report)| report.failing_cases().next().is_some()) {
        noticed += 1;
        let causes: Vec<Vec<&str>> = report
            .diagnosis
            .iter()
            .map(|cause| cause.faults.iter().map(|fault| fault.id.as_str()).collect())
            .collect();
        match causes.first().is_some_and(|first| first.contains(&id.as_str())) {
            true => named += 1,
            false => println!("not named first: {id}; named: {causes:?}"),
        }
    }
    println!("{} faults, {noticed} noticed, {named} named first", trials.len());
    match named * 100 >= noticed * LEAST_NAMED {
        true => Ok(()),
        false => Err(Failed::from(format!("named {named} of {noticed}"))),
    }
}
