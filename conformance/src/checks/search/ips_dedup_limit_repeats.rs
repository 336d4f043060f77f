use super::addresses;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Comparison, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.ips-dedup-limit.repeats",
    title: "repeating or respelling an item changes nothing",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsDedupLimit, Clause::SearchTotal],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(15), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let survey = survey(probe).await?;
    let mut comparison = Comparison::with(survey);
    for batch in survey.batches(search) {
        // The spelling that is known to match stands first: it is the one that is kept.
        let respelled = batch.items.iter().filter_map(|item| addresses::respell(item));
        let twice = batch.items.iter().cloned().chain(batch.items.iter().rev().cloned());
        let spellings: Vec<_> = twice.clone().chain(respelled).collect();
        for (what, items) in [("each twice", twice.collect()), ("each twice and respelled", spellings)] {
            let what = format!("{}, {what},", batch.name);
            let request = probe.search::<String>(items);
            if let Some(found) = read_accepted(probe, Clause::SearchIpsDedupLimit, &what, &request).await? {
                comparison.same(Clause::SearchIpsDedupLimit, &what, &batch.ids, &found);
                comparison.total(Clause::SearchTotal, &what, batch.ids.len(), &found);
            }
        }
    }
    comparison.conclude(probe).await
}
