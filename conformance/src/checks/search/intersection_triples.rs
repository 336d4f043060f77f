use super::combination;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, combinations, meeting, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.intersection.triples",
    title: "every three filters together find what all three find",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(40), |probe| Box::pin(run(probe)))),
};

/// The forms of the items take turns, so that triples meet addresses, ports and IPv6.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let batches = survey.batches(&probe.contract().search);
    for (kinds, batch) in combinations(3).into_iter().zip(batches.iter().cycle()) {
        let Some(filters) = meeting(survey, &kinds) else { continue };
        combination::judge(probe, &mut comparison, batch, &filters).await?;
    }
    comparison.conclude(probe).await
}
