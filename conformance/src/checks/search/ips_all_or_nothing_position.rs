use super::addresses;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "search.ips-all-or-nothing.position",
    title: "one bad item refuses the whole batch, wherever it stands",
    operation: Some(OperationId::Search),
    clauses: &["search.ips-all-or-nothing"],
    needs: &[],
    cost: Cost::requests(7),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let most = probe.contract().search.distinct_items;
    let items = addresses::distinct(most - 1);
    let good = probe.search(items.clone());
    for position in [0, most / 2, most - 1] {
        for bad_item in ["203.0.113.0/24", "203.0.113.250:0"] {
            let mut items = items.clone();
            items.insert(position, bad_item.to_owned());
            let why = format!("{bad_item} stands at position {position} among {} good items", most - 1);
            probe.refuses("search.ips-all-or-nothing", &why, &good, &probe.search(items)).await?;
        }
    }
    Ok(())
}
