use std::collections::BTreeSet;

use super::page::{SAMPLE, whole};
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-any-port.subset",
    title: "an item without a port finds every instance of that address and no other",
    operation: Some(OperationId::Search),
    clauses: &["search.match-any-port"],
    needs: &[Fact::OwnAddresses],
    cost: Cost::requests(8),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let everything = probe.search(probe.own_addresses(SAMPLE));
    let before = whole(probe, &everything).await?;
    let addresses: BTreeSet<_> = before.instances.values().map(|instance| instance.ip).collect();
    if addresses.is_empty() {
        return Err(probe.skip("none of the account's addresses holds an instance"));
    }
    let mut differences = Vec::new();
    for address in addresses.iter().take(MOST_ADDRESSES).chain(addresses.iter().rev().take(MOST_ADDRESSES)) {
        let bare = address.to_string();
        let found = whole(probe, &probe.search([bare.as_str()])).await?;
        let ids: BTreeSet<i64> = found.instances.keys().copied().collect();
        // The whole may have been found by items with ports, so it need not hold all instances of the address.
        let of_address = before.instances.values().filter(|instance| instance.ip == *address);
        let expected: BTreeSet<i64> = of_address.map(|instance| instance.id).collect();
        let others: Vec<_> = found.instances.values().filter(|instance| instance.ip != *address).collect();
        if !expected.is_subset(&ids) || !others.is_empty() {
            differences.push((bare, expected, ids, found.exchanges));
        }
    }
    if differences.is_empty() {
        return Ok(());
    }
    if whole(probe, &everything).await?.instances != before.instances {
        return Err(probe.inconclusive("the instances changed while they were compared: run it again"));
    }
    for (item, expected, actual, exchanges) in differences {
        let exchanges: Vec<_> = exchanges.iter().collect();
        let expected = format!("{item} finds the instances of that address, {expected:?} among them");
        probe.finding("search.match-any-port", &expected, &format!("it finds {actual:?}"), &exchanges);
    }
    Ok(())
}

/// Addresses that are tried from either end of their order, so that both families have a share.
const MOST_ADDRESSES: usize = 3;
