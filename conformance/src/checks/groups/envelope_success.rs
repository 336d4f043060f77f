use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::success;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "groups.envelope.success",
    title: "a listing with the account's token succeeds by HTTP status and by code",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEnvelope],
    needs: &[],
    cost: Cost::requests(1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    success::judge(probe, Clause::GroupsEnvelope, &probe.groups()).await
}
