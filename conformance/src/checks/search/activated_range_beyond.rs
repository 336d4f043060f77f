use super::instants;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, apply, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.activated-range.beyond",
    title: "the smallest step beyond the instant of an activation leaves it out",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchActivatedRange, Clause::SearchActivatedOrder],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(37), |probe| Box::pin(run(probe)))),
};

/// The smallest step is the one that the service has shown: it may keep no finer times.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for time in instants::chosen(probe, survey)? {
        let (Ok(after), Ok(before)) = (time.checked_add(survey.step()), time.checked_sub(survey.step()))
        else {
            continue;
        };
        for filters in [[Filter::From(after)], [Filter::To(before)]] {
            instants::judge(probe, &mut comparison, &filters, ToString::to_string).await?;
        }
        let good = apply(search, survey.request.clone(), &[Filter::From(time), Filter::To(time)]);
        let bad = apply(search, survey.request.clone(), &[Filter::From(time), Filter::To(before)]);
        let why = format!("activatedTo {before} is just earlier than activatedFrom {time}");
        probe.rejects_after_control(Clause::SearchActivatedOrder, &why, &good, &bad).await?;
    }
    comparison.conclude(probe).await
}
