use super::combination;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::relation::{Comparison, Filter, FilterKind, Instance, Survey, survey};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.intersection.every",
    title: "all filters at once find what all of them find, whatever the form of the items",
    operation: Some(OperationId::Search),
    clauses: &["search.intersection"],
    needs: &[Fact::OwnAddresses],
    cost: Cost::requests(18),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    let without_order = &FilterKind::ALL[1..];
    for kinds in [FilterKind::ALL.as_slice(), without_order] {
        let Some(filters) = some_instance(survey, kinds) else { continue };
        for batch in survey.batches(&probe.contract().search) {
            combination::judge(probe, &mut comparison, &batch, &filters).await?;
        }
    }
    comparison.conclude(probe).await
}

/// The filters of the wanted kinds that one instance passes: its own values, and its activation as both bounds.
fn some_instance(survey: &Survey, kinds: &[FilterKind]) -> Option<Vec<Filter>> {
    survey
        .instances
        .values()
        .find_map(|instance| kinds.iter().map(|kind| of(survey, instance, *kind)).collect())
}

fn of(survey: &Survey, instance: &Instance, kind: FilterKind) -> Option<Filter> {
    Some(match kind {
        FilterKind::Order => {
            Filter::Order(survey.orders.iter().find(|(_, held)| held.contains(&instance.id))?.0.clone())
        }
        FilterKind::Group => Filter::Group(Some(instance.group?)),
        FilterKind::Country => Filter::Country(instance.country.clone()),
        FilterKind::City => Filter::City(instance.city.clone()),
        FilterKind::Status => Filter::Status(instance.status.clone()),
        FilterKind::From => Filter::From(instance.activated?),
        FilterKind::To => Filter::To(instance.activated?),
    })
}
