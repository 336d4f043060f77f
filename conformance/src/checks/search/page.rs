//! `page` and `pageSize`: their ranges, their defaults and their effect.

use super::SEARCH;
use super::cases::{boundary_cases, invalid_members};
use super::surveyed::{Account, SURVEYED, row, rows};
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Query, Relation, relate};
use crate::contract::part::{PAGE, PAGE_SIZE};
use crate::contract::{Boundary, Clause};
use crate::grammar::{by_reason, json_integers};

pub(super) static CHECKS: &[Check] = &[
    Check {
        id: "search.page.boundaries",
        title: "`page` outside its range or of another type is rejected",
        why: "If an invalid page number is corrected silently, a page is repeated, and a loop over all pages never ends.",
        clauses: &[Clause::SearchPage],
        run: Run::Cases(page_boundaries),
        ..SEARCH
    },
    Check {
        id: "search.page.default",
        title: "a search without `page` returns the default page",
        why: "Most callers never send a page. They miss instances if they do not get the first page.",
        clauses: &[Clause::SearchPage],
        run: Run::Cases(|_| Case::single(Cost::requests(10), page_default)),
        ..SURVEYED
    },
    Check {
        id: "search.page-size.boundaries",
        title: "`pageSize` inside its range is accepted; outside its range or of another type it is rejected",
        why: "If a page size is reduced silently, a caller takes one page for the whole result.",
        clauses: &[Clause::SearchPageSize],
        run: Run::Cases(page_size_boundaries),
        ..SEARCH
    },
    Check {
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
            let cases = cases.map(|(label, index, is_full)| (label, 2, (index, is_full)));
            rows(Relation::Default, cases, |account, (index, is_full): (usize, bool)| {
                let Account { survey, search, .. } = account;
                let Some(number) = survey.pages(search, search.default_page_size).nth(index) else {
                    return Err(
                        account.lacks("the searched addresses have too few instances", "more addresses")
                    );
                };
                let mut query = Query { page: Some(number), ..survey.query() }.citing(Clause::SearchPageSize);
                if is_full {
                    query.items.extend(account.fill(&query.items));
                }
                Ok(vec![query])
            })
        }),
        ..SURVEYED
    },
    Check {
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
                let size =
                    size(survey.page_size(1)).clamp(*search.page_sizes.start(), *search.page_sizes.end());
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
    },
];

/// A page size for a number of instances, before it is clamped to its range.
type Size = fn(i64) -> i64;

/// Large page numbers are not tested as valid, since a service may reject a page past the last one.
fn page_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let search = &scope.contract.search;
    let is_first = |case: &Boundary| case.allowed && case.value == *search.pages.start();
    let malformed = invalid_members(search, PAGE, by_reason(json_integers(&search.pages)));
    [boundary_cases(scope, PAGE, is_first), malformed].concat()
}

fn page_size_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let search = &scope.contract.search;
    let malformed = invalid_members(search, PAGE_SIZE, by_reason(json_integers(&search.page_sizes)));
    [boundary_cases(scope, PAGE_SIZE, |case| case.allowed), malformed].concat()
}

async fn page_default(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let plain = probe.any_search().without_field(PAGE);
    // The control has a page, in case the service wrongly requires one.
    probe.control_once(&plain.clone().field(PAGE, search.default_page)).await?;
    if probe.accepts(Clause::SearchPage, "neither page nor pageSize", &plain).await?.is_none() {
        return Ok(());
    }
    let sized = plain.field(PAGE_SIZE, search.default_page_size);
    if probe.accepts(Clause::SearchPage, "a pageSize without page", &sized).await?.is_none() {
        return Ok(());
    }
    let account = Account::read(probe).await?;
    let query = Query { size: Some(account.survey.page_size(3)), ..account.survey.query() };
    relate(probe, account.survey, Relation::Default, &[query.citing(Clause::SearchPage)]).await
}
