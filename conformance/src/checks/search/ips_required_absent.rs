use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "search.ips-required.absent",
    title: "a search without ips is refused",
    operation: Some(OperationId::Search),
    clauses: &["search.ips-required"],
    needs: &[],
    cost: Cost::requests(2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let good = probe.any_search();
    let absent = good.clone().without_field(&probe.contract().search.ips.name);
    probe.refuses("search.ips-required", "ips is absent", &good, &absent).await
}
