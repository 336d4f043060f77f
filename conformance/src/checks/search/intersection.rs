//! Searches with several filters, compared with the survey.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use super::SEARCH;
use super::cases::{BATCHES, batch, surveyed};
use super::paging::partition;
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::checks::relation::{
    Batch, CHANGED_MEANWHILE, Comparison, Filter, FilterKind, Instance, Survey, apply, combinations,
    excluding, lacks_addresses, meeting, read, read_accepted, read_accepted_in, read_unless_rejected, survey,
};
use crate::contract::{Clause, Search};
use crate::quantity::quantity;
use crate::target::Fact;

pub(super) static EVERY: Check = Check {
    id: "search.intersection.every",
    title: "all filters together find exactly the instances that pass each of them",
    why: "Callers with many filters rarely verify the result, so an ignored filter goes unnoticed.",
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let kinds: [(&str, &'static [FilterKind]); 2] =
            [("every filter", &FilterKind::ALL), ("every filter but the order", &FilterKind::SHOWN)];
        let cases = kinds.into_iter().flat_map(|(what, kinds)| {
            BATCHES.into_iter().map(move |name| (format!("{what}, {name}"), 1, (kinds, name)))
        });
        surveyed(cases, every)
    }),
    ..SEARCH
};

pub(super) static SECOND_ACCOUNT: Check = Check {
    id: "search.intersection.second-account",
    title: "each filter applies to the instances of a second account too",
    why: "A filter that fails for some customers only is not noticed in tests with another customer's account.",
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::SecondToken, Fact::ForeignAddresses],
    run: Run::Cases(|_| {
        let kinds = [
            ("a group", FilterKind::Group),
            ("a country", FilterKind::Country),
            ("a city", FilterKind::City),
            ("a status", FilterKind::Status),
            ("a lower bound", FilterKind::ActivatedFrom),
            ("an upper bound", FilterKind::ActivatedTo),
        ];
        let case = |(label, kind): (&'static str, FilterKind)| {
            Case::for_data(label, Cost::requests(3), kind, of_second_account)
        };
        kinds.map(case).into()
    }),
    ..SEARCH
};

async fn of_second_account(probe: &Probe<'_>, kind: FilterKind) -> Result<(), Stop> {
    const MAX: usize = 100;
    let second = probe.required(Fact::SecondToken, |facts| facts.second_token.as_ref())?;
    let search = &probe.contract().search;
    let foreign = probe.facts().foreign_addresses.iter().take(MAX).map(String::as_str);
    let request = probe.search(foreign).query(&search.api_key.name, second.expose());
    let all = read(probe, &request).await?;
    let orders = BTreeMap::new();
    let filters = all
        .instances
        .values()
        .filter_map(|instance| Filter::matching(kind, instance, &all.instances, &orders));
    let admitted = |filter: &Filter| -> BTreeSet<i64> {
        let passing = all.instances.values().filter(|instance| filter.admits(instance, &orders));
        passing.map(|instance| instance.id).collect()
    };
    let mut filters = filters.map(|filter| (admitted(&filter), filter));
    let Some((expected, filter)) = filters.find(|(admitted, _)| admitted.len() < all.instances.len()) else {
        return Err(probe.skip_lacking(
            "no such filter leaves out an instance of the second account",
            "addresses of its instances",
            Fact::ForeignAddresses,
        ));
    };
    let what = format!("{} with the token of the second account", filter.describe());
    let narrowed = filter.on(search, request.clone());
    let Some(found) = read_accepted(probe, Clause::SearchIntersection, &what, &narrowed).await? else {
        return Ok(());
    };
    if found.ids() != expected {
        let again = read(probe, &request).await?;
        if again.instances != all.instances {
            return Err(probe.inconclusive(CHANGED_MEANWHILE));
        }
        let expected = format!("{what} finds {}", quantity(expected.len(), "instance"));
        let actual = quantity(found.ids().len(), "instance");
        let evidence = [found.evidence(), again.evidence()].concat();
        probe.finding(Clause::SearchIntersection, &expected, &actual, &evidence);
    }
    Ok(())
}

pub(super) static EXCLUDING: Check = Check {
    id: "search.intersection.excluding",
    title: "two filters that no instance passes together find nothing",
    why: "Filters that are combined with \"or\" return the instances of both, and a bulk action hits the wrong ones.",
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|scope| {
        let cases = combinations(2).into_iter().map(|kinds| (describe_kinds(scope, &kinds), 1, kinds));
        let mut cases = surveyed(cases, exclude);
        let odd = FilterKind::ALL
            .into_iter()
            .map(|kind| (format!("all but {}", format!("{kind:?}").to_lowercase()), 1, kind));
        cases.extend(surveyed(odd, exclude_among_all));
        cases
    }),
    ..SEARCH
};

pub(super) static PAGES: Check = Check {
    id: "search.intersection.pages",
    title: "a filtered result that is read in small pages is complete and has no duplicates",
    why: "If filters are applied after paging, pages are short, and clients stop reading and lose the rest.",
    clauses: &[Clause::SearchIntersection, Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(page_cases),
    ..SEARCH
};

pub(super) static PAIRS: Check = Check {
    id: "search.intersection.pairs",
    title: "each combination of two filters finds exactly the instances that pass both",
    why: "If one pair, such as group and status, is not combined, a team sees instances that it did not ask for.",
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|scope| {
        let pairs = combinations(2).into_iter();
        combined_cases(scope, pairs.map(|kinds| (kinds, BATCHES[0])), false)
    }),
    ..SEARCH
};

pub(super) static PAIRS_PORTS: Check = Check {
    id: "search.intersection.pairs-ports",
    title: "each combination of two filters applies to items with ports of both address families, too",
    why: "Filters that apply to only one form of an item return different results for the same instances.",
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|scope| {
        let pairs = combinations(2).into_iter().enumerate();
        // Each pair on IPv6 with ports, and on one of the last two batches in turn.
        let cases = pairs.flat_map(|(index, kinds)| {
            [BATCHES[2], BATCHES[3 + index % 2]].map(|name| (kinds.clone(), name))
        });
        combined_cases(scope, cases, true)
    }),
    ..SEARCH
};

pub(super) static TRIPLES: Check = Check {
    id: "search.intersection.triples",
    title: "each combination of three filters, and some of four, finds exactly the instances that pass all of them",
    why: "Queries are often built for one or two filters, and a third one is ignored without an error.",
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|scope| {
        // The batches rotate, so that each kind of filter is tested with addresses, ports and IPv6.
        let sets = combinations(3).into_iter().chain(combinations(4));
        combined_cases(scope, sets.zip(BATCHES.into_iter().cycle()), true)
    }),
    ..SEARCH
};

fn combined_cases(
    scope: &Scope<'_>,
    sets: impl Iterator<Item = (Vec<FilterKind>, &'static str)>,
    is_named: bool,
) -> Vec<Case> {
    let case = |(place, (kinds, name)): (usize, (Vec<FilterKind>, &'static str))| {
        let filters = describe_kinds(scope, &kinds);
        let label = if is_named { format!("{filters}, {name}") } else { filters };
        (label, 1, (kinds, name, place))
    };
    surveyed(sets.enumerate().map(case), combined)
}

/// The page size of a search with several filters. It rotates, since a service may ignore a filter with some page sizes.
fn page_size(search: &Search, count: usize, place: usize) -> i64 {
    let (min, max) = (*search.page_sizes.start(), *search.page_sizes.end());
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    // Smaller pages would need further requests, which the cost of a case does not include.
    let sizes: Vec<i64> = [max, 100, max - 1, max / 2, 200]
        .into_iter()
        .filter(|size| (min..=max).contains(size) && *size > count)
        .collect();
    // Shifts by one after each round of batches, so that each batch is tested with each size.
    let place = place + place / BATCHES.len();
    sizes.get(place % sizes.len().max(1)).copied().unwrap_or(max)
}

fn describe_kinds(scope: &Scope<'_>, kinds: &[FilterKind]) -> String {
    let search = &scope.contract.search;
    kinds.iter().map(|kind| kind.field(search)).collect::<Vec<_>>().join(" & ")
}

async fn combined(
    probe: &Probe<'_>,
    (kinds, name, place): (Vec<FilterKind>, &str, usize),
) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let batch = batch(probe, survey, name)?;
    let Some(filters) = meeting(survey, &kinds) else { return Err(none_passes(probe)) };
    judge(probe, survey, batch, &filters, place).await
}

async fn every(probe: &Probe<'_>, (kinds, name): (&[FilterKind], &str)) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let batch = batch(probe, survey, name)?;
    let Some(filters) = passed_by_one(survey, kinds) else { return Err(none_passes(probe)) };
    judge(probe, survey, batch, &filters, 0).await
}

fn none_passes(probe: &Probe<'_>) -> Stop {
    lacks_addresses(
        probe,
        "no instance at the searched addresses has values for all of these filters",
        "more addresses",
    )
}

/// Filters of the wanted kinds with the values of one instance; its activation time is both bounds.
fn passed_by_one(survey: &Survey, kinds: &[FilterKind]) -> Option<Vec<Filter>> {
    let own = |instance: &Instance| {
        let of = |kind: &FilterKind| Filter::matching(*kind, instance, &survey.instances, &survey.orders);
        kinds.iter().map(of).collect::<Option<Vec<_>>>()
    };
    survey.instances.values().filter(|instance| instance.group.is_some()).find_map(own)
}

/// The filters must find the surveyed instances of the batch that they admit.
async fn judge(
    probe: &Probe<'_>,
    survey: &Survey,
    batch: &Batch,
    filters: &[Filter],
    place: usize,
) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchIntersection;
    let mut comparison = Comparison::with(survey);
    let expected = batch.admitted(survey, filters);
    let search = &probe.contract().search;
    let request = apply(search, probe.search(batch.items.clone()), filters);
    let size = page_size(search, expected.len(), place);
    let what = format!("{} among {}, pages of {size}", Filter::describe_all(filters), batch.name);
    if let Some(found) = read_accepted_in(probe, CLAUSE, &what, &request, size).await? {
        comparison.same(CLAUSE, &what, &expected, &found);
    }
    comparison.conclude(probe).await
}

async fn exclude(probe: &Probe<'_>, kinds: Vec<FilterKind>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let &[one, other] = kinds.as_slice() else { return Ok(()) };
    let Some((filters, addresses)) = excluding(survey, [one, other]) else {
        return Err(lacks_addresses(
            probe,
            "no two instances at the searched addresses differ in these values",
            "more addresses",
        ));
    };
    find_nothing(probe, survey, &filters, addresses).await
}

async fn find_nothing(
    probe: &Probe<'_>,
    survey: &Survey,
    filters: &[Filter],
    addresses: [IpAddr; 2],
) -> Result<(), Stop> {
    let mut comparison = Comparison::with(survey);
    let request = probe.search(addresses.map(|ip| survey.spelt(ip)));
    let request = apply(&probe.contract().search, request, filters);
    let what = Filter::describe_all(filters);
    // Whether a city outside the country is rejected is unspecified.
    let found = read_unless_rejected(probe, Clause::SearchIntersection, &what, &request).await?;
    if let Some(found) = found {
        comparison.same(Clause::SearchIntersection, &what, &BTreeSet::new(), &found);
    }
    comparison.conclude(probe).await
}

/// All filters have the values of one instance, except one filter with the value of another instance.
async fn exclude_among_all(probe: &Probe<'_>, odd: FilterKind) -> Result<(), Stop> {
    const MAX_INSTANCES: usize = 40;
    let survey = survey(probe).await?;
    let instances = || survey.instances.values().take(MAX_INSTANCES);
    let pairs = instances().flat_map(|one| instances().map(move |other| (one, other)));
    let chosen = pairs.filter(|(one, other)| one.ip != other.ip).find_map(|(one, other)| {
        let of = |kind: FilterKind| {
            Filter::matching(kind, if kind == odd { other } else { one }, &survey.instances, &survey.orders)
        };
        let filters: Vec<Filter> = FilterKind::ALL.into_iter().filter_map(of).collect();
        let bound = |wanted: FilterKind| {
            filters.iter().find_map(|filter| match filter {
                Filter::ActivatedFrom(at) if wanted == FilterKind::ActivatedFrom => Some(at),
                Filter::ActivatedTo(at) if wanted == FilterKind::ActivatedTo => Some(at),
                _ => None,
            })
        };
        let in_order = bound(FilterKind::ActivatedFrom)
            .zip(bound(FilterKind::ActivatedTo))
            .is_none_or(|(from, to)| from <= to);
        let has_odd = of(odd).is_some_and(|filter| !survey.admitted(&[filter]).contains(&one.id));
        (has_odd && in_order && filters.len() >= ENOUGH && survey.admitted(&filters).is_empty())
            .then_some((filters, [one.ip, other.ip]))
    });
    let Some((filters, addresses)) = chosen else {
        return Err(lacks_addresses(
            probe,
            "no two instances at the searched addresses differ in this value and have the others",
            "more addresses",
        ));
    };
    find_nothing(probe, survey, &filters, addresses).await
}

/// Minimum number of filters: more than other cases combine.
const ENOUGH: usize = 5;

fn page_cases(scope: &Scope<'_>) -> Vec<Case> {
    const SETS: [&[FilterKind]; 6] = [
        &[FilterKind::Status, FilterKind::ActivatedFrom],
        &[FilterKind::Group, FilterKind::Country],
        &[FilterKind::Order, FilterKind::Status],
        &[FilterKind::City, FilterKind::ActivatedTo],
        &[FilterKind::Status],
        &[FilterKind::ActivatedFrom, FilterKind::ActivatedTo],
    ];
    let cases = SETS.into_iter().zip(BATCHES.into_iter().cycle());
    let cases =
        cases.map(|(kinds, name)| (format!("{}, {name}", describe_kinds(scope, kinds)), 5, (kinds, name)));
    surveyed(cases, pages)
}

async fn pages(probe: &Probe<'_>, (kinds, name): (&[FilterKind], &str)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let batch = batch(probe, survey, name)?;
    let Some(filters) = meeting(survey, kinds) else { return Err(none_passes(probe)) };
    let mut comparison = Comparison::with(survey);
    let expected = batch.admitted(survey, &filters);
    let request = apply(search, probe.search(batch.items.clone()), &filters);
    let what = format!("{} among {name}", Filter::describe_all(&filters));
    let size = small_size(expected.len());
    partition(probe, &mut comparison, Clause::SearchIntersection, &what, &request, &expected, size).await?;
    comparison.conclude(probe).await
}

/// A page size with about three to six pages, the last of which is not full.
fn small_size(count: usize) -> usize {
    let size = count / 4 + 1;
    if count.is_multiple_of(size) { size + 1 } else { size }
}
