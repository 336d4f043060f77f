//! What holds between a query and one response, without the survey.

use super::*;

/// A page or a page size that is not the one that was asked for, or its default.
#[derive(Debug)]
pub(crate) struct WrongEcho<'a> {
    pub(crate) clause: Clause,
    pub(crate) expected: String,
    pub(crate) shown: Option<&'a Value>,
}

/// The response has the page and the page size of the query. A wrong default cites the clause of that default.
pub(crate) fn echo<'a>(search: &Search, query: &Query, response: &'a Response) -> Vec<WrongEcho<'a>> {
    let pages = (SearchPage, &search.paging.echo.number, query.page, search.default_page);
    let sizes = (SearchPageSize, &search.paging.echo.size, query.size, search.default_page_size);
    let wrong = |(clause, pointer, asked, default): (_, &String, Option<i64>, _)| {
        let (clause, asked, why) = match asked {
            Some(asked) => (SearchPaging, asked, "as requested"),
            None => (clause, default, "the default"),
        };
        let shown = response.at(pointer);
        let expected = format!("{} is {asked}, {why}", pointer[1..].replace('/', "."));
        (shown.and_then(Value::as_i64) != Some(asked)).then_some(WrongEcho { clause, expected, shown })
    };
    [pages, sizes].into_iter().filter_map(wrong).collect()
}

/// A part of a query that an instance of its result does not match.
#[derive(Debug)]
pub(crate) struct Misfit {
    pub(crate) clause: Clause,
    pub(crate) is_of_filter: bool,
    pub(crate) expected: String,
    pub(crate) actual: String,
}

/// Every instance of a result matches all filters and one of the items. Items of which one is no address say nothing.
pub(crate) fn misfits<'a>(
    query: &Query,
    orders: &BTreeMap<String, BTreeSet<i64>>,
    instances: impl Iterator<Item = &'a Instance> + Clone,
) -> Vec<Misfit> {
    let of_filter = |filter| {
        let filter: &super::Filter = filter;
        let expected = format!("only instances that fit {}", filter.describe(None));
        let unfit = instances.clone().filter(|instance| !filter.may_admit(instance, orders));
        unfit.map(move |instance| Misfit {
            clause: filter.kind.clause,
            is_of_filter: true,
            expected: expected.clone(),
            actual: format!("instance {} with {}", instance.id, filter.kind.shown_by(instance)),
        })
    };
    let mut misfits: Vec<Misfit> = query.filters.iter().flat_map(of_filter).collect();
    let Some(items) = Items::read(&query.items) else { return misfits };
    misfits.extend(instances.filter(|instance| !items.find(instance)).map(|instance| {
        let (clause, expected) = match items.have_address(instance.ip) {
            true => (SearchMatchPort, format!("only the requested ports of {}", instance.ip)),
            false => (SearchMatchAnyPort, "only instances at the requested addresses".to_owned()),
        };
        let actual = format!("instance {} at {} port {}", instance.id, instance.ip, instance.port);
        Misfit { clause, is_of_filter: false, expected, actual }
    }));
    misfits
}

/// A page has at most its size of instances, only the last one has fewer, the first one is not empty when `total` is above 0,
/// and `total` counts at least what was seen so far.
pub(crate) fn counts(
    search: &Search,
    query: &Query,
    count: u64,
    total: u64,
) -> Vec<(Clause, String, String)> {
    let number = |asked: Option<i64>, default: i64| u64::try_from(asked.unwrap_or(default)).ok();
    let page = number(query.page, search.default_page);
    let size = number(query.size, search.default_page_size);
    let (Some(page), Some(size)) = (page, size) else { return Vec::new() };
    let first = u64::try_from(*search.pages.start()).unwrap_or(1);
    let before = page.saturating_sub(first).saturating_mul(size);
    let (so_far, rest) = (before.saturating_add(count), total.saturating_sub(before).min(size));
    let fits = if count == 0 { page != first || total == 0 } else { total >= so_far };
    let ends = count == 0 || count >= size || total == so_far;
    let rows = [
        (
            count > size,
            SearchPageSize,
            format!("at most {} on a page", quantity(size, "instance")),
            count.to_string(),
        ),
        (
            !fits || !ends,
            SearchTotal,
            format!("a total that fits {} on page {page} of {size}", quantity(count, "instance")),
            format!("total {total}"),
        ),
        (
            // One response does not show whether the total or the number of instances is wrong.
            count > 0 && count < size && total > so_far,
            SearchPageSize,
            format!(
                "{} (page {page}, {size} a page, {total} in all), or another total",
                quantity(rest, "instance")
            ),
            format!("{}, so that total and page contradict each other", quantity(count, "instance")),
        ),
    ];
    rows.into_iter()
        .filter(|row| row.0)
        .map(|(_, clause, expected, actual)| (clause, expected, actual))
        .collect()
}
