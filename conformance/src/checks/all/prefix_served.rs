use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::contract::Clause;

pub(super) static CHECK: Check = Check {
    id: "all.prefix.served",
    title: "every operation is served under its path",
    why: "",
    operation: None,
    clauses: &[Clause::AllPrefix],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(3, 1), |probe| Box::pin(run(probe)))),
};

/// The contract does not promise that an environment is open. One that serves an operation under its path is, and takes
/// the token, so that the others must be there as well.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let mut missing = Vec::new();
    let mut served = false;
    for request in [probe.groups(), probe.any_search(), probe.extract()] {
        let (exchange, class) = probe.send(&request).await?;
        served |= class == ResponseClass::Accepted;
        // Statuses of refusals are open, so a body that speaks the contract's language counts as being served.
        if exchange.result.as_ref().is_ok_and(|answer| answer.status == 404 && answer.at("/code").is_none()) {
            missing.push((request, exchange, class));
        }
    }
    if !missing.is_empty() && !served {
        return Err(
            probe.inconclusive("no operation is served: is the environment open, and the base URL right?")
        );
    }
    for (request, exchange, class) in missing {
        let expected = format!("{} {} is served, as others are", request.method_name(), request.path());
        probe.finding(Clause::AllPrefix, &expected, class.description(), &[&exchange]);
    }
    Ok(())
}
