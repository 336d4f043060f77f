use super::count::entries;
use super::repetition;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.interleaved",
    title: "a request id is remembered while others come in between",
    operation: Some(OperationId::Extract),
    clauses: &["extract.idempotent"],
    needs: &[],
    cost: Cost::extraction(4, 20),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let id = &probe.contract().extract.request_id.name;
    let [first, second] = [(); 2].map(|()| repetition::request(probe).query(id, probe.fresh_request_id()));
    let between = probe.control(&first).await?;
    probe.control(&second).await?;
    let Some(after) = probe.accepts("extract.idempotent", "sent again after another id", &first).await?
    else {
        return Ok(());
    };
    if entries(&between.answer) != entries(&after.answer) {
        let exchanges = [&between.exchange, &after.exchange];
        probe.finding("extract.idempotent", "the same gateways", "other gateways", &exchanges);
    }
    Ok(())
}
