//! What every instance of every response shows by itself, and compared with its request.

use std::ops::RangeInclusive;

use super::*;

pub(super) static PROGRAMS: &[Program] =
    &[passive("search.instance.watched", judge_instances), passive("search.intersection.watched", judge)];

fn judge(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let search = &observed.contract.search;
    let sent = &*observed.request.body_members()?;
    // Recorded traffic may have an invalid request that was accepted.
    let is_within = |name: &str, allowed: &RangeInclusive<i64>| {
        sent.get(name).is_none_or(|value| value.as_i64().is_some_and(|number| allowed.contains(&number)))
    };
    if !is_within(PAGE, &search.pages) || !is_within(PAGE_SIZE, &search.page_sizes) {
        return None;
    }
    let items = observed.success()?.at("/data/items")?.as_array()?;
    let total = observed.response.at("/data/total")?.as_u64()?;
    let instances: Vec<_> = Instance::all(search, observed.response)?.flatten().collect();
    let mut query = Query::read(sent);
    // An instance does not show the value of every filter.
    query.filters.retain(|filter| filter.kind.field.is_some());
    let misfits = misfits(&query, &BTreeMap::new(), instances.iter()).into_iter().flat_map(|misfit| {
        // With any such instance, the result is not the intersection of the filters.
        let (clause, expected, actual) = misfit.clone();
        let both = is_of_filter(clause).then_some((SearchIntersection, expected, actual));
        both.into_iter().chain([misfit])
    });
    // The schema check reports values of another type.
    let mut echoed = echo(search, &query, observed.response);
    echoed.retain(|(.., shown)| shown.parse::<i64>().is_ok());
    let wrong = misfits.chain(echoed).chain(counts(search, &query, items.len() as u64, total));
    let finding = |(clause, expected, actual)| PassiveFinding::fail(clause, "", expected, actual);
    Some(wrong.map(finding).collect())
}

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
        let place = text("ip").and_then(|ip| ip.parse().ok()).zip(item.get("port").and_then(Json::as_i64));
        for name in ["expiresAt", "activatedAt"] {
            let is_known = |time: &str| {
                let supplied = observed.facts.known_instances.iter();
                let mut same = supplied.filter(|known| Some((known.ip, known.port)) == place);
                same.any(|known| {
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
