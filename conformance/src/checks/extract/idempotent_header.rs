use super::repetition;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.header",
    title: "a request id in the header stands for one extraction",
    operation: Some(OperationId::Extract),
    clauses: &["extract.idempotent", "extract.request-id-source"],
    needs: &[],
    cost: Cost::extraction(3, 15),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let id = probe.fresh_request_id();
    let request = repetition::request(probe).header(&extract.request_id_header.name, &id);
    let in_query = repetition::request(probe).query(&extract.request_id.name, &id);
    let again = [("sent again with the same header", request.clone())];
    repetition::judge(probe, "extract.idempotent", &request, &again).await?;
    let again = [("the id of the header sent in the query", in_query)];
    repetition::judge(probe, "extract.request-id-source", &request, &again).await
}
