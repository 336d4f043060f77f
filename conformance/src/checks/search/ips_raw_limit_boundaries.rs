use serde_json::json;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::NOBODYS_ADDRESS;
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-raw-limit.boundaries",
    title: "raw items are counted before duplicates are taken out",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsRawLimit],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(6), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let most = *search.raw_items.end();
    let item = NOBODYS_ADDRESS;
    let good = probe.search([item]);
    probe
        .rejects_after_control(Clause::SearchIpsRawLimit, "ips is empty", &good, &probe.search::<&str>([]))
        .await?;
    let full = probe.search(vec![item; most]);
    probe.accepts(Clause::SearchIpsRawLimit, &format!("{most} items, all the same"), &full).await?;
    let over = probe.search(vec![item; most + 1]);
    let why = format!("{} items, all the same", most + 1);
    probe.rejects_after_control(Clause::SearchIpsRawLimit, &why, &good, &over).await?;
    for (why, value) in [("ips is a string", json!(item)), ("ips is an object", json!({"0": item}))] {
        let bad = good.clone().field(&search.ips.name, value);
        probe.rejects_after_control(Clause::SearchIpsRawLimit, why, &good, &bad).await?;
    }
    Ok(())
}
