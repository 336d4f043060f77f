use serde_json::json;

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.page.boundaries",
    title: "page is refused outside its bounds",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPage],
    needs: &[],
    cost: Cost::requests(8),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    // A page past the last one may be refused, so no large page has to be accepted.
    let page = &probe.contract().search.page;
    let first = *probe.contract().search.pages.start();
    let good = probe.any_search();
    boundary::property(probe, page, &good, |case| !case.allowed || case.value == json!(first)).await
}
