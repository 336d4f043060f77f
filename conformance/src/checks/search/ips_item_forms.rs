use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-item.forms",
    title: "each form of an item is accepted",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsItem],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    probe.control_once(&probe.any_search()).await?;
    for item in FORMS {
        probe.accepts(Clause::SearchIpsItem, &format!("the item {item}"), &probe.search([item])).await?;
    }
    Ok(())
}

const FORMS: [&str; 7] = [
    "203.0.113.250",
    "203.0.113.250:8080",
    "2001:db8::250",
    "[2001:db8::250]:8080",
    "2001:0DB8:0000:0000:0000:0000:0000:0250",
    "::1",
    "255.255.255.255",
];
