use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::success;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "groups.envelope.success",
    title: "a listing with the account's token succeeds by HTTP status and by code",
    why: "",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEnvelope],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(1), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    success::judge(probe, Clause::GroupsEnvelope, &probe.groups()).await
}
