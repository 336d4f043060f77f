use super::repetition;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.maximum",
    title: "the largest extraction is remembered as well",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[Fact::PlentifulRegion],
    run: Run::Cases(|_| Case::single(Cost::extraction(2, 200), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let request = probe
        .extract()
        .query(&extract.num.name, extract.num_range.end())
        .query(&extract.request_id.name, probe.fresh_request_id());
    repetition::judge(probe, Clause::ExtractIdempotent, &request, &[("sent again", request.clone())]).await
}
