use super::count::entries;
use super::repetition;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::wire::Exchange;

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.concurrent",
    title: "two calls with one request id at the same time come to one extraction",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(3, 11), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    probe.control_once(&probe.extract()).await?;
    let extract = &probe.contract().extract;
    let request = repetition::request(probe).query(&extract.request_id.name, probe.fresh_request_id());
    let (first, second) = futures::future::join(probe.send(&request), probe.send(&request)).await;
    let ((first, _), (second, _)) = (first?, second?);
    let gateways = |exchange: &Exchange| exchange.result.as_ref().ok().and_then(entries);
    // One of the two may be refused while the other is under way.
    let (Some(one), Some(other)) = (gateways(&first), gateways(&second)) else { return Ok(()) };
    if one != other {
        let expected = "the same gateways for both calls";
        probe.finding(Clause::ExtractIdempotent, expected, "different gateways", &[&first, &second]);
    }
    Ok(())
}
