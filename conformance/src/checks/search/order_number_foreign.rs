use super::likeness;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Filter, read_unless_rejected, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.order-number.foreign",
    title: "the order number of another account is answered like one that nobody has",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchOrderNumber, Clause::SearchNoReveal, Clause::AllOwnAccount],
    needs: &[Fact::OwnAddresses, Fact::ForeignOrder],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(foreign) = &probe.facts().foreign_order else { return Err(probe.skip("no foreign order")) };
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let addresses = survey.bare().items;
    let foreign_addresses = probe.facts().foreign_addresses.iter().take(MOST_ADDRESSES).cloned();
    let items: Vec<_> = addresses.into_iter().chain(foreign_addresses).collect();
    let asked = |number: &str| Filter::Order(number.to_owned()).on(search, probe.search(items.clone()));
    let unknown: String = foreign.chars().rev().collect::<String>() + "-0";
    let found =
        read_unless_rejected(probe, Clause::SearchOrderNumber, "a foreign order number", &asked(foreign))
            .await?;
    if let Some(found) = found.filter(|found| !found.instances.is_empty() || found.total() > 0) {
        let actual = format!("{} instances, total {}", found.instances.len(), found.total());
        probe.finding(
            Clause::SearchOrderNumber,
            "a foreign order number finds nothing",
            &actual,
            &found.evidence(),
        );
    }
    likeness::judge(
        probe,
        Clause::SearchOrderNumber,
        ("the foreign order", foreign, &asked(foreign)),
        (&unknown, &asked(&unknown)),
    )
    .await
}

/// Foreign addresses that are searched along.
const MOST_ADDRESSES: usize = 20;
