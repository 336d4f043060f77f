use serde_json::Value;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.group.boundaries",
    title: "groupId is refused below 0, and taken as 0 and as null",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchGroup],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(6), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let group = &probe.contract().search.group_id;
    let good = probe.any_search();
    boundary::property(probe, group, &good, |_| true).await?;
    let null = good.clone().field(&group.name, Value::Null);
    probe.accepts(Clause::SearchGroup, "groupId is null, which means all groups", &null).await?;
    Ok(())
}
