use super::shape;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.request-id-source.absent",
    title: "an extraction without a request id is accepted, each time",
    operation: Some(OperationId::Extract),
    clauses: &["extract.request-id-source"],
    needs: &[],
    cost: Cost::extraction(8, 8),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    for shape in shape::usable(probe).await? {
        let why = format!("no request id, {}", shape.name);
        let request = shape.good(probe).without_query(&probe.contract().extract.request_id.name);
        probe.accepts("extract.request-id-source", &why, &request).await?;
    }
    Ok(())
}
