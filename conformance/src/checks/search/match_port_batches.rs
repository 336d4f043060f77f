use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-port.batches",
    title: "a batch of items with ports finds exactly those addresses and ports",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchPort, Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(10), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for batch in survey.batches(&probe.contract().search) {
        let what = format!("a batch of {}", batch.name);
        let reversed = batch.items.iter().rev().map(String::as_str);
        if let Some(found) =
            read_accepted(probe, Clause::SearchMatchPort, &what, &probe.search(reversed)).await?
        {
            comparison.same(Clause::SearchMatchPort, &what, &batch.ids, &found);
        }
    }
    comparison.conclude(probe).await
}
