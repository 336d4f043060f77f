use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use crate::check::{Check, Complaint, Cost, Judgement, Run, Severity, Sighting};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.instance.watched",
    title: "an instance has an address, a country of three letters and an id of its own",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchInstance, Clause::SearchPaging],
    needs: &[],
    cost: Cost::requests(0),
    run: Run::Watch(watch),
};

/// What 2.3 says and a schema can't.
fn watch(sighting: &Sighting<'_>) -> Option<Vec<Complaint>> {
    if *sighting.judgement != Judgement::Accepted {
        return None;
    }
    let items = sighting.answer.at("/data/items")?.as_array()?;
    let mut seen = BTreeSet::new();
    let mut complaints = Vec::new();
    let mut complain = |clause: Clause, key: &str, expected: &str, actual: String| {
        let (clause, key, expected) = (clause.to_owned(), key.to_owned(), expected.to_owned());
        complaints.push(Complaint { clause, key, severity: Severity::Fail, expected, actual });
    };
    for item in items {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        if let Some(ip) = text("ip").filter(|ip| ip.parse::<IpAddr>().is_err()) {
            complain(Clause::SearchInstance, "ip", "ip is an IP address", ip.to_owned());
        }
        if let Some(code) = text("countryCode").filter(|code| !is_country(code)) {
            complain(Clause::SearchInstance, "countryCode", "countryCode has three letters", code.to_owned());
        }
        let id = item.get("instanceId").and_then(Value::as_i64);
        if let Some(id) = id.filter(|id| !seen.insert(*id)) {
            complain(
                Clause::SearchPaging,
                "twice",
                "each instance once on a page",
                format!("{id} comes twice"),
            );
        }
    }
    Some(complaints)
}

fn is_country(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())
}
