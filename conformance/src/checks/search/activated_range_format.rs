use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.activated-range.format",
    title: "both bounds take RFC 3339 with a time zone and nothing else",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(19), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let good = probe.any_search();
    boundary::property(probe, &search.activated_from, &good, |_| true).await?;
    boundary::property(probe, &search.activated_to, &good, |_| true).await
}
