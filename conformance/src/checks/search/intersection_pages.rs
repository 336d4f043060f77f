use std::collections::BTreeSet;

use super::{combination, paging};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, FilterKind, apply, meeting, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.intersection.pages",
    title: "a filtered result is whole and without overlap when it is read in small pages",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIntersection, Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(19), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let pairs = [
        [FilterKind::Status, FilterKind::From],
        [FilterKind::Group, FilterKind::Country],
        [FilterKind::Order, FilterKind::Status],
        [FilterKind::City, FilterKind::To],
    ];
    for (kinds, batch) in pairs.iter().zip(survey.batches(search).iter().cycle()) {
        let Some(filters) = meeting(survey, kinds) else { continue };
        let expected = survey.admitted(&filters).intersection(&batch.ids).copied().collect::<BTreeSet<_>>();
        let request = apply(search, probe.search(batch.items.clone()), &filters);
        let what = format!("{} among {}", combination::describe(&filters), batch.name);
        let size = small_size(expected.len());
        paging::partition(
            probe,
            &mut comparison,
            Clause::SearchIntersection,
            &what,
            &request,
            &expected,
            size,
        )
        .await?;
    }
    comparison.conclude(probe).await
}

/// Some three to six pages, the last of them not full.
fn small_size(count: usize) -> usize {
    let size = count / 4 + 1;
    if count.is_multiple_of(size) { size + 1 } else { size }
}
