//! `page` and `pageSize`: their ranges, their defaults and their effect.

use super::SEARCH;
use super::addresses;
use super::cases::{boundary_cases, invalid_members, surveyed, surveyed_case};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Page, lacks_addresses, page, survey};
use crate::contract::Clause;
use crate::grammar::{by_reason, json_integers};
use crate::quantity::quantity;
use crate::target::Fact;

pub(super) static PAGE_BOUNDARIES: Check = Check {
    id: "search.page.boundaries",
    title: "`page` outside its range or of another type is rejected",
    why: "If an invalid page number is corrected silently, a page is repeated, and a loop over all pages never ends.",
    clauses: &[Clause::SearchPage],
    run: Run::Cases(page_boundaries),
    ..SEARCH
};

pub(super) static PAGE_DEFAULT: Check = Check {
    id: "search.page.default",
    title: "a search without `page` returns the default page",
    why: "Most callers never send a page. They miss instances if they do not get the first page.",
    clauses: &[Clause::SearchPage],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(10), page_default)),
    ..SEARCH
};

pub(super) static PAGE_SIZE_BOUNDARIES: Check = Check {
    id: "search.page-size.boundaries",
    title: "`pageSize` inside its range is accepted; outside its range or of another type it is rejected",
    why: "If a page size is reduced silently, a caller takes one page for the whole result.",
    clauses: &[Clause::SearchPageSize],
    run: Run::Cases(page_size_boundaries),
    ..SEARCH
};

pub(super) static PAGE_SIZE_DEFAULT: Check = Check {
    id: "search.page-size.default",
    title: "a search without `pageSize` returns the default number of instances per page",
    why: "A caller that computes pages from the documented default misses or repeats instances when the default is another one.",
    clauses: &[Clause::SearchPageSize, Clause::SearchPage],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = [
            ("the first page", 0, false),
            ("the second page", 1, false),
            ("the first page of a full batch", 0, true),
            ("the second page of a full batch", 1, true),
        ];
        surveyed(cases.map(|(label, index, full)| (label, 2, (index, full))), page_size_default)
    }),
    ..SEARCH
};

pub(super) static PAGE_SIZE_MAX: Check = Check {
    id: "search.page-size.most",
    title: "a page has as many instances as `pageSize` requests, up to the maximum size",
    why: "Large exports read pages of the maximum size. A lower limit truncates them.",
    clauses: &[Clause::SearchPageSize, Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases: [(&str, Size); 5] = [
            ("the smallest size", |_| 0),
            ("one below the number of instances", |count| count.saturating_sub(1)),
            ("the number of instances", |count| count),
            ("one above the number of instances", |count| count + 1),
            ("the largest size", |_| usize::MAX),
        ];
        let sizes = surveyed(cases.map(|(label, size)| (label, 1, size)), page_size_max);
        let last = surveyed_case("the largest page of the largest size", 1, last_page);
        sizes.into_iter().chain([last]).collect()
    }),
    ..SEARCH
};

/// A page size for a number of instances, before it is clamped to its range.
type Size = fn(usize) -> usize;

/// Large page numbers are not tested as valid, since a service may reject a page past the last one.
fn page_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let search = &scope.contract.search;
    let first = *search.pages.start();
    let mut cases = boundary_cases(scope, |search| &search.page, |case| case.allowed && case.value == first);
    cases.extend(invalid_members(search, |search| &search.page, by_reason(json_integers(&search.pages))));
    cases
}

fn page_size_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let mut cases = boundary_cases(scope, |search| &search.page_size, |case| case.allowed);
    let reasons = by_reason(json_integers(&scope.contract.search.page_sizes));
    cases.extend(invalid_members(&scope.contract.search, |search| &search.page_size, reasons));
    cases
}

async fn page_default(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let plain = probe.any_search().without_field(&search.page.name);
    // The control has a page, in case the service wrongly requires one.
    probe.control_once(&plain.clone().field(&search.page.name, search.default_page)).await?;
    if probe.accepts(Clause::SearchPage, "neither page nor pageSize", &plain).await?.is_none() {
        return Ok(());
    }
    let sized = plain.field(&search.page_size.name, search.default_page_size);
    if probe.accepts(Clause::SearchPage, "a pageSize without page", &sized).await?.is_none() {
        return Ok(());
    }
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let size = survey.page_size(3);
    let explicit = page(probe, &survey.request, search.default_page, size).await?;
    let without = survey.request.clone().without_field(&search.page.name);
    let without = without.field(&search.page_size.name, size);
    if let Some(accepted) = probe.accepts(Clause::SearchPage, "a search without page", &without).await? {
        let default = Page::read(probe, accepted)?;
        let expected = format!("the instances of page {} when `page` is absent", search.default_page);
        same_page(&mut comparison, Clause::SearchPage, &expected, &explicit, &default);
    }
    comparison.conclude(probe).await
}

/// The page with the default must have the same instances, in the same order, as the page with the explicit value.
fn same_page(
    comparison: &mut Comparison<'_>,
    clause: Clause,
    expected: &str,
    explicit: &Page,
    default: &Page,
) {
    if default.ids() != explicit.ids() {
        let (expected, actual) =
            (format!("{expected}: {:?}", explicit.ids()), format!("{:?}", default.ids()));
        comparison.differs(clause, expected, actual, &[&explicit.exchange, &default.exchange]);
    }
}

async fn page_size_default(probe: &Probe<'_>, (index, is_full): (usize, bool)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let size = search.default_page_size;
    let Some(number) = survey.pages(search, size).nth(index) else {
        return Err(lacks_addresses(
            probe,
            "the searched addresses have too few instances",
            "more addresses",
        ));
    };
    let mut request = survey.request.clone();
    if is_full {
        // Fills the batch with unknown addresses.
        let own: Vec<String> = survey.addresses.iter().map(|ip| survey.spelt(*ip)).collect();
        let others =
            addresses::distinct(search.distinct_items).into_iter().filter(|item| !own.contains(item));
        let items: Vec<String> = own.iter().cloned().chain(others).take(search.distinct_items).collect();
        request = request.field(&search.ips.name, items);
    }
    let explicit = page(probe, &request, number, size).await?;
    let without = request.field(&search.page.name, number);
    let batch = if is_full { ", of a full batch" } else { "" };
    let what = format!("page {number} without pageSize{batch}");
    if let Some(accepted) = probe.accepts(Clause::SearchPageSize, &what, &without).await? {
        let default = Page::read(probe, accepted)?;
        let expected = format!("{what} has the same instances as with pageSize={size}");
        same_page(&mut comparison, Clause::SearchPageSize, &expected, &explicit, &default);
    }
    comparison.conclude(probe).await
}

/// The largest page of the largest size is past every instance, so it must be empty or rejected.
async fn last_page(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let request = survey.request.clone().field(&search.page.name, *search.pages.end());
    let request = request.field(&search.page_size.name, *search.page_sizes.end());
    let (exchange, is_accepted) = probe.is_accepted(&request).await?;
    let items = exchange.result.as_ref().ok().and_then(|response| response.at("/data/items")?.as_array());
    let count = items.map_or(0, Vec::len);
    if is_accepted && count > 0 {
        let expected = format!("rejected, or no instance on page {}", search.pages.end());
        probe.finding(Clause::SearchPaging, &expected, &quantity(count, "instance"), &[&exchange]);
    }
    Ok(())
}

async fn page_size_max(probe: &Probe<'_>, size: Size) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let max = usize::try_from(*search.page_sizes.end()).unwrap_or(usize::MAX);
    let min = usize::try_from(*search.page_sizes.start()).unwrap_or(1);
    let count = survey.instances.len();
    let size = size(count).clamp(min, max);
    let number = i64::try_from(size).unwrap_or(i64::MAX);
    let first = page(probe, &survey.request, *search.pages.start(), number).await?;
    if first.items.len() != size.min(count) {
        let expected = format!("{} of {} on a page of {size}", size.min(count), quantity(count, "instance"));
        let actual = first.items.len().to_string();
        comparison.differs(Clause::SearchPageSize, expected, actual, &[&first.exchange]);
    }
    comparison.conclude(probe).await
}
