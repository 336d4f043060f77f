//! What holds between a query and one response, without the survey.

use super::*;

/// The clause that a response violates, what it should have, and what it has.
pub(crate) type Wrong = (Clause, String, String);

/// The response has the page and the page size of the query. A wrong default cites the clause of that default.
pub(crate) fn echo(search: &Search, query: &Query, response: &Response) -> Vec<Wrong> {
    let pages = (SearchPage, &search.paging.echo.number, query.page, search.default_page);
    let sizes = (SearchPageSize, &search.paging.echo.size, query.size, search.default_page_size);
    let wrong = |(clause, pointer, asked, default): (_, &String, Option<i64>, _)| {
        let (clause, asked, why) = match asked {
            Some(asked) => (SearchPaging, asked, "as requested"),
            None => (clause, default, "the default"),
        };
        let shown = response.at(pointer);
        let expected = format!("{} is {asked}, {why}", pointer[1..].replace('/', "."));
        let actual = shown.map_or_else(|| "nothing".to_owned(), ToString::to_string);
        (shown.and_then(Value::as_i64) != Some(asked)).then_some((clause, expected, actual))
    };
    [pages, sizes].into_iter().filter_map(wrong).collect()
}

/// Every instance of a result matches all filters and one of the items. Items of which one is no address say nothing.
pub(crate) fn misfits<'a>(
    query: &Query,
    orders: &BTreeMap<String, BTreeSet<i64>>,
    instances: impl Iterator<Item = &'a Instance> + Clone,
) -> Vec<Wrong> {
    let of_filter = |filter: &Filter| {
        let expected = format!("only instances that fit {}", filter.describe(None));
        let unfit = instances.clone().filter(|instance| !filter.may_admit(instance, orders));
        let unfit = unfit.map(|instance| {
            let actual = format!("instance {} with {}", instance.id, filter.kind.shown_by(instance));
            (filter.kind.clause, expected.clone(), actual)
        });
        unfit.collect::<Vec<_>>()
    };
    let mut misfits: Vec<Wrong> = query.filters.iter().flat_map(of_filter).collect();
    let Some(items) = Items::read(&query.items) else { return misfits };
    misfits.extend(instances.filter(|instance| !items.find(instance)).map(|instance| {
        let (clause, expected) = match items.have_address(instance.ip) {
            true => (SearchMatchPort, format!("only the requested ports of {}", instance.ip)),
            false => (SearchMatchAnyPort, "only instances at the requested addresses".to_owned()),
        };
        (clause, expected, format!("instance {} at {} port {}", instance.id, instance.ip, instance.port))
    }));
    misfits
}

/// Whether a clause is about a filter, and not about the items.
pub(crate) fn is_of_filter(clause: Clause) -> bool {
    kinds().any(|kind| kind.clause == clause)
}

/// A page has at most its size of instances, only the last one has fewer, the first one is not empty when `total` is above 0,
/// and `total` counts at least what was seen so far.
pub(crate) fn counts(search: &Search, query: &Query, count: u64, total: u64) -> Vec<Wrong> {
    let (page, size) = query.page_or_default(search);
    let (Ok(page), Ok(size)) = (u64::try_from(page), u64::try_from(size)) else { return Vec::new() };
    let first = u64::try_from(*search.pages.start()).unwrap_or(1);
    let before = page.saturating_sub(first).saturating_mul(size);
    let (so_far, rest) = (before.saturating_add(count), total.saturating_sub(before).min(size));
    let fits = if count == 0 { page != first || total == 0 } else { total >= so_far };
    let ends = count == 0 || count >= size || total == so_far;
    let [most, rest, shown] = [size, rest, count].map(|count| quantity(count, "instance"));
    let fitting = format!("a total that fits {shown} on page {page} of {size}");
    // One response does not show whether the total or the number of instances is wrong.
    let full = format!("{rest} (page {page}, {size} a page, {total} in all), or another total");
    let contradicting = format!("{shown}, so that total and page contradict each other");
    let rows = [
        (count > size, SearchPageSize, format!("at most {most} on a page"), count.to_string()),
        (!fits || !ends, SearchTotal, fitting, format!("total {total}")),
        (count > 0 && count < size && total > so_far, SearchPageSize, full, contradicting),
    ];
    wrong(rows).collect()
}

/// Those of the rows that are wrong, as their first element says.
pub(super) fn wrong(
    rows: impl IntoIterator<Item = (bool, Clause, String, String)>,
) -> impl Iterator<Item = Wrong> {
    rows.into_iter().filter(|row| row.0).map(|(_, clause, expected, actual)| (clause, expected, actual))
}
