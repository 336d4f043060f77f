use std::collections::BTreeSet;

use super::explorer::Explorer;
use super::query::Query;
use crate::check::Stop;
use crate::checks::relation::ResultSet;
use crate::contract::Clause;
use crate::quantity::quantity;
use crate::wire::Exchange;

/// What holds between the results of searches, whatever the data is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Relation {
    /// A search finds what the survey holds of its items and filters.
    Survey,
    /// A batch finds what its halves find.
    Union,
    /// Filters find together what each part of them finds.
    Intersection,
    /// The statuses divide a result.
    Partition,
    /// The order of items and members does not matter.
    Order,
    /// Pages divide a result.
    Pages,
    /// A second spelling of an address changes nothing.
    FirstText,
}

/// A relation that does not hold.
#[derive(Debug)]
pub(super) struct BrokenRelation {
    pub(super) clause: Clause,
    pub(super) expected: String,
    pub(super) actual: String,
    pub(super) exchanges: Vec<Exchange>,
}

/// Results that are held against each other. None where a search was not accepted: then nothing is judged.
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

    /// Tries the relation on a query. None when it holds, does not apply, or can't be told.
    pub(super) async fn broken(self, explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
        match self {
            Self::Survey => of_survey(explorer, query).await,
            Self::Union => union(explorer, query).await,
            Self::Intersection => intersection(explorer, query).await,
            Self::Partition => partition(explorer, query).await,
            Self::Order => order(explorer, query).await,
            Self::Pages => pages(explorer, query).await,
            Self::FirstText => first_text(explorer, query).await,
        }
    }
}

async fn of_survey(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
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
    let half = query.items.len() / 2;
    if half == 0 {
        return Ok(None);
    }
    let Some(first) = explorer.read(&query.of_items(&query.items[..half])).await? else { return Ok(None) };
    let Some(second) = explorer.read(&query.of_items(&query.items[half..])).await? else { return Ok(None) };
    let Some(both) = explorer.read(query).await? else { return Ok(None) };
    let expected = first.ids().union(&second.ids()).copied().collect();
    let parts = [first.exchanges, second.exchanges].concat();
    Ok(differ(query.match_clause(), "what the two halves of the batch find", &expected, &both, parts))
}

async fn intersection(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let half = query.filters.len() / 2;
    if half == 0 {
        return Ok(None);
    }
    let Some(first) = explorer.read(&query.of_filters(&query.filters[..half])).await? else {
        return Ok(None);
    };
    let Some(second) = explorer.read(&query.of_filters(&query.filters[half..])).await? else {
        return Ok(None);
    };
    let Some(both) = explorer.read(query).await? else { return Ok(None) };
    let expected = first.ids().intersection(&second.ids()).copied().collect();
    let parts = [first.exchanges, second.exchanges].concat();
    let what = "what both parts of the filters find";
    Ok(differ(Clause::SearchIntersection, what, &expected, &both, parts))
}

async fn partition(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let all = query.without_status();
    let Some(whole) = explorer.read(&all).await? else { return Ok(None) };
    let clause = if all.filters.is_empty() { Clause::SearchStatus } else { Clause::SearchIntersection };
    let (mut expected, mut parts, mut count) = (BTreeSet::new(), Vec::new(), 0);
    for status in &explorer.probe.contract().search.statuses {
        let Some(part) = explorer.read(&query.of_status(status)).await? else { return Ok(None) };
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
    let Some(given) = explorer.read(query).await? else { return Ok(None) };
    let request = query.request(explorer.probe, explorer.survey, true);
    let Some(reversed) = explorer.send(&request).await? else { return Ok(None) };
    let what = "what is found with items and members in another order";
    let exchanges = given.exchanges.clone();
    Ok(differ(query.clause(), what, &given.ids(), &reversed, exchanges))
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

async fn first_text(explorer: &mut Explorer<'_, '_>, query: &Query) -> Read<BrokenRelation> {
    let Some(request) = query.respelt(explorer.probe, explorer.survey) else { return Ok(None) };
    let Some(given) = explorer.read(query).await? else { return Ok(None) };
    let Some(respelt) = explorer.send(&request).await? else { return Ok(None) };
    let what = "what is found without a second spelling of an address";
    let exchanges = given.exchanges.clone();
    Ok(differ(Clause::SearchIpsFirstText, what, &given.ids(), &respelt, exchanges))
}

/// The difference between a result and what it should be; `parts` are the exchanges that say what it should be.
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
