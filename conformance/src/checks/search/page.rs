//! `page` and `pageSize`: their ranges, their defaults and what they select.

use super::addresses;
use super::cases::{invalid_members, surveyed};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::relation::{Comparison, Page, page, survey};
use crate::checks::{Requests, boundary};
use crate::contract::{Clause, OperationId};
use crate::grammar::{by_reason, json_integers};
use crate::quantity::quantity;
use crate::target::Fact;

pub(super) static PAGE_BOUNDARIES: Check = Check {
    id: "search.page.boundaries",
    title: "`page` outside its range or of another type is rejected",
    why: "A page number that is corrected silently repeats a page, and a loop over all pages never ends.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPage],
    needs: &[],
    run: Run::Cases(page_boundaries),
};

pub(super) static PAGE_DEFAULT: Check = Check {
    id: "search.page.default",
    title: "a search without `page` returns the default page",
    why: "Most callers never send a page. They skip instances if they do not get the first page.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPage],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(10), |probe| Box::pin(page_default(probe)))),
};

pub(super) static PAGE_SIZE_BOUNDARIES: Check = Check {
    id: "search.page-size.boundaries",
    title: "`pageSize` inside its range is accepted; outside of it or of another type it is rejected",
    why: "If a page size is reduced silently, a caller takes one page for the whole result.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPageSize],
    needs: &[],
    run: Run::Cases(page_size_boundaries),
};

pub(super) static PAGE_SIZE_DEFAULT: Check = Check {
    id: "search.page-size.default",
    title: "a search without `pageSize` returns the default number of instances per page",
    why: "A caller that computes pages from the documented default skips or repeats instances when it is another one.",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPageSize, Clause::SearchPage],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| {
        let cases = [
            ("the first page", 0, false),
            ("the second page", 1, false),
            ("the first page of a full batch", 0, true),
            ("the second page of a full batch", 1, true),
        ];
        surveyed(cases.map(|(label, index, full)| (label.to_owned(), 2, (index, full))), |probe, data| {
            Box::pin(page_size_default(probe, data))
        })
    }),
};

pub(super) static PAGE_SIZE_MOST: Check = Check {
    id: "search.page-size.most",
    title: "a page holds as many instances as `pageSize` asks for, up to the largest size",
    why: "Large exports read pages of the largest size. A lower limit truncates them.",
    operation: Some(OperationId::Search),
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
        let sizes = surveyed(cases.map(|(label, size)| (label.to_owned(), 1, size)), |probe, size| {
            Box::pin(page_size_most(probe, size))
        });
        let last = surveyed([("the largest page of the largest size".to_owned(), 1, ())], |probe, ()| {
            Box::pin(last_page(probe))
        });
        sizes.into_iter().chain(last).collect()
    }),
};

/// A page size for a number of instances, before it is brought into its range.
type Size = fn(usize) -> usize;

/// A page past the last one may be rejected, so no large page has to be accepted.
fn page_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let search = &scope.contract.search;
    let first = *search.pages.start();
    let mut cases = boundary::cases(scope, |search| &search.page, |case| case.allowed && case.value == first);
    cases.extend(invalid_members(search, |search| &search.page, by_reason(json_integers(&search.pages))));
    cases
}

fn page_size_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let mut cases = boundary::cases(scope, |search| &search.page_size, |case| case.allowed);
    let reasons = by_reason(json_integers(&scope.contract.search.page_sizes));
    cases.extend(invalid_members(&scope.contract.search, |search| &search.page_size, reasons));
    cases
}

async fn page_default(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let plain = probe.any_search().without_field(&search.page.name);
    // A service that wrongly asks for a page accepts no search without one, so that the control names it.
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
        if default.ids() != explicit.ids() {
            let expected = format!(
                "the instances of page {} when `page` is absent: {:?}",
                search.default_page,
                explicit.ids()
            );
            let exchanges = [&explicit.exchange, &default.exchange];
            comparison.differs(Clause::SearchPage, expected, format!("{:?}", default.ids()), &exchanges);
        }
    }
    comparison.conclude(probe).await
}

async fn page_size_default(probe: &Probe<'_>, (index, is_full): (usize, bool)) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let size = search.default_page_size;
    let Some(number) = survey.pages(search, size).nth(index) else {
        return Err(probe.skip_lacking(
            "the surveyed addresses hold too few instances",
            "more addresses",
            Fact::OwnAddresses,
        ));
    };
    let mut request = survey.request.clone();
    if is_full {
        // Unknown addresses fill the batch up.
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
        if default.ids() != explicit.ids() {
            let expected =
                format!("{what} has the same instances as with pageSize={size}: {:?}", explicit.ids());
            let exchanges = [&explicit.exchange, &default.exchange];
            comparison.differs(Clause::SearchPageSize, expected, format!("{:?}", default.ids()), &exchanges);
        }
    }
    comparison.conclude(probe).await
}

/// The largest page of the largest size begins behind every instance: it may be rejected, and holds none.
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

async fn page_size_most(probe: &Probe<'_>, size: Size) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let most = usize::try_from(*search.page_sizes.end()).unwrap_or(usize::MAX);
    let least = usize::try_from(*search.page_sizes.start()).unwrap_or(1);
    let count = survey.instances.len();
    let size = size(count).clamp(least, most);
    let number = i64::try_from(size).unwrap_or(i64::MAX);
    let first = page(probe, &survey.request, *search.pages.start(), number).await?;
    if first.items.len() != size.min(count) {
        let expected = format!("{} of {} on a page of {size}", size.min(count), quantity(count, "instance"));
        let actual = first.items.len().to_string();
        comparison.differs(Clause::SearchPageSize, expected, actual, &[&first.exchange]);
    }
    comparison.conclude(probe).await
}
