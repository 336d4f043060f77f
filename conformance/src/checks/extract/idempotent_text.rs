use super::repetition;
use crate::check::{Accepted, Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.text",
    title: "a request id stands for one extraction in plain text as well",
    operation: Some(OperationId::Extract),
    clauses: &["extract.idempotent"],
    needs: &[],
    cost: Cost::extraction(2, 10),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let request = repetition::request(probe)
        .query(&extract.return_type.name, &extract.text)
        .query(&extract.request_id.name, probe.fresh_request_id());
    let first = probe.control(&request).await?;
    let Some(second) = probe.accepts("extract.idempotent", "sent again", &request).await? else {
        return Ok(());
    };
    if lines(&first) != lines(&second) {
        let exchanges = [&first.exchange, &second.exchange];
        probe.finding("extract.idempotent", "the same gateways", "other gateways", &exchanges);
    }
    Ok(())
}

/// The default separator is a line break. Order is not compared.
fn lines(accepted: &Accepted) -> Vec<String> {
    let text = accepted.answer.text();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}
