use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::success;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.envelope.success",
    title: "a search in order succeeds by HTTP status and by code",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchEnvelope],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(1), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    success::judge(probe, Clause::SearchEnvelope, &probe.any_search()).await
}
