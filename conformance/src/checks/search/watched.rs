//! Compares every instance of every response with its request.

use std::ops::RangeInclusive;

use super::*;
use crate::checks::relation::{counts, echo, misfits};

pub(super) static PROGRAMS: &[Program] = &[passive("search.intersection.watched", judge)];

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
    let items = observed.success()?.at("/data/items")?.as_array()?;
    let total = observed.response.at("/data/total")?.as_u64()?;
    let instances: Vec<_> = Instance::all(search, observed.response)?.flatten().collect();
    let mut query = Query::read(search, sent);
    // An instance does not show the value of every filter.
    query.filters.retain(|filter| filter.kind.field.is_some());
    let finding = |clause, expected, actual| PassiveFinding::fail(clause, "", expected, actual);
    let mut findings = Vec::new();
    for misfit in misfits(&query, &BTreeMap::new(), instances.iter()) {
        // With any such instance, the result is not the intersection of the filters.
        if misfit.is_of_filter {
            let (expected, actual) = (misfit.expected.clone(), misfit.actual.clone());
            findings.push(finding(SearchIntersection, expected, actual));
        }
        findings.push(finding(misfit.clause, misfit.expected, misfit.actual));
    }
    // The schema check reports values of another type.
    let echoed = echo(search, &query, observed.response).into_iter().filter_map(|wrong| {
        wrong.shown?.as_i64().map(|shown| finding(wrong.clause, wrong.expected, shown.to_string()))
    });
    let counts = counts(search, &query, items.len() as u64, total).into_iter();
    let counts = counts.map(|(clause, expected, actual)| finding(clause, expected, actual));
    findings.extend(echoed.chain(counts));
    Some(findings)
}
