use serde_json::{Value, json};

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-item.malformed",
    title: "an item that is no full address is refused",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsItem],
    needs: &[],
    cost: Cost::requests(26),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let good = probe.search([Probe::NOBODYS_ADDRESS]);
    for item in MALFORMED {
        let bad = probe.search([item]);
        probe.refuses(Clause::SearchIpsItem, &format!("the item {item:?}"), &good, &bad).await?;
    }
    for (why, item) in [
        ("a number", json!(3_405_803_994_u32)),
        ("null", Value::Null),
        ("an object", json!({"ip": "203.0.113.250"})),
    ] {
        let bad = probe.search([item]);
        probe.refuses(Clause::SearchIpsItem, &format!("an item that is {why}"), &good, &bad).await?;
    }
    Ok(())
}

/// CIDR, zone identifiers and fragments, and what else is no full address. What the contract leaves open, such as leading
/// zeros, spaces around an item or brackets without a port, is not among them.
const MALFORMED: [&str; 22] = [
    "203.0.113.0/24",
    "203.0.113.250/32",
    "2001:db8::/32",
    "fe80::1%eth0",
    "[fe80::1%25eth0]:8080",
    "203.0.113",
    "203.0.113.",
    "2001:db8",
    "2001:db8:1:2:3:4:5",
    "203.0.113.256",
    "2001:db8::12345",
    "2001:db8::1::2",
    "2001:db8:0:0:0:0:0:250:8080",
    "203.0.113.250:",
    "[2001:db8::250]:",
    "[2001:db8::250:8080",
    "203.0.113.250:http",
    "203.0.113.*",
    "203.0.113.1-203.0.113.9",
    "http://203.0.113.250",
    "gateway.invalid",
    "",
];
