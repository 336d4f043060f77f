use super::count::entries;
use super::repetition;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.interleaved",
    title: "a request id is remembered while others come in between",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(6, 22), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let id = &probe.contract().extract.request_id.name;
    let [first, second] = [(); 2].map(|()| repetition::request(probe).query(id, probe.fresh_request_id()));
    let before = [probe.control(&first).await?, probe.control(&second).await?];
    for (before, request) in before.iter().zip([&first, &second]) {
        let again = probe.accepts(Clause::ExtractIdempotent, "sent again after another id", request).await?;
        let Some(after) = again else { continue };
        if entries(&before.answer) != entries(&after.answer) {
            let exchanges = [&before.exchange, &after.exchange];
            probe.finding(Clause::ExtractIdempotent, "the same gateways", "other gateways", &exchanges);
        }
        // A pool that is gone through in turns may come round to the same gateways, but not twice with one more in between.
        probe.control(&probe.extract()).await?;
    }
    Ok(())
}
