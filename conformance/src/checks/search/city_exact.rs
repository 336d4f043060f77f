use super::values;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.city.exact",
    title: "each city finds its own instances and no other",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchCity],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(17), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for code in survey.values(|instance| Some(instance.city.clone())).into_iter().take(MOST_CODES) {
        values::judge(probe, &mut comparison, Clause::SearchCity, &Filter::City(code)).await?;
    }
    comparison.conclude(probe).await
}

/// Codes that are tried.
const MOST_CODES: usize = 8;
