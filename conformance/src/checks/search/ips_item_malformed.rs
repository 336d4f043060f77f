use serde_json::{Value, json};

use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::NOBODYS_ADDRESS;
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-item.malformed",
    title: "an item that is no full address is refused",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsItem],
    needs: &[],
    run: Run::Cases(cases),
};

fn cases(_: &Scope<'_>) -> Vec<Case> {
    let texts = MALFORMED.map(|item| (format!("{item:?}"), format!("the item {item:?}"), json!(item)));
    let others = [
        ("a number", json!(3_405_803_994_u32)),
        ("null", Value::Null),
        ("an object", json!({"ip": "203.0.113.250"})),
    ];
    let others = others.map(|(what, item)| (what.to_owned(), format!("an item that is {what}"), item));
    let case = |(label, why, item): (String, String, Value)| {
        Case::with(label, Cost::requests(1), (why, item), |probe, data| Box::pin(run(probe, data)))
            .control("plain", Cost::requests(1))
    };
    texts.into_iter().chain(others).map(case).collect()
}

async fn run(probe: &Probe<'_>, (why, item): (String, Value)) -> Result<(), Stop> {
    let control = probe.search([NOBODYS_ADDRESS]);
    probe.rejects_after_control(Clause::SearchIpsItem, &why, &control, &probe.search([item])).await
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
