use super::comparison::{compared, few, same};
use super::response::wrong;
use super::*;
use crate::contract::Unspecified;
use crate::names;

names! {
    /// What holds between the results of searches, or between a result and the survey, for any data. Rows of searches begin with the name.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum Relation {
        /// A search finds exactly the surveyed instances that its items and filters match, each once.
        Survey => "finds",
        /// It finds these, and may find others: some of its items were not surveyed.
        Contains => "contains",
        /// Everything that it finds matches its items and filters.
        Matching => "matching",
        /// A batch finds the union of what its halves find.
        Union => "union",
        /// Filters find the intersection of what both parts of them find.
        Intersection => "intersection",
        /// The results for each value that the document lists partition a result.
        Partition => "partition",
        /// The order of items and members does not matter.
        Order => "order",
        /// Second spellings of its addresses change nothing.
        FirstText => "respelled",
        /// Pages of its size are full but the last, have no instance in common, and together are the expected ones.
        Pages => "pages",
        /// Its page has the number of instances that the survey says, the total, and the page and size that were asked for.
        Page => "page",
        /// Its page has the same instances in the same order each time.
        Still => "still",
        /// A page without its number or its size is the page with the default.
        Default => "default",
    }
}

/// None when a search was not accepted, and so nothing is judged.
type Read<T> = Result<Option<T>, Stop>;

type Judged = Result<Vec<Difference>, Stop>;

/// Reads what relations compare.
pub(crate) struct Reader<'a, 'p> {
    pub(crate) probe: &'a Probe<'p>,
    pub(crate) survey: &'a Survey,
    /// An exploration judges nothing by a rejection, and reads each result in the largest pages.
    pub(crate) explores: bool,
    pub(crate) pages: u64,
}

impl<'a, 'p> Reader<'a, 'p> {
    pub(crate) fn new(probe: &'a Probe<'p>, survey: &'a Survey, explores: bool) -> Self {
        Self { probe, survey, explores, pages: 0 }
    }

    /// The result of a query. If a rejection of it violates its clause, that is a finding; else the case is inconclusive.
    pub(super) async fn read(&mut self, query: &Query, by_rule: bool) -> Read<ResultSet> {
        let (probe, clause) = (self.probe, query.clause());
        // What is no rule of its own is read in the largest pages.
        let size = query.size.filter(|_| by_rule && !self.explores && !query.is_open);
        let (request, what) = (Query { size, ..query.clone() }.request(probe), query.describe());
        let found = match (self.explores, query.is_open, by_rule) {
            (true, ..) => unless_undecided(read(probe, &request).await)?,
            (_, true, _) => read_unless_rejected(probe, clause, &what, &request).await?,
            (_, _, true) => read_accepted(probe, clause, &what, &request).await?,
            _ => Some(read(probe, &request).await?),
        };
        self.count(found.as_ref().map_or(1, |found| found.exchanges.len()));
        Ok(found)
    }

    async fn page(&mut self, query: &Query, number: i64, size: i64) -> Read<Page> {
        self.count(1);
        let request = Query { page: Some(number), size: Some(size), ..query.clone() }.request(self.probe);
        let read = page(self.probe, &request, number, size).await;
        if self.explores { unless_undecided(read) } else { read.map(Some) }
    }

    fn count(&mut self, pages: usize) {
        self.pages = self.pages.saturating_add(u64::try_from(pages).unwrap_or(u64::MAX));
    }
}

/// None for a rejection, throttling and an invalid response, which violate no relation.
fn unless_undecided<T>(read: Result<T, Stop>) -> Read<T> {
    match read {
        Err(Stop::Inconclusive(_) | Stop::Skip(_)) => Ok(None),
        read => read.map(Some),
    }
}

impl Relation {
    /// Those that an exploration tests.
    pub(crate) const EXPLORED: [Self; 7] = [
        Self::Survey,
        Self::Union,
        Self::Intersection,
        Self::Partition,
        Self::Order,
        Self::Pages,
        Self::FirstText,
    ];

    /// The one of rows with that name; the others are for explorations alone, which make the filters that they need.
    pub(crate) fn of_rows(name: &str) -> Option<Self> {
        Self::named(name).filter(|known| !matches!(known, Self::Intersection | Self::Partition | Self::Order))
    }

    /// The clause that a wrong result of a query violates; none if the relation has several questions.
    pub(super) fn clause(self, query: &Query) -> Option<Clause> {
        let is_one = matches!(self, Self::Survey | Self::Contains | Self::Matching);
        is_one.then(|| query.clause())
    }

    /// How the results of a query violate the relation. Empty when it holds, does not apply, or can't be judged. Items that are no
    /// addresses are an error, since what they find is unknown.
    pub(crate) async fn judge(self, reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
        if Items::read(&query.items).is_none() {
            return Err(Stop::Error(format!("an item is no address: {}", query.describe())));
        }
        match self {
            Self::Survey => finds(reader, query).await,
            Self::Contains | Self::Matching => self.one_sided(reader, query).await,
            Self::Union | Self::Intersection | Self::Partition | Self::Order | Self::FirstText => {
                self.combined(reader, query).await
            }
            Self::Pages => pages(reader, query).await,
            Self::Page => one_page(reader, query).await,
            Self::Still => still(reader, query).await,
            Self::Default => default(reader, query).await,
        }
    }

    async fn one_sided(self, reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
        let Some(found) = reader.read(query, self == Self::Contains).await? else { return Ok(Vec::new()) };
        let what = query.describe();
        let (count, expected, example) = match self {
            Self::Contains => {
                let missing: Vec<_> =
                    query.expected(reader.survey).difference(&found.ids()).copied().collect();
                let example = missing.first().map(|id| format!("{id} is missing"));
                (missing.len(), format!("{what} finds the instances of known addresses"), example)
            }
            _ => {
                let mut misfits = misfits(query, &reader.survey.orders, found.instances.values());
                // With filters, the items are the question of other searches.
                misfits.retain(|(clause, ..)| is_of_filter(*clause) != query.filters.is_empty());
                let example = misfits.first().map(|(.., actual)| actual.clone());
                (misfits.len(), format!("{what} finds only what matches"), example)
            }
        };
        let actual =
            format!("{}, such as: {}", quantity(count, "wrong instance"), example.unwrap_or_default());
        Ok(differences([(count > 0, query.clause(), expected, actual)], found.exchanges, None))
    }

    /// A query, others whose results together are its result, the clause, and what they find.
    fn parts(
        self,
        reader: &Reader<'_, '_>,
        query: &Query,
    ) -> Option<(Query, Vec<Query>, Clause, &'static str)> {
        let halves = |count: usize| (count > 1).then_some(count / 2);
        let with_items = |items: &[String]| Query { items: items.to_vec(), ..query.clone() };
        let with_filters = |filters: &[Filter]| Query { filters: filters.to_vec(), ..query.clone() };
        Some(match self {
            Self::Union => {
                let (first, second) = query.items.split_at(halves(query.items.len())?);
                let what = "what the two halves of the batch find";
                (query.clone(), vec![with_items(first), with_items(second)], query.match_clause(), what)
            }
            Self::Intersection => {
                let (first, second) = query.filters.split_at(halves(query.filters.len())?);
                let parts = vec![with_filters(first), with_filters(second)];
                (query.clone(), parts, SearchIntersection, "what both parts of the filters find")
            }
            Self::Partition => {
                let kind = kinds().find(|kind| !kind.listed().is_empty())?;
                let mut all = query.clone();
                all.filters.retain(|filter| filter.kind.index != kind.index);
                let clause = if all.filters.is_empty() { kind.clause } else { SearchIntersection };
                let parts = kind.listed().into_iter().map(|filter| all.clone().filtered([filter])).collect();
                (all, parts, clause, "what is found under each status")
            }
            Self::FirstText => {
                // One second spelling keeps the requests of an exploration small.
                let most = if reader.explores { 1 } else { usize::MAX };
                let again = query.items.iter().filter_map(|item| reader.survey.respelt(item));
                let again: Vec<_> = again.take(most).collect();
                let mut whole = Some(query.clone()).filter(|_| !again.is_empty())?;
                whole.items.extend(again);
                let what = "what is found without second spellings of addresses";
                (whole, vec![query.clone()], SearchIpsFirstText, what)
            }
            Self::Order => {
                let whole = Query { writing: Writing::Reversed, ..query.clone() };
                let what = "what is found with items and members in another order";
                (whole, vec![query.clone()], query.clause(), what)
            }
            Self::Survey
            | Self::Contains
            | Self::Matching
            | Self::Pages
            | Self::Page
            | Self::Still
            | Self::Default => return None,
        })
    }

    /// How the parts of a query differ from the whole, which is read first: if it is the same afterwards, nothing changed meanwhile.
    async fn combined(self, reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
        let parts = self.parts(reader, query);
        let Some((whole, parts, clause, what)) = parts else { return Ok(Vec::new()) };
        // A second spelling is as good as the first one.
        let by_rule = self == Self::FirstText;
        let Some(result) = reader.read(&whole, by_rule).await? else { return Ok(Vec::new()) };
        let (mut found, mut exchanges) = (Vec::new(), Vec::new());
        for part in &parts {
            let Some(part) = reader.read(part, by_rule).await? else { return Ok(Vec::new()) };
            found.push(part.ids());
            exchanges.extend(part.exchanges);
        }
        let counted: usize = found.iter().map(BTreeSet::len).sum();
        let is_intersection = self == Self::Intersection;
        let combine = |one: BTreeSet<i64>, other| if is_intersection { &one & &other } else { &one | &other };
        let expected = found.into_iter().reduce(combine).unwrap_or_default();
        if self == Self::Partition && counted != expected.len() {
            let actual = format!("{}, {counted} counted by status", quantity(expected.len(), "instance"));
            let expected = "each instance under one status".to_owned();
            let references = Some(Vec::new());
            return Ok(vec![Difference { clause, expected, actual, exchanges, references }]);
        }
        let what = format!("{}: {what}", whole.describe());
        let difference = same(clause, &what, &expected, &result)
            .map(|difference| Difference { references: Some(exchanges), ..difference });
        Ok(difference.into_iter().collect())
    }
}

async fn finds(reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
    let Some(found) = reader.read(query, true).await? else { return Ok(Vec::new()) };
    let (what, expected) = (query.describe(), query.expected(reader.survey));
    if let Some(difference) = same(query.clause(), &what, &expected, &found) {
        // What fits the items and was not surveyed may be missing from the survey, which asks without ports.
        let adds = found.instances.values().filter(|instance| !expected.contains(&instance.id));
        let has_more = adds.clone().count() > 0 && expected.is_subset(&found.ids());
        let fits = misfits(query, &reader.survey.orders, adds).is_empty();
        let is_of_ports = has_more && fits && difference.clause == SearchMatchPort;
        let other = if is_of_ports { without_ports(reader, query, &found).await? } else { None };
        return Ok(vec![other.unwrap_or(difference)]);
    }
    let total = expected.len() as u64;
    let (expected, actual) = (format!("total {total}: {what}"), format!("{:?} on its pages", found.totals));
    let row = (found.totals.iter().any(|shown| *shown != total), SearchTotal, expected, actual);
    Ok(differences([row], found.exchanges, None))
}

/// How a search for the addresses alone contradicts one that found more at some of their ports.
async fn without_ports(reader: &mut Reader<'_, '_>, query: &Query, found: &ResultSet) -> Read<Difference> {
    let clause = SearchMatchAnyPort;
    let ips: BTreeSet<_> = query.items.iter().filter_map(|item| Some(address_of(item)?.0)).collect();
    let bare = Query { items: ips.into_iter().map(|ip| reader.survey.spelt(ip)).collect(), ..query.clone() };
    if reader.explores || !reader.probe.cites(clause) {
        return Ok(None);
    }
    let Some(all) = reader.read(&bare, false).await? else { return Ok(None) };
    let missing = &found.ids() - &all.ids();
    let expected = format!("{} finds whatever {} finds", bare.describe(), query.describe());
    let actual = format!("missing {}", few(&missing));
    let references = Some(found.exchanges.clone());
    let difference = Difference { clause, expected, actual, exchanges: all.exchanges, references };
    Ok((!missing.is_empty()).then_some(difference))
}

/// Maximum number of pages that an exploration reads of one result, however many instances it has.
const MAX_EXPLORED_PAGES: usize = 4;

async fn pages(reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
    let search = &reader.probe.contract().search;
    let largest = usize::try_from(*search.page_sizes.end()).unwrap_or(usize::MAX);
    let mut size = query.size.map_or(largest, |size| usize::try_from(size).unwrap_or(largest)).max(1);
    let mut expected = query.expected(reader.survey);
    if reader.explores {
        // Whether the whole result is right is the question of other relations.
        let Some(whole) = reader.read(query, false).await? else { return Ok(Vec::new()) };
        size = whole.instances.len().div_ceil(MAX_EXPLORED_PAGES).max(size).min(largest);
        expected = whole.ids();
    }
    let count = expected.len().div_ceil(size).max(1);
    let mut pages = Vec::new();
    for number in (*search.pages.start()..).take(count) {
        let Some(page) = reader.page(query, number, size as i64).await? else { return Ok(Vec::new()) };
        pages.push(page);
    }
    let ids: Vec<i64> = pages.iter().flat_map(Page::ids).collect();
    let found: BTreeSet<i64> = ids.iter().copied().collect();
    let repeated = ids.len() - found.len();
    let lengths: Vec<_> = pages.iter().map(|page| page.items.len()).collect();
    let wanted: Vec<_> =
        (0..count).map(|page| size.min(expected.len() - (page * size).min(expected.len()))).collect();
    let totals: Vec<_> = pages.iter().map(|page| page.total).collect();
    let total = expected.len() as u64;
    let what = Query { size: query.size.map(|_| size as i64), ..query.clone() }.describe();
    let all = format!("pages of {what} have {}", quantity(total, "instance"));
    let full = format!("pages of {what} have {wanted:?} instances, each of them once");
    let lengths_shown = format!("{lengths:?}, {repeated} of them repeated");
    let with_total = format!("total {total} on each page of {what}");
    let is_other = totals.iter().any(|shown| *shown != total);
    let clause = query.cites.unwrap_or(SearchPaging);
    let rows = [
        (found != expected, clause, all, compared(&expected, &found)),
        (lengths != wanted || repeated > 0, SearchPaging, full, lengths_shown),
        (is_other, SearchTotal, with_total, format!("{totals:?}")),
    ];
    Ok(differences(rows, pages.into_iter().map(|page| page.exchange), None))
}

/// The differences of those rows that are wrong: whether one is, the clause, and what was expected and found.
fn differences(
    rows: impl IntoIterator<Item = (bool, Clause, String, String)>,
    exchanges: impl IntoIterator<Item = Exchange>,
    reference: Option<Exchange>,
) -> Vec<Difference> {
    let exchanges: Vec<_> = exchanges.into_iter().collect();
    let references = reference.map(|reference| vec![reference]);
    let difference = |(clause, expected, actual)| {
        let (exchanges, references) = (exchanges.clone(), references.clone());
        Difference { clause, expected, actual, exchanges, references }
    };
    wrong(rows).map(difference).collect()
}

async fn one_page(reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
    let probe = reader.probe;
    let search = &probe.contract().search;
    let total = query.expected(reader.survey).len() as i64;
    let (number, size) = query.page_or_default(search);
    let before = number.saturating_sub(*search.pages.start()).saturating_mul(size);
    let wanted = total.saturating_sub(before).clamp(0, size);
    let what = query.describe();
    let accepted = if before > 0 && wanted == 0 {
        let (exchange, class) = probe.send(&query.request(probe)).await?;
        match (accepted(&exchange, &class), class) {
            (Some(accepted), _) => accepted,
            (None, ResponseClass::ServerError(actual)) => {
                let expected = format!("{what}: past the last page, so empty or rejected");
                return Ok(differences([(true, SearchPaging, expected, actual)], [exchange], None));
            }
            (None, class) => {
                let text = format!("rejected: {}", class.description());
                probe.observe(Unspecified::SearchPagePastEnd, &text);
                return Ok(Vec::new());
            }
        }
    } else {
        probe.control(&query.request(probe)).await?
    };
    let echoed = echo(search, query, &accepted.response).into_iter();
    let echoed = echoed.map(|(clause, wanted, shown)| (true, clause, format!("{wanted} for {what}"), shown));
    let Page { items, total: counted, exchange } = Page::read(probe, accepted)?;
    let (count, clause) = (items.len() as i64, query.cites.unwrap_or(SearchPaging));
    let full = format!("{} for {what}", quantity(wanted, "instance"));
    let with_total = format!("total {total} for {what}");
    let rows = [
        (count != wanted, clause, full, count.to_string()),
        (i64::try_from(counted) != Ok(total), SearchTotal, with_total, counted.to_string()),
    ];
    Ok(differences(echoed.chain(rows), [exchange], None))
}

async fn still(reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
    const REPEATS: usize = 2;
    let (Some(number), Some(size)) = (query.page, query.size) else { return Ok(Vec::new()) };
    let Some(before) = reader.page(query, number, size).await? else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for _ in 0..REPEATS {
        let Some(again) = reader.page(query, number, size).await? else { return Ok(Vec::new()) };
        let expected = format!("page {number} of {size} each time in the same order: {:?}", before.ids());
        let row = (again.ids() != before.ids(), SearchPaging, expected, format!("{:?}", again.ids()));
        found.extend(differences([row], [again.exchange], Some(before.exchange.clone())));
    }
    Ok(found)
}

/// The page with the default must have the same instances, in the same order, as the page with the explicit value.
async fn default(reader: &mut Reader<'_, '_>, query: &Query) -> Judged {
    let probe = reader.probe;
    let search = &probe.contract().search;
    let (number, size) = query.page_or_default(search);
    let Some(explicit) = reader.page(query, number, size).await? else { return Ok(Vec::new()) };
    let (clause, what) = (query.clause(), query.describe());
    let accepted = probe.accepts(clause, &what, &query.request(probe)).await?;
    let Some(accepted) = accepted else { return Ok(Vec::new()) };
    let default = Page::read(probe, accepted)?;
    let expected = format!("{what} has the instances of page {number} of {size}: {:?}", explicit.ids());
    let row = (default.ids() != explicit.ids(), clause, expected, format!("{:?}", default.ids()));
    Ok(differences([row], [default.exchange], Some(explicit.exchange)))
}
