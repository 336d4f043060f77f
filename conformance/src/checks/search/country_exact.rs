use super::values;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.country.exact",
    title: "each country finds its own instances and no other",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchCountry],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(15), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for code in survey.values(|instance| Some(instance.country.clone())).into_iter().take(MOST_CODES) {
        values::judge(probe, &mut comparison, Clause::SearchCountry, &Filter::Country(code)).await?;
    }
    comparison.conclude(probe).await
}

/// Codes that are tried.
const MOST_CODES: usize = 8;
