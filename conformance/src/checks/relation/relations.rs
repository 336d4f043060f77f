use std::collections::BTreeSet;

use super::comparison::{Difference, few, same};
use super::query::Items;
use super::response::{echo, misfits};
use super::result::{read_accepted_in, read_unless_rejected};
use super::{Page, Query, ResultSet, Survey, page, read};
use crate::check::{Probe, ResponseClass, Stop, accepted};
use crate::contract::{Clause, Unspecified};
use crate::quantity::quantity;
use crate::wire::Exchange;

/// What holds between the results of searches, or between a result and the survey, for any data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Relation {
    /// A search finds exactly the surveyed instances that its items and filters match, each once.
    Survey,
    /// It finds these, and may find others: some of its items were not surveyed.
    Contains,
    /// Everything that it finds matches its items and filters.
    Matching,
    /// Second spellings of its addresses change nothing.
    FirstText,
    /// Pages of its size are full but the last, have no instance in common, and together are the expected ones.
    Pages,
    /// Its page has the number of instances that the survey says, the total, and the page and size that were asked for.
    Page,
    /// Its page has the same instances in the same order each time.
    Still,
    /// A page without its number or its size is the page with the default.
    Default,
}

/// None when a search was not accepted, and so nothing is judged.
type Read<T> = Result<Option<T>, Stop>;

/// The result of a query. If a rejection of it violates its clause, that is a finding; else the case is inconclusive.
pub(super) async fn result(probe: &Probe<'_>, query: &Query, by_rule: bool) -> Read<ResultSet> {
    let (clause, search) = (query.clause(), &probe.contract().search);
    let (request, what) = (query.request(probe), query.describe(search));
    match (query.is_open, by_rule) {
        (true, _) => read_unless_rejected(probe, clause, &what, &request).await,
        (_, true) => {
            let size = query.size.unwrap_or(*search.page_sizes.end());
            read_accepted_in(probe, clause, &what, &request, size).await
        }
        _ => read(probe, &request).await.map(Some),
    }
}

async fn one_of_pages(probe: &Probe<'_>, query: &Query, number: i64, size: i64) -> Result<Page, Stop> {
    page(probe, &query.clone().on_page(number, size).request(probe), number, size).await
}

impl Relation {
    /// The clause that a wrong result of a query violates; none if the relation has several questions.
    pub(super) fn clause(self, query: &Query) -> Option<Clause> {
        let is_one = matches!(self, Self::Survey | Self::Contains | Self::Matching);
        is_one.then(|| query.clause())
    }

    /// How the results of a query violate the relation. Empty when it holds, does not apply, or can't be judged.
    ///
    /// # Errors
    /// For items that are no addresses too, since what they find is unknown.
    pub(crate) async fn judge(
        self,
        probe: &Probe<'_>,
        survey: &Survey,
        query: &Query,
    ) -> Result<Vec<Difference>, Stop> {
        if Items::read(&query.items).is_none() {
            let search = &probe.contract().search;
            return Err(Stop::Error(format!("an item is no address: {}", query.describe(search))));
        }
        let differences = match self {
            Self::Survey => finds(probe, survey, query).await?,
            Self::Contains | Self::Matching => self.one_sided(probe, survey, query).await?,
            Self::FirstText => first_text(probe, survey, query).await?,
            Self::Pages => pages(probe, survey, query).await?,
            Self::Page => one_page(probe, survey, query).await?,
            Self::Still => still(probe, query).await?,
            Self::Default => default(probe, query).await?,
        };
        Ok(differences.unwrap_or_default())
    }

    async fn one_sided(self, probe: &Probe<'_>, survey: &Survey, query: &Query) -> Read<Vec<Difference>> {
        let Some(found) = result(probe, query, self == Self::Contains).await? else { return Ok(None) };
        let search = &probe.contract().search;
        let what = query.describe(search);
        let instances = || found.instances.values();
        let (wrong, expected, example) = match self {
            Self::Contains => {
                let missing: Vec<_> = query.expected(survey).difference(&found.ids()).copied().collect();
                let example = missing.first().map(|id| format!("{id} is missing"));
                (missing.len(), format!("{what} finds the instances of known addresses"), example)
            }
            _ => {
                let mut misfits = misfits(query, &survey.orders, instances());
                // With filters, the items are the question of other searches.
                misfits.retain(|misfit| misfit.is_of_filter != query.filters.is_empty());
                let example = misfits.first().map(|misfit| misfit.actual.clone());
                (misfits.len(), format!("{what} finds only what matches"), example)
            }
        };
        Ok(Some(example.map_or_else(Vec::new, |example| {
            let actual = format!("{}, such as: {example}", quantity(wrong, "wrong instance"));
            vec![Difference { clause: query.clause(), expected, actual, exchanges: found.exchanges }]
        })))
    }
}

async fn first_text(probe: &Probe<'_>, survey: &Survey, query: &Query) -> Read<Vec<Difference>> {
    let again: Vec<_> = query.items.iter().filter_map(|item| survey.respelt(item)).collect();
    if again.is_empty() {
        return Ok(None);
    }
    let mut whole = query.clone();
    whole.items.extend(again);
    // A second spelling is as good as the first one.
    let Some(found) = result(probe, &whole, true).await? else { return Ok(None) };
    let Some(first) = result(probe, query, true).await? else { return Ok(None) };
    let what = whole.describe(&probe.contract().search);
    let what = format!("{what}: what is found without second spellings of addresses");
    let mut difference = same(Clause::SearchIpsFirstText, &what, &first.ids(), &found);
    if let Some(difference) = &mut difference {
        difference.exchanges.extend(first.exchanges);
    }
    Ok(Some(difference.into_iter().collect()))
}

async fn finds(probe: &Probe<'_>, survey: &Survey, query: &Query) -> Read<Vec<Difference>> {
    let Some(found) = result(probe, query, true).await? else { return Ok(None) };
    let (what, expected) = (query.describe(&probe.contract().search), query.expected(survey));
    if let Some(difference) = same(query.clause(), &what, &expected, &found) {
        return Ok(Some(vec![difference]));
    }
    let is_wrong = found.totals.iter().any(|total| usize::try_from(*total) != Ok(expected.len()));
    let (expected, actual) =
        (format!("total {}: {what}", expected.len()), format!("{:?} on its pages", found.totals));
    Ok(Some(wrong([(is_wrong, Clause::SearchTotal, expected, actual)], found.exchanges)))
}

async fn pages(probe: &Probe<'_>, survey: &Survey, query: &Query) -> Read<Vec<Difference>> {
    let search = &probe.contract().search;
    let size = usize::try_from(query.size.unwrap_or(*search.page_sizes.end())).unwrap_or(usize::MAX).max(1);
    let expected = query.expected(survey);
    let count = expected.len().div_ceil(size).max(1);
    let mut pages = Vec::new();
    for number in (*search.pages.start()..).take(count) {
        pages.push(one_of_pages(probe, query, number, i64::try_from(size).unwrap_or(i64::MAX)).await?);
    }
    let ids: Vec<i64> = pages.iter().flat_map(Page::ids).collect();
    let found: BTreeSet<i64> = ids.iter().copied().collect();
    let lengths: Vec<_> = pages.iter().map(|page| page.items.len()).collect();
    let wanted: Vec<_> =
        (0..count).map(|page| size.min(expected.len() - (page * size).min(expected.len()))).collect();
    let totals: Vec<_> = pages.iter().map(|page| page.total).collect();
    let what = Query { size: i64::try_from(size).ok().filter(|_| query.size.is_some()), ..query.clone() };
    let what = what.describe(search);
    let missing: Vec<_> = expected.difference(&found).collect();
    let added: Vec<_> = found.difference(&expected).collect();
    let repeated = ids.len() - found.len();
    let rows = [
        (
            found != expected,
            query.cites.unwrap_or(Clause::SearchPaging),
            format!("pages of {what} have {}", quantity(expected.len(), "instance")),
            format!(
                "{}; missing {}, too many {}",
                quantity(found.len(), "instance"),
                few(&missing),
                few(&added)
            ),
        ),
        (
            lengths != wanted || repeated > 0,
            Clause::SearchPaging,
            format!("pages of {what} have {wanted:?} instances, each of them once"),
            format!("{lengths:?}, {repeated} of them repeated"),
        ),
        (
            totals.iter().any(|total| usize::try_from(*total) != Ok(expected.len())),
            Clause::SearchTotal,
            format!("total {} on each page of {what}", expected.len()),
            format!("{totals:?}"),
        ),
    ];
    Ok(Some(wrong(rows, pages.into_iter().map(|page| page.exchange))))
}

/// The differences of those rows that are wrong: whether one is, the clause, and what was expected and found.
fn wrong(
    rows: impl IntoIterator<Item = (bool, Clause, String, String)>,
    exchanges: impl IntoIterator<Item = Exchange>,
) -> Vec<Difference> {
    let exchanges: Vec<_> = exchanges.into_iter().collect();
    let wrong = rows.into_iter().filter(|row| row.0).map(|(_, clause, expected, actual)| Difference {
        clause,
        expected,
        actual,
        exchanges: exchanges.clone(),
    });
    wrong.collect()
}

async fn one_page(probe: &Probe<'_>, survey: &Survey, query: &Query) -> Read<Vec<Difference>> {
    let search = &probe.contract().search;
    let total = i64::try_from(query.expected(survey).len()).unwrap_or(i64::MAX);
    let (number, size) =
        (query.page.unwrap_or(search.default_page), query.size.unwrap_or(search.default_page_size));
    let before = number.saturating_sub(*search.pages.start()).saturating_mul(size);
    let wanted = total.saturating_sub(before).clamp(0, size);
    let is_past = before > 0 && wanted == 0;
    let what = query.describe(search);
    let accepted = if is_past {
        let (exchange, class) = probe.send(&query.request(probe)).await?;
        match (accepted(&exchange, &class), class) {
            (Some(accepted), _) => accepted,
            (None, ResponseClass::ServerError(actual)) => {
                let expected = format!("{what}: past the last page, so empty or rejected");
                let clause = Clause::SearchPaging;
                return Ok(Some(vec![Difference { clause, expected, actual, exchanges: vec![exchange] }]));
            }
            (None, class) => {
                let text = format!("rejected: {}", class.description());
                probe.observe(Unspecified::SearchPagePastEnd, &text);
                return Ok(None);
            }
        }
    } else {
        probe.control(&query.request(probe)).await?
    };
    let echoed: Vec<_> = echo(search, query, &accepted.response)
        .into_iter()
        .map(|wrong| {
            let shown = wrong.shown.map_or_else(|| "nothing".to_owned(), ToString::to_string);
            (true, wrong.clause, format!("{} for {what}", wrong.expected), shown)
        })
        .collect();
    let Page { items, total: counted, exchange } = Page::read(probe, accepted)?;
    let rows = [
        (
            i64::try_from(items.len()) != Ok(wanted),
            query.cites.unwrap_or(Clause::SearchPaging),
            format!("{} for {what}", quantity(wanted, "instance")),
            items.len().to_string(),
        ),
        (
            i64::try_from(counted) != Ok(total),
            Clause::SearchTotal,
            format!("total {total} for {what}"),
            counted.to_string(),
        ),
    ];
    Ok(Some(wrong(echoed.into_iter().chain(rows), [exchange])))
}

async fn still(probe: &Probe<'_>, query: &Query) -> Read<Vec<Difference>> {
    const REPEATS: usize = 2;
    let (Some(number), Some(size)) = (query.page, query.size) else { return Ok(None) };
    let before = one_of_pages(probe, query, number, size).await?;
    let mut differences = Vec::new();
    for _ in 0..REPEATS {
        let again = one_of_pages(probe, query, number, size).await?;
        let expected = format!("page {number} of {size} each time in the same order: {:?}", before.ids());
        let row = (again.ids() != before.ids(), Clause::SearchPaging, expected, format!("{:?}", again.ids()));
        differences.extend(wrong([row], [before.exchange.clone(), again.exchange]));
    }
    Ok(Some(differences))
}

/// The page with the default must have the same instances, in the same order, as the page with the explicit value.
async fn default(probe: &Probe<'_>, query: &Query) -> Read<Vec<Difference>> {
    let search = &probe.contract().search;
    let (number, size) =
        (query.page.unwrap_or(search.default_page), query.size.unwrap_or(search.default_page_size));
    let explicit = one_of_pages(probe, query, number, size).await?;
    let (clause, what) = (query.clause(), query.describe(search));
    let Some(accepted) = probe.accepts(clause, &what, &query.request(probe)).await? else { return Ok(None) };
    let default = Page::read(probe, accepted)?;
    let expected = format!("{what} has the instances of page {number} of {size}: {:?}", explicit.ids());
    let row = (default.ids() != explicit.ids(), clause, expected, format!("{:?}", default.ids()));
    Ok(Some(wrong([row], [explicit.exchange, default.exchange])))
}
