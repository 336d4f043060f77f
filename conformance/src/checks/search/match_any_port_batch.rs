use std::collections::BTreeSet;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::read;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.match-any-port.batch",
    title: "a large batch finds what its parts find",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMatchAnyPort],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(4), |probe| Box::pin(run(probe)))),
};

/// S(a ∪ b) = S(a) ∪ S(b), for as many addresses as one search takes.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let most = probe.contract().search.distinct_items;
    let mut seen = BTreeSet::new();
    let items: Vec<_> = probe.own_addresses(most).into_iter().filter(|item| seen.insert(*item)).collect();
    let everything = probe.search(items.clone());
    let (first, second) = items.split_at(items.len() / 2);
    if first.is_empty() {
        return Err(probe.skip("one address can't be taken in parts: supply several"));
    }
    let whole = read(probe, &everything).await?;
    let mut parts = BTreeSet::new();
    let mut evidence = whole.evidence();
    let halves = [
        read(probe, &probe.search(first.to_vec())).await?,
        read(probe, &probe.search(second.to_vec())).await?,
    ];
    for half in &halves {
        parts.extend(half.ids());
        evidence.extend(half.evidence());
    }
    if parts == whole.ids() {
        return Ok(());
    }
    if read(probe, &everything).await?.instances != whole.instances {
        return Err(probe.inconclusive("the instances changed while they were compared: run it again"));
    }
    let lost: Vec<_> = parts.difference(&whole.ids()).take(5).copied().collect();
    let added: Vec<_> = whole.ids().difference(&parts).take(5).copied().collect();
    let expected =
        format!("{} addresses find what they find in two parts: {} instances", items.len(), parts.len());
    let actual = format!("{} instances; missing {lost:?}…, too many {added:?}…", whole.instances.len());
    probe.finding(Clause::SearchMatchAnyPort, &expected, &actual, &evidence);
    Ok(())
}
