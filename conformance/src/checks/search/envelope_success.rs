use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::success;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.envelope.success",
    title: "a search in order succeeds by HTTP status and by code",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchEnvelope],
    needs: &[],
    cost: Cost::requests(1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    success::judge(probe, Clause::SearchEnvelope, &probe.any_search()).await
}
