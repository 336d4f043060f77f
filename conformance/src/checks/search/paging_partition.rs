use std::collections::BTreeSet;

use super::paging;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, Survey, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.paging.partition",
    title: "pages neither overlap nor leave gaps, whether their size divides the total or not",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchPaging, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(28), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let (items, expected) = some(survey);
    let count = expected.len();
    let request = probe.search(items);
    let divisor = (2..count).find(|size| count.is_multiple_of(*size)).unwrap_or(count);
    let sizes: BTreeSet<usize> =
        [3, 5, divisor, count.saturating_sub(1), count, count + 1].into_iter().collect();
    for size in sizes.into_iter().filter(|size| *size > 0) {
        let what = format!("{count} instances");
        paging::partition(probe, &mut comparison, Clause::SearchPaging, &what, &request, &expected, size)
            .await?;
    }
    let all = survey.ids();
    let size = all.len() / 4 + 1;
    paging::partition(
        probe,
        &mut comparison,
        Clause::SearchPaging,
        "all instances",
        &survey.request,
        &all,
        size,
    )
    .await?;
    comparison.conclude(probe).await
}

/// The first addresses, as many as hold a few pages of a few instances.
fn some(survey: &Survey) -> (Vec<String>, BTreeSet<i64>) {
    const ENOUGH: usize = 13;
    let mut taken = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for address in &survey.addresses {
        taken.insert(*address);
        ids = survey.where_(|instance| taken.contains(&instance.ip));
        if ids.len() >= ENOUGH {
            break;
        }
    }
    (taken.iter().map(|ip| survey.spelt(*ip)).collect(), ids)
}
