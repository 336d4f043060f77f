use std::collections::BTreeSet;

use super::explorer::Explorer;
use super::query::Query;
use crate::check::Stop;
use crate::checks::relation::ResultSet;
use crate::contract::Clause;
use crate::quantity::quantity;
use crate::wire::{Exchange, Request};

/// What holds between the results of searches for any data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// A search finds the surveyed instances that match its items and filters.
    Survey,
    /// A batch finds the union of what its halves find.
    Union,
    /// Filters find the intersection of what both parts of them find.
    Intersection,
    /// The results for each status partition a result.
    Partition,
    /// The order of items and members does not matter.
    Order,
    /// The pages partition a result.
    Pages,
    /// A second spelling of an address changes nothing.
    FirstText,
}

/// A violated relation.
#[derive(Debug)]
pub(super) struct BrokenRelation {
    pub(super) clause: Clause,
    pub(super) expected: String,
    pub(super) actual: String,
    pub(super) exchanges: Vec<Exchange>,
}

/// None when a search was not accepted, and so nothing is judged.
type Read<T> = Result<Option<T>, Stop>;

impl Relation {
    pub(super) const ALL: [Self; 7] = [
        Self::Survey,
        Self::Union,
        Self::Intersection,
        Self::Partition,
        Self::Order,
        Self::Pages,
        Self::FirstText,
    ];

    /// Tests the relation on a query. None when it holds, does not apply, or can't be judged.
    pub(super) async fn broken(self, explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
        match self {
            Self::Survey => survey(explorer, query).await,
            Self::Union => union(explorer, query).await,
            Self::Intersection => intersection(explorer, query).await,
            Self::Partition => partition(explorer, query).await,
            Self::Order => order(explorer, query).await,
            Self::Pages => pages(explorer, query).await,
            Self::FirstText => first_text(explorer, query).await,
        }
    }
}

async fn survey(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let Some(found) = explorer.read(query).await? else { return Ok(None) };
    let expected = query.expected(explorer.survey);
    let count = u64::try_from(found.order.len()).unwrap_or(u64::MAX);
    if found.ids() == expected && found.totals.iter().any(|total| *total != count) {
        return Ok(Some(BrokenRelation {
            clause: Clause::SearchTotal,
            expected: format!("total {count}"),
            actual: format!("{:?} on the pages", found.totals),
            exchanges: found.exchanges,
        }));
    }
    Ok(differ(query.clause(), "what the surveyed instances say", &expected, &found, Vec::new()))
}

async fn union(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let Some(halves) = halves(&query.items) else { return Ok(None) };
    let parts = halves.map(|items| query.with_items(items));
    let what = "what the two halves of the batch find";
    let union = |[first, second]: [BTreeSet<i64>; 2]| first.union(&second).copied().collect();
    combined(explorer, query, parts, union, (query.match_clause(), what)).await
}

async fn intersection(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let Some(halves) = halves(&query.filters) else { return Ok(None) };
    let parts = halves.map(|filters| query.with_filters(filters));
    let what = "what both parts of the filters find";
    let intersection = |[first, second]: [BTreeSet<i64>; 2]| first.intersection(&second).copied().collect();
    combined(explorer, query, parts, intersection, (Clause::SearchIntersection, what)).await
}

fn halves<T>(items: &[T]) -> Option<[&[T]; 2]> {
    let (first, second) = items.split_at(items.len() / 2);
    (!first.is_empty()).then_some([first, second])
}

/// Compares the result of a query with the combined results of its parts.
async fn combined(
    explorer: &mut Explorer<'_, '_>,
    query: &Query,
    [first, second]: [Query; 2],
    combine: impl Fn([BTreeSet<i64>; 2]) -> BTreeSet<i64>,
    (clause, what): (Clause, &str),
) -> Read<BrokenRelation> {
    let Some(first) = explorer.read(&first).await? else { return Ok(None) };
    let Some(second) = explorer.read(&second).await? else { return Ok(None) };
    let Some(both) = explorer.read(query).await? else { return Ok(None) };
    let expected = combine([first.ids(), second.ids()]);
    let parts = [first.exchanges, second.exchanges].concat();
    Ok(differ(clause, what, &expected, &both, parts))
}

async fn partition(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let all = query.without_status();
    let Some(whole) = explorer.read(&all).await? else { return Ok(None) };
    let clause = if all.filters.is_empty() { Clause::SearchStatus } else { Clause::SearchIntersection };
    let (mut expected, mut parts, mut count) = (BTreeSet::new(), Vec::new(), 0);
    for status in &explorer.probe.contract().search.statuses {
        let Some(part) = explorer.read(&query.with_status(status)).await? else { return Ok(None) };
        count += part.ids().len();
        expected.extend(part.ids());
        parts.extend(part.exchanges);
    }
    if count != expected.len() {
        return Ok(Some(BrokenRelation {
            clause,
            expected: "each instance under one status".to_owned(),
            actual: format!("{}, {count} counted by status", quantity(expected.len(), "instance")),
            exchanges: parts,
        }));
    }
    Ok(differ(clause, "what is found under each status", &expected, &whole, parts))
}

async fn order(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let request = query.request(explorer.probe, explorer.survey, true);
    let what = "what is found with items and members in another order";
    same(explorer, query, &request, (query.clause(), what)).await
}

async fn first_text(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let Some(request) = query.respelt(explorer.probe, explorer.survey) else { return Ok(None) };
    let what = "what is found without a second spelling of an address";
    same(explorer, query, &request, (Clause::SearchIpsFirstText, what)).await
}

/// Compares the result of a query with that of an equivalent request.
async fn same(
    explorer: &mut Explorer<'_, '_>,
    query: &Query,
    request: &Request,
    (clause, what): (Clause, &str),
) -> Read<BrokenRelation> {
    let Some(given) = explorer.read(query).await? else { return Ok(None) };
    let Some(found) = explorer.send(request).await? else { return Ok(None) };
    let expected = given.ids();
    Ok(differ(clause, what, &expected, &found, given.exchanges))
}

async fn pages(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let Some(whole) = explorer.read(query).await? else { return Ok(None) };
    let ids = whole.ids();
    if ids.len() < 2 {
        return Ok(None);
    }
    let size = ids.len().div_ceil(query.pages);
    let count = ids.len().div_ceil(size);
    let request = query.request(explorer.probe, explorer.survey, false);
    let (mut seen, mut exchanges) = (Vec::new(), whole.exchanges);
    for number in 1..=count {
        let Some(page) = explorer.page(&request, number, size).await? else { return Ok(None) };
        seen.extend(page.ids());
        exchanges.push(page.exchange);
        if usize::try_from(page.total).ok() != Some(ids.len()) {
            let (expected, actual) = (format!("total {} on each page", ids.len()), page.total.to_string());
            let actual = format!("{actual} on page {number} of {count}");
            return Ok(Some(BrokenRelation { clause: Clause::SearchTotal, expected, actual, exchanges }));
        }
    }
    let distinct: BTreeSet<i64> = seen.iter().copied().collect();
    Ok((distinct != ids || seen.len() != ids.len()).then(|| BrokenRelation {
        clause: Clause::SearchPaging,
        expected: format!(
            "{} on {} of {size}, each once",
            quantity(ids.len(), "instance"),
            quantity(count, "page")
        ),
        actual: format!("{}, {} of them distinct", quantity(seen.len(), "item"), distinct.len()),
        exchanges,
    }))
}

/// The difference between a result and the expected one, which the exchanges `parts` show.
fn differ(
    clause: Clause,
    what: &str,
    expected: &BTreeSet<i64>,
    found: &ResultSet,
    parts: Vec<Exchange>,
) -> Option<BrokenRelation> {
    let ids = found.ids();
    (ids != *expected).then(|| BrokenRelation {
        clause,
        expected: format!("{what}: {}", quantity(expected.len(), "instance")),
        actual: format!(
            "{}; {} missing, {} too many",
            quantity(ids.len(), "instance"),
            expected.difference(&ids).count(),
            ids.difference(expected).count()
        ),
        exchanges: found.exchanges.iter().cloned().chain(parts).collect(),
    })
}
