use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use crate::check::{Check, Observed, PassiveFinding, ResponseClass, Run, Severity};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.instance.watched",
    title: "an instance has an address, a country of three letters and an id of its own",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchInstance, Clause::SearchPaging],
    needs: &[],
    run: Run::Passive(judge),
};

/// What 2.3 says and a schema can't.
fn judge(observed: &Observed<'_>) -> Option<Vec<PassiveFinding>> {
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let items = observed.answer.at("/data/items")?.as_array()?;
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    let mut report = |clause: Clause, key: &str, expected: &str, actual: String| {
        let (clause, key, expected) = (clause.to_owned(), key.to_owned(), expected.to_owned());
        findings.push(PassiveFinding { clause, key, severity: Severity::Fail, expected, actual });
    };
    for item in items {
        let text = |name: &str| item.get(name).and_then(Value::as_str);
        if let Some(ip) = text("ip").filter(|ip| ip.parse::<IpAddr>().is_err()) {
            report(Clause::SearchInstance, "ip", "ip is an IP address", ip.to_owned());
        }
        if let Some(code) = text("countryCode").filter(|code| !is_country(code)) {
            report(Clause::SearchInstance, "countryCode", "countryCode has three letters", code.to_owned());
        }
        let id = item.get("instanceId").and_then(Value::as_i64);
        if let Some(id) = id.filter(|id| !seen.insert(*id)) {
            report(
                Clause::SearchPaging,
                "twice",
                "each instance once on a page",
                format!("{id} comes twice"),
            );
        }
    }
    Some(findings)
}

fn is_country(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())
}
