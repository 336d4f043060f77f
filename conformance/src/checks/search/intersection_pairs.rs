use super::combination;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, combinations, meeting, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.intersection.pairs",
    title: "every two filters together find what both find",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(26), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let batch = survey.bare();
    for kinds in combinations(2) {
        let Some(filters) = meeting(survey, &kinds) else { continue };
        combination::judge(probe, &mut comparison, &batch, &filters).await?;
    }
    comparison.conclude(probe).await
}
