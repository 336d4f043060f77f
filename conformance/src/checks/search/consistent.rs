//! Fields of an instance do not depend on the other instances of a result.

use std::collections::{BTreeMap, BTreeSet};

use super::SEARCH;
use super::cases::surveyed;
use super::known::CHANGEABLE;
use crate::check::{Check, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::values::same;
use crate::checks::relation::{Comparison, Filter, Instance, Survey, apply, page, read, survey};
use crate::contract::Clause;
use crate::target::Fact;
use crate::wire::Exchange;

pub(super) static CONSISTENT: Check = Check {
    id: "search.instance.consistent",
    title: "an instance has the same fields in every result",
    why: "Programs read an instance from any search. If it has its neighbour's fields, or lacks one beside a filter, they renew, \
          move or cancel the wrong one.",
    clauses: &[Clause::SearchInstance],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let ways = [
            ("alone", SOME, Way::Alone),
            ("beside a filter", SOME, Way::Filtered),
            ("on small pages", SOME, Way::Paged),
        ];
        surveyed(ways, compare)
    }),
    ..SEARCH
};

const SOME: u32 = 4;

/// The instances of one search, with a description of the search.
type Shown = (String, Vec<Instance>, Vec<Exchange>);

/// How surveyed instances are searched again.
#[derive(Debug, Clone, Copy)]
enum Way {
    Alone,
    Filtered,
    Paged,
}

async fn search_again(probe: &Probe<'_>, survey: &Survey, way: Way) -> Result<Vec<Shown>, Stop> {
    match way {
        Way::Alone => alone(probe, survey).await,
        Way::Filtered => filtered(probe, survey).await,
        Way::Paged => paged(probe, survey).await,
    }
}

async fn compare(probe: &Probe<'_>, way: Way) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let first = differing(probe, survey, search_again(probe, survey, way).await?);
    if first.is_empty() {
        return Ok(());
    }
    // A replica that lags behind returns an instance in an old state, and later in the current one.
    let second = differing(probe, survey, search_again(probe, survey, way).await?);
    for (name, Difference { expected, actual, exchanges, instances }) in second {
        // The service may still cache a result from before a change of one instance.
        let may_be_cached = CHANGEABLE.contains(&name) && instances.len() < 2;
        if !may_be_cached && first.get(name).is_some_and(|before| before.actual == actual) {
            let exchanges: Vec<_> = exchanges.iter().collect();
            comparison.differs(Clause::SearchInstance, expected, actual, &exchanges);
        }
    }
    comparison.conclude(probe).await
}

/// The first instance that differs in a field.
struct Difference {
    expected: String,
    actual: String,
    exchanges: Vec<Exchange>,
    /// All instances that differ in it.
    instances: BTreeSet<i64>,
}

/// The differences of instances from the survey, by field.
fn differing<'p>(probe: &Probe<'p>, survey: &Survey, all: Vec<Shown>) -> BTreeMap<&'p str, Difference> {
    let mut differing = BTreeMap::new();
    for (what, instances, exchanges) in all {
        for shown in instances {
            let Some(known) = survey.instances.get(&shown.id) else { continue };
            for name in probe.contract().search.instance_fields.iter() {
                let text = |instance: &Instance| {
                    instance.field(name).map_or_else(|| "nothing".to_owned(), ToString::to_string)
                };
                let is_same = match (known.field(name), shown.field(name)) {
                    (Some(known), Some(shown)) => same(known, shown),
                    (known, shown) => known == shown,
                };
                if !is_same {
                    let (before, now) = (text(known), text(&shown));
                    let expected = format!("instance {} {what} with {name} {before}", shown.id);
                    let difference = || Difference {
                        expected,
                        actual: format!("{name} {now}"),
                        exchanges: exchanges.clone(),
                        instances: BTreeSet::new(),
                    };
                    let difference: &mut Difference =
                        differing.entry(name.as_str()).or_insert_with(difference);
                    difference.instances.insert(shown.id);
                }
            }
        }
    }
    differing
}

/// Some instances, spread over the whole survey.
fn some(survey: &Survey) -> impl Iterator<Item = &Instance> {
    let wanted = usize::try_from(SOME).unwrap_or(1);
    let step = (survey.instances.len() / wanted).max(1);
    survey.instances.values().step_by(step).take(wanted)
}

async fn alone(probe: &Probe<'_>, survey: &Survey) -> Result<Vec<Shown>, Stop> {
    let mut all = Vec::new();
    for instance in some(survey) {
        let found = read(probe, &probe.search([survey.spelt(instance.ip)])).await?;
        let what = "alone".to_owned();
        all.push((what, found.instances.into_values().collect(), found.exchanges));
    }
    Ok(all)
}

async fn filtered(probe: &Probe<'_>, survey: &Survey) -> Result<Vec<Shown>, Stop> {
    let filter = |(at, instance): (usize, &Instance)| match at {
        0 => Filter::Country(instance.country.clone()),
        1 => Filter::Status(instance.status.clone()),
        2 => Filter::Group(instance.group),
        _ => Filter::City(instance.city.clone()),
    };
    let mut all = Vec::new();
    for filter in some(survey).enumerate().map(filter) {
        let request = apply(&probe.contract().search, survey.request.clone(), std::slice::from_ref(&filter));
        let found = read(probe, &request).await?;
        all.push((
            format!("beside {}", filter.describe()),
            found.instances.into_values().collect(),
            found.exchanges,
        ));
    }
    Ok(all)
}

async fn paged(probe: &Probe<'_>, survey: &Survey) -> Result<Vec<Shown>, Stop> {
    const SIZE: i64 = 3;
    let first = *probe.contract().search.pages.start();
    // A service may reject a page past the last one.
    let pages = i64::try_from(survey.instances.len()).unwrap_or(i64::MAX).saturating_add(SIZE - 1) / SIZE;
    let mut all = Vec::new();
    for number in first..first + pages.min(i64::from(SOME)) {
        let page = page(probe, &survey.request, number, SIZE).await?;
        all.push((format!("on page {number} of {SIZE} each"), page.items, vec![page.exchange]));
    }
    Ok(all)
}
