use std::collections::BTreeSet;

use super::page::{SAMPLE, whole};
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-port.subset",
    title: "an item with a port finds exactly that address and port",
    operation: Some(OperationId::Search),
    clauses: &["search.match-port"],
    needs: &[Fact::OwnAddresses],
    cost: Cost::requests(8),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

/// Distinct addresses with a port that are tried.
const MOST_ITEMS: usize = 6;

/// S(ip:port) is the part of S(ip) with that port, for a few addresses of each family. A repeated read of the whole
/// shows that nothing moved meanwhile.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let everything = probe.search(probe.own_addresses(SAMPLE));
    let before = whole(probe, &everything).await?;
    let usable = before.instances.values().filter_map(|instance| Some((instance, instance.with_port()?)));
    let (v6, v4): (Vec<_>, Vec<_>) = usable.partition(|(instance, _)| instance.ip.is_ipv6());
    let chosen: Vec<_> =
        v4.into_iter().take(MOST_ITEMS / 2).chain(v6.into_iter().take(MOST_ITEMS / 2)).collect();
    if chosen.is_empty() {
        return Err(probe.skip("none of the account's addresses holds an instance with a port"));
    }
    let mut differences = Vec::new();
    for (instance, item) in chosen {
        let found = whole(probe, &probe.search([item.as_str()])).await?;
        let expected: BTreeSet<i64> = before
            .instances
            .values()
            .filter(|other| (other.ip, other.port) == (instance.ip, instance.port))
            .map(|other| other.id)
            .collect();
        let actual: BTreeSet<i64> = found.instances.keys().copied().collect();
        if expected != actual {
            differences.push((item, expected, actual, found.exchanges));
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
        let expected = format!("{item} finds the instances {expected:?}");
        probe.finding("search.match-port", &expected, &format!("it finds {actual:?}"), &exchanges);
    }
    Ok(())
}
