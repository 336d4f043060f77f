//! Results read page by page.

use std::collections::BTreeSet;

use crate::check::{Probe, Stop};
use crate::checks::relation::{Comparison, page};
use crate::contract::Clause;
use crate::wire::Request;

/// Reads a result in pages of one size. Each page but the last must be full, none may overlap another, and together they must
/// hold what is expected, under one total. Gives the ids in the order in which they came.
pub(super) async fn partition(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    clause: Clause,
    what: &str,
    request: &Request,
    expected: &BTreeSet<i64>,
    size: usize,
) -> Result<Vec<i64>, Stop> {
    let search = &probe.contract().search;
    let size = size.max(1);
    let count = expected.len().div_ceil(size).max(1);
    let first = *search.pages.start();
    let (mut ids, mut pages) = (Vec::new(), Vec::new());
    for number in (first..).take(count) {
        let read = page(probe, request, number, i64::try_from(size).unwrap_or(i64::MAX)).await?;
        ids.extend(read.ids());
        pages.push(read);
    }
    let exchanges: Vec<_> = pages.iter().map(|page| &page.exchange).collect();
    let found: BTreeSet<i64> = ids.iter().copied().collect();
    let lengths: Vec<_> = pages.iter().map(|page| page.items.len()).collect();
    let wanted: Vec<_> =
        (0..count).map(|page| size.min(expected.len() - (page * size).min(expected.len()))).collect();
    if found != *expected {
        let expected_text = format!("pages of {size} of {what} hold {} instances", expected.len());
        let missing = expected.difference(&found).count();
        let added = found.difference(expected).count();
        let actual = format!("{} instances: {missing} are missing, {added} do not belong", found.len());
        comparison.differs(clause, expected_text, actual, &exchanges);
    }
    if lengths != wanted || found.len() != ids.len() {
        let expected_text = format!("pages of {size} of {what} hold {wanted:?} instances, each of them once");
        let actual = format!("{lengths:?}, {} of them repeated", ids.len() - found.len());
        comparison.differs(Clause::SearchPaging, expected_text, actual, &exchanges);
    }
    let totals: Vec<_> = pages.iter().map(|page| page.total).collect();
    if totals.iter().any(|total| usize::try_from(*total) != Ok(expected.len())) {
        let expected_text = format!("total {} on each page of {size} of {what}", expected.len());
        comparison.differs(Clause::SearchTotal, expected_text, format!("{totals:?}"), &exchanges);
    }
    Ok(ids)
}
