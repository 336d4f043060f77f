use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.page-size.boundaries",
    title: "pageSize is taken inside its bounds and refused outside",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPageSize],
    needs: &[],
    cost: Cost::requests(9),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    boundary::property(probe, &probe.contract().search.page_size, &probe.any_search(), |_| true).await
}
