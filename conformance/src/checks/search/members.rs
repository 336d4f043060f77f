//! Values of `status`, `groupId`, `page` and `pageSize`, and other spellings of the query with the token.

use super::rules::{boundary_cases, invalid_members};
use super::*;
use crate::checks::token::other_spellings;
use crate::grammar::json_integers;

pub(super) static PROGRAMS: &[Program] = &[
    active("search.status.boundaries", |scope| boundary_cases(scope, STATUS, |_| true)),
    active("search.group.boundaries", group_boundaries),
    active("search.page.boundaries", |scope| {
        // A service may reject a page past the last one, so the first one is the only valid one.
        let pages = &scope.contract.search.pages;
        let malformed = invalid_members(&scope.contract.search, PAGE, by_reason(json_integers(pages)));
        let first = boundary_cases(scope, PAGE, |case| case.allowed && case.value == *pages.start());
        [first, malformed].concat()
    }),
    active("search.page-size.boundaries", |scope| {
        let search = &scope.contract.search;
        let malformed = invalid_members(search, PAGE_SIZE, by_reason(json_integers(&search.page_sizes)));
        [boundary_cases(scope, PAGE_SIZE, |case| case.allowed), malformed].concat()
    }),
    active("search.token.single", |_| vec![other_spellings(SearchToken, OperationId::Search)]),
];

fn group_boundaries(scope: &Scope<'_>) -> Vec<Case> {
    let mut filters = scope.contract.search.filters.iter();
    let group = filters.find(|filter| filter.property.name == GROUP_ID);
    let min = group.and_then(|group| group.property.schema.minimum).unwrap_or_default();
    // Large numbers are not judged, since an unknown group may be rejected or find nothing. An empty filter is unspecified.
    let is_below =
        |text: &String| !text.parse::<f64>().is_ok_and(|number| number >= 1.0 && number.fract() == 0.0);
    let is_empty = |text: &String| text.trim_matches(['"', ' ']).is_empty();
    let reasons = by_reason(json_integers(&(min..=i64::MAX))).into_iter().map(|mut reason| {
        reason.spellings.retain(|text| is_below(text) && text != "1e400" && !is_empty(text));
        reason
    });
    let reasons = reasons.filter(|reason| !reason.spellings.is_empty());
    let mut all = boundary_cases(scope, GROUP_ID, |case| case.allowed);
    all.extend(invalid_members(&scope.contract.search, GROUP_ID, reasons));
    all
}
