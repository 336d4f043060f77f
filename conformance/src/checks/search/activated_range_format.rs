use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.activated-range.format",
    title: "both bounds take RFC 3339 with a time zone and nothing else",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[],
    cost: Cost::requests(19),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let good = probe.any_search();
    boundary::property(probe, &search.activated_from, &good, |_| true).await?;
    boundary::property(probe, &search.activated_to, &good, |_| true).await
}
