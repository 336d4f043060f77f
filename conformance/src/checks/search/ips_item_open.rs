use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "search.ips-item.open",
    title: "spellings of addresses that the contract leaves open are answered in one way or the other",
    operation: Some(OperationId::Search),
    clauses: &["search.ips-item"],
    needs: &[],
    cost: Cost::requests(8),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    probe.ground(&probe.any_search()).await?;
    for (silence, item) in OPEN {
        let why = format!("the item {item:?}");
        probe.tolerates("search.ips-item", silence, &why, &probe.search([item])).await?;
    }
    Ok(())
}

const OPEN: [(&str, &str); 7] = [
    ("open.addresses.brackets-without-port", "[2001:db8::250]"),
    ("open.addresses.ipv4-mapped", "::ffff:203.0.113.250"),
    ("open.addresses.ipv4-mapped", "[::ffff:203.0.113.250]:8080"),
    ("open.addresses.leading-zeros", "203.000.113.250"),
    ("open.addresses.leading-zeros", "203.0.113.250:08080"),
    ("open.addresses.spaces", " 203.0.113.250"),
    ("open.addresses.spaces", "203.0.113.250\t"),
];
