use crate::check::{Check, Cost, Probe, Run, Stop};

pub(super) static CHECK: Check = Check {
    id: "all.prefix.served",
    title: "every operation is served under its path",
    operation: None,
    clauses: &["all.prefix"],
    needs: &[],
    cost: Cost::extraction(3, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    for request in [probe.extract(), probe.groups(), probe.any_search()] {
        let (exchange, judgement) = probe.send(&request).await?;
        let Ok(answer) = &exchange.result else { continue };
        // Statuses of refusals are open, so a body that speaks the contract's language counts as being served.
        if answer.status == 404 && answer.at("/code").is_none() {
            let expected = format!("{} {} is served", request.method_name(), request.path());
            probe.finding("all.prefix", &expected, judgement.description(), &[&exchange]);
        }
    }
    Ok(())
}
