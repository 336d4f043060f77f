use super::page::{SAMPLE, whole};
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.read-only.repeat",
    title: "a search repeated gives the same result, and leaves the groups as they are",
    operation: Some(OperationId::Search),
    clauses: &["search.read-only"],
    needs: &[Fact::OwnAddresses],
    cost: Cost::requests(7),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let request = probe.search(probe.own_addresses(SAMPLE));
    let groups_before = probe.control(&probe.groups()).await?;
    let before = whole(probe, &request).await?;
    let middle = whole(probe, &request).await?;
    let after = whole(probe, &request).await?;
    let groups_after = probe.control(&probe.groups()).await?;
    let exchanges: Vec<_> = before.exchanges.iter().chain(&after.exchanges).collect();
    match (before.instances == middle.instances, middle.instances == after.instances) {
        (true, true) => {}
        // Every search changes the result: that is no accident.
        (false, false) => {
            probe.finding("search.read-only", "the same instances each time", "others each time", &exchanges)
        }
        _ => return Err(probe.inconclusive("the instances changed once while they were read: run it again")),
    }
    if groups_before.answer.at("/data/items") != groups_after.answer.at("/data/items") {
        return Err(probe.inconclusive("the groups changed meanwhile: run it again"));
    }
    Ok(())
}
