use super::likeness;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Filter, read_unless_rejected, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.group.foreign",
    title: "the group of another account is answered like one that nobody has",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchGroup, Clause::SearchNoReveal],
    needs: &[Fact::OwnAddresses, Fact::ForeignGroup],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(foreign) = probe.facts().foreign_group else { return Err(probe.skip("no foreign group")) };
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let foreign_addresses = probe.facts().foreign_addresses.iter().take(MOST_ADDRESSES).cloned();
    let items: Vec<_> = survey.bare().items.into_iter().chain(foreign_addresses).collect();
    let asked = |group: i64| Filter::Group(Some(group)).on(search, probe.search(items.clone()));
    let found = read_unless_rejected(probe, Clause::SearchGroup, "a foreign group", &asked(foreign)).await?;
    if let Some(found) = found.filter(|found| !found.instances.is_empty() || found.total() > 0) {
        let actual = format!("{} instances, total {}", found.instances.len(), found.total());
        probe.finding(Clause::SearchGroup, "a foreign group finds nothing", &actual, &found.evidence());
    }
    let (known, unknown) = (foreign.to_string(), UNKNOWN.to_string());
    likeness::judge(
        probe,
        Clause::SearchGroup,
        ("the foreign group", &known, &asked(foreign)),
        (&unknown, &asked(UNKNOWN)),
    )
    .await
}

/// A group that nobody has, most likely: ids are given one after the other.
const UNKNOWN: i64 = 9_007_199_254_740_001;

/// Foreign addresses that are searched along.
const MOST_ADDRESSES: usize = 20;
