use super::instants;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.activated-range.own-instant",
    title: "a bound on the instant of an activation includes it, on either side and on both",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(29), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for time in instants::chosen(probe, survey)? {
        for filters in
            [&[Filter::From(time), Filter::To(time)][..], &[Filter::From(time)], &[Filter::To(time)]]
        {
            instants::judge(probe, &mut comparison, filters, ToString::to_string).await?;
        }
    }
    comparison.conclude(probe).await
}
