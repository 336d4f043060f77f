//! Searches with several filters at once, held against the survey.

use std::collections::BTreeSet;

use crate::check::{Probe, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Batch, Comparison, Filter, apply, read_accepted};
use crate::contract::Clause;

/// The filters must find what the survey says that they admit of the batch.
pub(super) async fn judge(
    probe: &Probe<'_>,
    comparison: &mut Comparison<'_>,
    batch: &Batch,
    filters: &[Filter],
) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchIntersection;
    let admitted = comparison.survey().admitted(filters);
    let expected: BTreeSet<i64> = admitted.intersection(&batch.ids).copied().collect();
    let request = apply(&probe.contract().search, probe.search(batch.items.clone()), filters);
    let what = format!("{} among {}", describe(filters), batch.name);
    if let Some(found) = read_accepted(probe, CLAUSE, &what, &request).await? {
        comparison.same(CLAUSE, &what, &expected, &found);
    }
    Ok(())
}

/// As a reader would write them.
pub(super) fn describe(filters: &[Filter]) -> String {
    filters.iter().map(Filter::describe).collect::<Vec<_>>().join(" & ")
}
