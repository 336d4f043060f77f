use super::combination;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, combinations, meeting, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.intersection.pairs-ports",
    title: "every two filters cut items with ports, of both families, as they cut addresses",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(50), |probe| Box::pin(run(probe)))),
};

/// Every pair on each batch but the bare one, so that no pair hangs on the form of the items.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let batches = survey.batches(&probe.contract().search);
    for (index, kinds) in combinations(2).into_iter().enumerate() {
        let Some(filters) = meeting(survey, &kinds) else { continue };
        let ported = batches.iter().skip(1);
        // Each pair on two of them: IPv6 with ports always, the others in turn.
        let in_turn = [index % 2 + 2, 1];
        for (_, batch) in ported.enumerate().filter(|(place, _)| in_turn.contains(place)) {
            combination::judge(probe, &mut comparison, batch, &filters).await?;
        }
    }
    comparison.conclude(probe).await
}
