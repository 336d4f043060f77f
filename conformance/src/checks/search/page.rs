//! `page` and `pageSize`: their ranges, their defaults and their effect.

use super::SEARCH;
use super::cases::{boundary_cases, invalid_members, surveyed};
use super::surveyed::{Account, SURVEYED, row, rows};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Page, Query, Relation, page};
use crate::contract::Clause;
use crate::grammar::{by_reason, json_integers};

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
    run: Run::Cases(|_| Case::single(Cost::requests(10), page_default)),
    ..SURVEYED
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
    run: Run::Cases(|_| {
        let cases = [
            ("the first page", 0, false),
            ("the second page", 1, false),
            ("the first page of a full batch", 0, true),
            ("the second page of a full batch", 1, true),
        ];
        surveyed(cases.map(|(label, index, full)| (label, 2, (index, full))), page_size_default)
    }),
    ..SURVEYED
};

pub(super) static PAGE_SIZE_MAX: Check = Check {
    id: "search.page-size.most",
    title: "a page has as many instances as `pageSize` requests, up to the maximum size",
    why: "Large exports read pages of the maximum size. A lower limit truncates them.",
    clauses: &[Clause::SearchPageSize, Clause::SearchPaging, Clause::SearchTotal],
    run: Run::Cases(|_| {
        let sizes: [(&str, u32, Size); 5] = [
            ("the smallest size", 1, |_| 0),
            ("one below the number of instances", 1, |count| count.saturating_sub(1)),
            ("the number of instances", 1, |count| count),
            ("one above the number of instances", 1, |count| count + 1),
            ("the largest size", 1, |_| i64::MAX),
        ];
        let sizes = rows(Relation::Page, sizes, |Account { survey, search, .. }, size| {
            let size = size(survey.page_size(1)).clamp(*search.page_sizes.start(), *search.page_sizes.end());
            let query = survey.query().on_page(*search.pages.start(), size);
            Ok(vec![query.citing(Clause::SearchPageSize)])
        });
        // It is past every instance, so it must be empty or rejected.
        let label = "the largest page of the largest size";
        let last = row(Relation::Page, label, 1, |Account { survey, search, .. }, ()| {
            Ok(vec![survey.query().on_page(*search.pages.end(), *search.page_sizes.end())])
        });
        [sizes, last].concat()
    }),
    ..SURVEYED
};

/// A page size for a number of instances, before it is clamped to its range.
type Size = fn(i64) -> i64;

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
    let account = Account::read(probe).await?;
    let query = account.survey.query().on_page(search.default_page, account.survey.page_size(3));
    let without = Query { page: None, ..query.clone() };
    same_page(account, Clause::SearchPage, "a search without page", &query, &without).await
}

async fn page_size_default(probe: &Probe<'_>, (index, is_full): (usize, bool)) -> Result<(), Stop> {
    let account = Account::read(probe).await?;
    let Account { survey, search, .. } = account;
    let size = search.default_page_size;
    let Some(number) = survey.pages(search, size).nth(index) else {
        return Err(account.lacks("the searched addresses have too few instances", "more addresses"));
    };
    let mut query = survey.query().on_page(number, size);
    if is_full {
        query.items.extend(account.fill(&query.items));
    }
    let batch = if is_full { ", of a full batch" } else { "" };
    let without = Query { size: None, ..query.clone() };
    let what = format!("page {number} without pageSize{batch}");
    same_page(account, Clause::SearchPageSize, &what, &query, &without).await
}

/// The page with the default must have the same instances, in the same order, as the page with the explicit value.
async fn same_page(
    Account { probe, survey, search }: Account<'_>,
    clause: Clause,
    what: &str,
    explicit: &Query,
    without: &Query,
) -> Result<(), Stop> {
    let (number, size) = (search.default_page, search.default_page_size);
    let (number, size) = (explicit.page.unwrap_or(number), explicit.size.unwrap_or(size));
    let explicit = page(probe, &explicit.request(probe), number, size).await?;
    let Some(accepted) = probe.accepts(clause, what, &without.request(probe)).await? else { return Ok(()) };
    let default = Page::read(probe, accepted)?;
    let mut comparison = Comparison::with(survey);
    if default.ids() != explicit.ids() {
        let expected = format!("{what} has the instances of page {number} of {size}: {:?}", explicit.ids());
        let actual = format!("{:?}", default.ids());
        comparison.differs(clause, expected, actual, &[&explicit.exchange, &default.exchange]);
    }
    comparison.conclude(probe).await
}
