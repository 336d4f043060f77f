use super::combination;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::relation::{Comparison, Filter, FilterKind, Instance, Survey, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.intersection.every",
    title: "all filters at once find what all of them find, whatever the form of the items",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIntersection],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(15), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let without_order = &FilterKind::ALL[1..];
    for kinds in [FilterKind::ALL.as_slice(), without_order] {
        let Some(filters) = some_instance(survey, kinds) else { continue };
        for batch in survey.batches(&probe.contract().search) {
            combination::judge(probe, &mut comparison, batch, &filters).await?;
        }
    }
    comparison.conclude(probe).await
}

/// The filters of the wanted kinds that one instance passes: its own values, and its activation as both bounds.
fn some_instance(survey: &Survey, kinds: &[FilterKind]) -> Option<Vec<Filter>> {
    let own = |instance: &Instance| {
        kinds.iter().map(|kind| Filter::of(*kind, instance, &survey.orders)).collect::<Option<Vec<_>>>()
    };
    survey.instances.values().filter(|instance| instance.group.is_some()).find_map(own)
}
