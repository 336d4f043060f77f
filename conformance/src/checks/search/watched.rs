//! Every instance of every response, compared with what its request asks for.

use std::collections::BTreeSet;
use std::net::IpAddr;

use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::check::{Check, ObservedExchange, PassiveFinding, ResponseClass, Run, Severity};
use crate::checks::relation::{Instance, address_of};
use crate::contract::{Clause, OperationId, Search};

pub(super) static INTERSECTION_WATCHED: Check = Check {
    id: "search.intersection.watched",
    title: "every instance of every response matches all filters and items of its request",
    why: "Callers act on what a search returns: an instance that does not match is renewed, moved or cancelled by mistake.",
    operation: Some(OperationId::Search),
    clauses: &[
        Clause::SearchActivatedRange,
        Clause::SearchCity,
        Clause::SearchCountry,
        Clause::SearchGroup,
        Clause::SearchIntersection,
        Clause::SearchMatchAnyPort,
        Clause::SearchMatchPort,
        Clause::SearchPageSize,
        Clause::SearchStatus,
        Clause::SearchTotal,
    ],
    needs: &[],
    run: Run::Passive(judge),
};

fn judge(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let search = &observed.contract.search;
    if *observed.class != ResponseClass::Accepted {
        return None;
    }
    let sent = &*observed.request.body_members()?;
    let came = observed.response.at("/data/items")?.as_array()?.len();
    let instances: Vec<_> = Instance::all(search, observed.response)?.flatten().collect();
    let mut findings = Vec::new();
    let asked = RequestFilters::read(search, sent);
    instances.iter().for_each(|instance| asked.judge(instance, &mut findings));
    findings.extend(foreign_instances(search, sent, &instances));
    findings.extend(counts(search, sent, came, observed.response.at("/data/total")?.as_u64()?));
    Some(findings)
}

fn finding(clause: Clause, expected: String, actual: String) -> PassiveFinding {
    PassiveFinding { clause, key: String::new(), severity: Severity::Fail, expected, actual }
}

/// The filters of a request that instances show by themselves.
struct RequestFilters<'a> {
    group: Option<i64>,
    status: Option<&'a str>,
    country: Option<&'a str>,
    city: Option<&'a str>,
    from: Option<Timestamp>,
    to: Option<Timestamp>,
}

impl<'a> RequestFilters<'a> {
    fn read(search: &Search, sent: &'a Map<String, Value>) -> Self {
        let text = |name: &str| sent.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let time = |name: &str| text(name).and_then(|text| text.parse::<Timestamp>().ok());
        Self {
            group: sent.get(&search.group_id.name).and_then(Value::as_i64),
            status: text(&search.status.name),
            country: text(&search.country_code.name),
            city: text(&search.city_code.name),
            from: time(&search.activated_from.name),
            to: time(&search.activated_to.name),
        }
    }

    /// Reports each filter that an instance does not pass.
    fn judge(&self, instance: &Instance, findings: &mut Vec<PassiveFinding>) {
        let Self { group, status, country, city, from, to } = self;
        let mut unfit =
            |clause: Clause, fits: bool, asked: &dyn Fn() -> String, shown: &dyn Fn() -> String| {
                if fits {
                    return;
                }
                let expected = format!("only instances that fit {}", asked());
                let actual = format!("instance {} with {}", instance.id, shown());
                // Whatever filter it is, the result is then no intersection.
                for clause in [clause, Clause::SearchIntersection] {
                    findings.push(finding(clause, expected.clone(), actual.clone()));
                }
            };
        let texts = [
            (
                Clause::SearchStatus,
                status,
                status.is_none_or(|asked| asked == instance.status),
                &instance.status,
            ),
            (
                Clause::SearchCountry,
                country,
                country.is_none_or(|asked| asked.eq_ignore_ascii_case(&instance.country)),
                &instance.country,
            ),
            (Clause::SearchCity, city, city.is_none_or(|asked| asked == instance.city), &instance.city),
        ];
        for (clause, asked, fits, shown) in texts {
            unfit(clause, fits, &|| asked.unwrap_or_default().to_owned(), &|| shown.clone());
        }
        let group_fits = group.is_none_or(|group| instance.group.unwrap_or(0) == group);
        unfit(Clause::SearchGroup, group_fits, &|| format!("group {group:?}"), &|| {
            format!("group {:?}", instance.group)
        });
        let within = |bound: &Option<Timestamp>, fits: fn(Timestamp, Timestamp) -> bool| {
            bound.is_none_or(|bound| instance.activated.is_some_and(|activated| fits(activated, bound)))
        };
        let in_range =
            within(from, |activated, from| activated >= from) && within(to, |activated, to| activated <= to);
        unfit(Clause::SearchActivatedRange, in_range, &|| format!("from {from:?} to {to:?}"), &|| {
            format!("activated {:?}", instance.activated)
        });
    }
}

/// Instances at addresses or ports that were not asked for. When an item can't be read here, nothing is said.
fn foreign_instances(
    search: &Search,
    sent: &Map<String, Value>,
    instances: &[Instance],
) -> Vec<PassiveFinding> {
    let asked = sent.get(&search.ips.name).and_then(Value::as_array);
    let asked: Option<BTreeSet<(IpAddr, Option<i64>)>> =
        asked.into_iter().flatten().map(|item| address_of(item.as_str()?)).collect();
    let Some(asked) = asked else { return Vec::new() };
    let addresses: BTreeSet<IpAddr> = asked.iter().map(|(ip, _)| *ip).collect();
    let mut findings = Vec::new();
    for instance in instances {
        let actual = || format!("instance {} at {} port {}", instance.id, instance.ip, instance.port);
        if !addresses.contains(&instance.ip) {
            let expected = "only instances at the addresses asked for".to_owned();
            findings.push(finding(Clause::SearchMatchAnyPort, expected, actual()));
        } else if !asked.contains(&(instance.ip, None))
            && !asked.contains(&(instance.ip, Some(instance.port)))
        {
            let expected = format!("only the ports of {} that were asked for", instance.ip);
            findings.push(finding(Clause::SearchMatchPort, expected, actual()));
        }
    }
    findings
}

/// A page holds at most its size, and one that is not full ends the result.
fn counts(search: &Search, sent: &Map<String, Value>, came: usize, total: u64) -> Vec<PassiveFinding> {
    let whole = |name: &str, default: i64| match sent.get(name) {
        None => u64::try_from(default).ok(),
        Some(value) => value.as_u64(),
    };
    let (Some(page), Some(size)) = (
        whole(&search.page.name, search.default_page),
        whole(&search.page_size.name, search.default_page_size),
    ) else {
        return Vec::new();
    };
    let came = u64::try_from(came).unwrap_or(u64::MAX);
    let mut findings = Vec::new();
    if came > size {
        findings.push(finding(
            Clause::SearchPageSize,
            format!("at most {size} instances on a page"),
            came.to_string(),
        ));
    }
    let first = u64::try_from(*search.pages.start()).unwrap_or(1);
    let before = page.saturating_sub(first).saturating_mul(size);
    let so_far = before.saturating_add(came);
    let fits = if came == 0 { page != first || total == 0 } else { total >= so_far };
    let ends = came == 0 || came >= size || total == so_far;
    if !fits || !ends {
        let expected = format!("a total that fits {came} instances on page {page} of {size}");
        findings.push(finding(Clause::SearchTotal, expected, format!("total {total}")));
    }
    if came > 0 && came < size && total > so_far {
        // One of them is wrong; which one is unknown.
        let expected = format!("{size} instances on page {page} of {total} in all");
        findings.push(finding(Clause::SearchPageSize, expected, came.to_string()));
    }
    findings
}
