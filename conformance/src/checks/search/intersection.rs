//! Searches with several filters, compared with the survey.

use super::*;
use crate::checks::relation::excluding;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.intersection.second-account", |_| {
        let case =
            |kind: FilterKind| Case::for_data(kind.phrase(), Cost::requests(3), kind, of_second_account);
        shown_kinds().map(case).collect()
    }),
    active("search.intersection.excluding", |_| {
        let pairs = combinations(2).into_iter();
        let pairs = pairs.map(|kinds| (SearchFilter::names(&kinds), 1, kinds));
        let pairs = rows(Relation::Survey, pairs, |account, kinds| {
            let lacks = "no two instances at the searched addresses differ in these values";
            let excluding =
                excluding(account.survey, &kinds).ok_or_else(|| account.lacks(lacks, "more addresses"));
            let (filters, addresses) = excluding?;
            Ok(vec![open(account.at(addresses).filtered(filters))])
        });
        let odd = kinds().map(|kind| (format!("all but {}", kind.label()), 1, kind));
        [pairs, rows(Relation::Survey, odd, exclude_among_all)].concat()
    }),
    active("search.intersection.pairs", |_| {
        let pairs = combinations(2).into_iter();
        combined_cases(pairs.map(|kinds| (kinds, BATCHES[0])))
    }),
    active("search.intersection.triples", |_| {
        // The batches rotate, so that each kind of filter is tested with addresses, ports and IPv6.
        let sets = combinations(3).into_iter().chain(combinations(4));
        combined_cases(sets.zip(BATCHES.into_iter().cycle()))
    }),
];

async fn of_second_account(probe: &Probe<'_>, kind: FilterKind) -> Result<(), Stop> {
    const MAX: usize = 100;
    let second = probe.required(Fact::SecondToken, |facts| facts.second_token.as_ref())?;
    let foreign = probe.facts().foreign_addresses.iter().take(MAX).cloned();
    let foreign = foreign.filter(|item| address_of(item).is_some());
    let token = Some(second.expose().to_owned());
    let query = Query { token, name: Some("the addresses of the second account"), ..Query::new(foreign) };
    let survey = Survey::alone(probe, &query).await?;
    let filters = survey.instances.values().filter_map(|instance| survey.filter(kind, instance));
    let queries = filters.map(|filter| query.clone().filtered([filter]).citing(SearchIntersection));
    let mut narrow = queries.filter(|query| query.expected(&survey).len() < survey.instances.len());
    let Some(query) = narrow.next() else {
        let lacks = "no such filter leaves out an instance of the second account";
        return Err(probe.skip_lacking(lacks, "addresses of its instances", Fact::ForeignAddresses));
    };
    relate(probe, &survey, Relation::Survey, &[query]).await
}

fn combined_cases(sets: impl Iterator<Item = (Vec<FilterKind>, &'static str)>) -> Vec<Case> {
    let case = |(place, (kinds, name)): (usize, (Vec<FilterKind>, &'static str))| {
        (format!("{}, {name}", SearchFilter::names(&kinds)), 1, (kinds, name, place))
    };
    rows(Relation::Survey, sets.enumerate().map(case), |account, (kinds, name, place)| {
        let batch = account.batch(name)?;
        Ok(vec![combined(account, batch, account.meeting(&kinds)?, place)])
    })
}

/// A batch with filters, in pages of a size that rotates, since a service may ignore a filter with some page sizes.
fn combined(account: Account<'_>, batch: Query, filters: Vec<Filter>, place: usize) -> Query {
    let query = batch.filtered(filters).citing(SearchIntersection);
    let size = page_size(account.search, query.expected(account.survey).len(), place);
    Query { size: Some(size), ..query }
}

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

/// Whether a city outside the country is rejected is unspecified.
fn open(query: Query) -> Query {
    Query { is_open: true, ..query }.citing(SearchIntersection)
}

/// All filters have the values of one instance, except one filter with the value of another instance.
fn exclude_among_all(account: Account<'_>, odd: FilterKind) -> Result<Vec<Query>, Stop> {
    /// Minimum number of filters: more than other cases combine.
    const ENOUGH: usize = 5;
    let survey = account.survey;
    let chosen = survey.pairs().find_map(|(one, other)| {
        let of = |kind| survey.filter(kind, if kind == odd { other } else { one });
        let filters: Vec<Filter> = kinds().filter_map(of).collect();
        let has_odd = of(odd).is_some_and(|filter| !filter.admits(one, &survey.orders));
        let is_usable = has_odd && filters.len() >= ENOUGH && Filter::are_in_order(&filters);
        (is_usable && survey.admitted(&filters).is_empty())
            .then(|| account.at([one.ip, other.ip]).filtered(filters))
    });
    let lacks = "no two instances at the searched addresses differ in this value and have the others";
    Ok(vec![open(chosen.ok_or_else(|| account.lacks(lacks, "more addresses"))?)])
}
