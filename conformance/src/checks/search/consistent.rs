//! Fields of an instance, which do not depend on what else a search finds.

use std::collections::{BTreeMap, BTreeSet};

use futures::future::BoxFuture;

use super::cases::surveyed;
use super::known::CHANGEABLE;
use crate::check::{Check, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::values::same;
use crate::checks::relation::{Comparison, Filter, Instance, Survey, apply, page, read, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;
use crate::wire::Exchange;

pub(super) static CONSISTENT: Check = Check {
    id: "search.instance.consistent",
    title: "an instance has the same fields in whatever result it comes",
    why: "Programs read an instance from the search at hand. Where it shows its neighbour's fields, or loses one beside a filter, \
          they renew, move or cancel the wrong one.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchInstance],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let ways: [(&str, u32, Way); 3] = [
            ("alone", SOME, |probe, survey| Box::pin(alone(probe, survey))),
            ("beside a filter", SOME, |probe, survey| Box::pin(filtered(probe, survey))),
            ("on small pages", SOME, |probe, survey| Box::pin(paged(probe, survey))),
        ];
        let cases = ways.map(|(label, requests, way)| (label.to_owned(), requests, way));
        surveyed(cases, |probe, way| Box::pin(compare(probe, way)))
    }),
};

/// Requests of a case.
const SOME: u32 = 4;

/// What one search shows, named for a sentence.
type Shown = (String, Vec<Instance>, Vec<Exchange>);

/// Searches for surveyed instances in another way.
type Way = for<'p> fn(&'p Probe<'p>, &'p Survey) -> BoxFuture<'p, Result<Vec<Shown>, Stop>>;

async fn compare(probe: &Probe<'_>, way: Way) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let first = differing(probe, survey, way(probe, survey).await?);
    if first.is_empty() {
        return Ok(());
    }
    // A copy of the data that lags behind shows an instance as it was, and later as it is.
    let second = differing(probe, survey, way(probe, survey).await?);
    for (name, Difference { expected, actual, exchanges, instances }) in second {
        // One instance may have changed while a result without the change is still cached.
        let may_be_cached = CHANGEABLE.contains(&name) && instances.len() < 2;
        if !may_be_cached && first.get(name).is_some_and(|before| before.actual == actual) {
            let exchanges: Vec<_> = exchanges.iter().collect();
            comparison.differs(Clause::SearchInstance, expected, actual, &exchanges);
        }
    }
    comparison.conclude(probe).await
}

/// What the first instance shows that differs in a field.
struct Difference {
    expected: String,
    actual: String,
    exchanges: Vec<Exchange>,
    /// All that differ in it.
    instances: BTreeSet<i64>,
}

/// By field, how instances differ from the survey.
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

/// Some instances from the whole survey.
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
    // A page past the last one may be rejected.
    let pages = i64::try_from(survey.instances.len()).unwrap_or(i64::MAX).saturating_add(SIZE - 1) / SIZE;
    let mut all = Vec::new();
    for number in first..first + pages.min(i64::from(SOME)) {
        let page = page(probe, &survey.request, number, SIZE).await?;
        all.push((format!("on page {number} of {SIZE} each"), page.items, vec![page.exchange]));
    }
    Ok(all)
}
