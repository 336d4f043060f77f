use super::repetition;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.query",
    title: "a request id in the query stands for one extraction",
    operation: Some(OperationId::Extract),
    clauses: &["extract.idempotent"],
    needs: &[],
    cost: Cost::extraction(3, 15),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let request = repetition::request(probe).query(&extract.request_id.name, probe.fresh_request_id());
    let again = [("sent again", request.clone()), ("sent a third time", request.clone())];
    repetition::judge(probe, "extract.idempotent", &request, &again).await
}
