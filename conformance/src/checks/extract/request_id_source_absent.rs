use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.request-id-source.absent",
    title: "an extraction without a request id is accepted, each time anew",
    operation: Some(OperationId::Extract),
    clauses: &["extract.request-id-source"],
    needs: &[],
    cost: Cost::extraction(2, 2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = probe.extract();
    probe.control(&request).await?;
    probe.accepts("extract.request-id-source", "no request id, once more", &request).await?;
    Ok(())
}
