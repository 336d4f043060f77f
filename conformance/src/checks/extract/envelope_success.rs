use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::success;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.envelope.success",
    title: "an extraction in order succeeds by HTTP status and by code",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractEnvelope],
    needs: &[],
    cost: Cost::extraction(1, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    success::judge(probe, Clause::ExtractEnvelope, &probe.extract()).await
}
