use super::values;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.status.sum",
    title: "each status finds its own instances, and all of them together everything",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchStatus],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(15), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let every = search.statuses.iter().map(|status| Filter::Status(status.clone()));
    for filter in every {
        values::judge(probe, &mut comparison, Clause::SearchStatus, &filter).await?;
    }
    comparison.conclude(probe).await
}
