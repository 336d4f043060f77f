use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::success;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.envelope.success",
    title: "an extraction in order succeeds by HTTP status and by code",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractEnvelope],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(1, 1), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    success::judge(probe, Clause::ExtractEnvelope, &probe.extract()).await
}
