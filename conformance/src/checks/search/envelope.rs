//! The parts of every successful search: envelope, headers and instances.

use super::*;

pub(super) static PROGRAMS: &[Program] = &[passive("search.instance.watched", judge_instances)];

/// Rules of section 2.3 that a schema can't express.
fn judge_instances(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let items = observed.success()?.at("/data/items")?.as_array()?;
    let mut seen = BTreeSet::new();
    let mut findings = Vec::new();
    let mut report = |clause: Clause, key: &str, expected: &str, actual: String| {
        findings.push(PassiveFinding::fail(clause, key, expected, actual));
    };
    for item in items {
        let text = |name: &str| item.get(name).and_then(Json::as_str);
        if let Some(ip) = text("ip").filter(|ip| ip.parse::<IpAddr>().is_err()) {
            report(SearchInstance, "ip", "ip is an IP address", ip.to_owned());
        }
        if let Some(code) = text("countryCode").filter(|code| !is_country(code)) {
            report(SearchInstance, "countryCode", "countryCode has three letters", code.to_owned());
        }
        for name in ["expiresAt", "activatedAt"] {
            let is_known = |time: &str| {
                let mut known = observed.facts.known_instances.iter();
                known.any(|known| {
                    known.fields.get(name).and_then(Json::as_str).and_then(instant) == instant(time)
                })
            };
            if let Some(time) = text(name).filter(|time| is_in_place_of_null(time) && !is_known(time)) {
                report(SearchInstance, name, "null for a time that is unknown", format!("{name} {time}"));
            }
        }
        let id = item.get(&observed.contract.search.paging.identity).and_then(Json::as_i64);
        if let Some(id) = id.filter(|id| !seen.insert(*id)) {
            report(SearchPaging, "twice", "each instance once on a page", format!("{id} occurs twice"));
        }
    }
    Some(findings)
}

/// The times that programs put where there is none: the first instant of Unix time and of the first year.
fn is_in_place_of_null(time: &str) -> bool {
    instant(time)
        .is_some_and(|time| ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z"].contains(&&*time.to_string()))
}

fn is_country(code: &str) -> bool {
    code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_alphabetic())
}
