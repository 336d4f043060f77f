//! Compares every instance of every response with its request.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::SEARCH;
use crate::check::{Check, ObservedExchange, PassiveFinding, Run};
use crate::checks::relation::{Filter, FilterKind, Instance, address_of};
use crate::contract::{Clause, Search};
use crate::quantity::quantity;

pub(super) static INTERSECTION_WATCHED: Check = Check {
    id: "search.intersection.watched",
    title: "every instance of every response matches all filters and items of its request",
    why: "Callers act on what a search returns: an instance that does not match is renewed, moved or cancelled by mistake.",
    clauses: &[
        Clause::SearchActivatedRange,
        Clause::SearchCity,
        Clause::SearchCountry,
        Clause::SearchGroup,
        Clause::SearchIntersection,
        Clause::SearchMatchAnyPort,
        Clause::SearchMatchPort,
        Clause::SearchPage,
        Clause::SearchPageSize,
        Clause::SearchPaging,
        Clause::SearchStatus,
        Clause::SearchTotal,
    ],
    run: Run::Passive(judge),
    ..SEARCH
};

fn judge(observed: &ObservedExchange<'_>) -> Option<Vec<PassiveFinding>> {
    let search = &observed.contract.search;
    let sent = &*observed.request.body_members()?;
    // Recorded traffic may have an invalid request that was accepted.
    let is_within = |name: &str, allowed: &RangeInclusive<i64>| {
        sent.get(name).is_none_or(|value| value.as_i64().is_some_and(|number| allowed.contains(&number)))
    };
    if !is_within(&search.page.name, &search.pages) || !is_within(&search.page_size.name, &search.page_sizes)
    {
        return None;
    }
    let count = observed.success()?.at("/data/items")?.as_array()?.len();
    let instances: Vec<_> = Instance::all(search, observed.response)?.flatten().collect();
    let mut findings = Vec::new();
    let filters: Vec<_> =
        FilterKind::SHOWN.into_iter().filter_map(|kind| Filter::read(kind, search, sent)).collect();
    findings.extend(misfits(&filters, &instances));
    findings.extend(foreign_instances(search, sent, &instances));
    findings.extend(echo(search, sent, observed));
    findings.extend(counts(search, sent, count, observed.response.at("/data/total")?.as_u64()?));
    Some(findings)
}

fn finding(clause: Clause, expected: String, actual: String) -> PassiveFinding {
    PassiveFinding::fail(clause, "", expected, actual)
}

/// Instances that a filter of their request does not admit. Orders are not judged, since an instance does not show its order.
fn misfits<'a>(
    filters: &'a [Filter],
    instances: &'a [Instance],
) -> impl Iterator<Item = PassiveFinding> + 'a {
    let no_orders = BTreeMap::new();
    let pairs = filters.iter().flat_map(|filter| instances.iter().map(move |instance| (filter, instance)));
    let misfits = pairs.filter(move |(filter, instance)| !filter.admits(instance, &no_orders));
    misfits.flat_map(|(filter, instance)| {
        let expected = format!("only instances that fit {}", filter.describe());
        let shown = filter.kind().shown_by(instance);
        let actual = format!("instance {} with {shown}", instance.id);
        // With any such instance, the result is not the intersection of the filters.
        [filter.kind().clause(), Clause::SearchIntersection]
            .map(|clause| finding(clause, expected.clone(), actual.clone()))
    })
}

/// Instances at addresses or ports that were not requested; nothing if an item can't be parsed.
fn foreign_instances(
    search: &Search,
    sent: &Map<String, Value>,
    instances: &[Instance],
) -> Vec<PassiveFinding> {
    let requested = sent.get(&search.ips.name).and_then(Value::as_array);
    let requested: Option<BTreeSet<(IpAddr, Option<i64>)>> =
        requested.into_iter().flatten().map(|item| address_of(item.as_str()?)).collect();
    let Some(requested) = requested else { return Vec::new() };
    let addresses: BTreeSet<IpAddr> = requested.iter().map(|(ip, _)| *ip).collect();
    let mut findings = Vec::new();
    for instance in instances {
        let actual = || format!("instance {} at {} port {}", instance.id, instance.ip, instance.port);
        if !addresses.contains(&instance.ip) {
            let expected = "only instances at the requested addresses".to_owned();
            findings.push(finding(Clause::SearchMatchAnyPort, expected, actual()));
        } else if !requested.contains(&(instance.ip, None))
            && !requested.contains(&(instance.ip, Some(instance.port)))
        {
            let expected = format!("only the requested ports of {}", instance.ip);
            findings.push(finding(Clause::SearchMatchPort, expected, actual()));
        }
    }
    findings
}

/// The response has the requested page and page size. The schema check reports values of another type.
fn echo<'a>(
    search: &'a Search,
    sent: &'a Map<String, Value>,
    observed: &'a ObservedExchange<'_>,
) -> impl Iterator<Item = PassiveFinding> + 'a {
    let asked = [
        (Clause::SearchPage, &search.page.name, &search.pages, search.default_page),
        (Clause::SearchPageSize, &search.page_size.name, &search.page_sizes, search.default_page_size),
    ];
    asked.into_iter().filter_map(move |(clause, name, allowed, default)| {
        let (clause, asked, why) = match sent.get(name) {
            Some(value) => {
                let asked = value.as_i64().filter(|asked| allowed.contains(asked))?;
                (Clause::SearchPaging, asked, "as requested")
            }
            None => (clause, default, "the default"),
        };
        let shown = observed.response.at("/data")?.get(name)?.as_i64()?;
        let expected = || format!("data.{name} is {asked}, {why}");
        (shown != asked).then(|| finding(clause, expected(), shown.to_string()))
    })
}

/// A page has at most `pageSize` instances, and only the last one may have fewer.
fn counts(search: &Search, sent: &Map<String, Value>, count: usize, total: u64) -> Vec<PassiveFinding> {
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
    let count = u64::try_from(count).unwrap_or(u64::MAX);
    let mut findings = Vec::new();
    if count > size {
        findings.push(finding(
            Clause::SearchPageSize,
            format!("at most {} on a page", quantity(size, "instance")),
            count.to_string(),
        ));
    }
    let first = u64::try_from(*search.pages.start()).unwrap_or(1);
    let before = page.saturating_sub(first).saturating_mul(size);
    let so_far = before.saturating_add(count);
    let fits = if count == 0 { page != first || total == 0 } else { total >= so_far };
    let ends = count == 0 || count >= size || total == so_far;
    if !fits || !ends {
        let expected = format!("a total that fits {} on page {page} of {size}", quantity(count, "instance"));
        findings.push(finding(Clause::SearchTotal, expected, format!("total {total}")));
    }
    if count > 0 && count < size && total > so_far {
        // Either the total or the number of instances is wrong.
        let expected = format!("{} on page {page} of {total} in all", quantity(size, "instance"));
        findings.push(finding(Clause::SearchPageSize, expected, count.to_string()));
    }
    findings
}
