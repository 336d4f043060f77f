use serde_json::json;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.status.boundaries",
    title: "each listed status is accepted and no other",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchStatus],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(13), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let status = &probe.contract().search.status;
    let good = probe.any_search();
    boundary::property(probe, status, &good, |_| true).await?;
    for (why, value) in [("a number", json!(1)), ("a list", json!([probe.contract().search.statuses[0]]))] {
        let bad = good.clone().field(&status.name, value);
        probe.rejects_after_control(Clause::SearchStatus, &format!("status is {why}"), &good, &bad).await?;
    }
    Ok(())
}
