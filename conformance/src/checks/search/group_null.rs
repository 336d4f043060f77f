use serde_json::Value;

use super::combination;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, FilterKind, apply, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.group.null",
    title: "groupId null finds what a search without groupId finds",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchGroup],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(7), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let status = survey.candidates(FilterKind::Status);
    for filters in [&[][..], status.get(..1).unwrap_or_default()] {
        let request =
            apply(search, survey.request.clone(), filters).field(&search.group_id.name, Value::Null);
        let what = format!("groupId null {}", combination::describe(filters));
        if let Some(found) = read_accepted(probe, Clause::SearchGroup, &what, &request).await? {
            comparison.same(Clause::SearchGroup, &what, &survey.admitted(filters), &found);
        }
    }
    comparison.conclude(probe).await
}
