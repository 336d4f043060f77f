use serde_json::Value;

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.groups",
    title: "a listing holds the groups of its own account alone",
    operation: None,
    clauses: &["all.own-account"],
    needs: &[Fact::ForeignGroup],
    cost: Cost::requests(1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let listing = probe.control(&probe.groups()).await?;
    let foreign = probe.facts().foreign_group;
    let items = listing.answer.at("/data/items").and_then(Value::as_array);
    if items.into_iter().flatten().any(|item| item.get("groupId").and_then(Value::as_i64) == foreign) {
        let actual = "the group that was supplied as foreign is listed";
        probe.finding("all.own-account", "groups of the account alone", actual, &[&listing.exchange]);
    }
    Ok(())
}
