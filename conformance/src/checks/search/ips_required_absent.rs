use serde_json::Value;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-required.absent",
    title: "a search without ips is refused",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsRequired],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(5), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchIpsRequired;
    let search = &probe.contract().search;
    let good = probe.any_search();
    let absent = good.clone().without_field(&search.ips.name);
    let filtered = absent.clone().field(&search.status.name, search.statuses[0].as_str());
    let ordered = absent.clone().field(&search.order_no.name, "SO-1");
    probe.rejects_after_control(CLAUSE, "ips is absent", &good, &absent).await?;
    probe.rejects_after_control(CLAUSE, "ips is absent beside a status", &good, &filtered).await?;
    probe.rejects_after_control(CLAUSE, "ips is absent beside an order number", &good, &ordered).await?;
    probe
        .rejects_after_control(
            CLAUSE,
            "ips is null",
            &good,
            &good.clone().field(&search.ips.name, Value::Null),
        )
        .await
}
