use super::addresses;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::{Instance, read_accepted, survey};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.max-batch-no-effect.limits",
    title: "a declared maxBatchSize neither lowers nor raises the limits of a search",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchMaxBatchNoEffect],
    needs: &[Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    const CLAUSE: Clause = Clause::SearchMaxBatchNoEffect;
    let most = probe.contract().search.distinct_items;
    let survey = survey(probe).await?;
    let declared = |test: fn(i64, i64) -> bool| {
        let limit = i64::try_from(most).unwrap_or(i64::MAX);
        survey
            .instances
            .values()
            .find(|instance| instance.max_batch.is_some_and(|declared| test(declared, limit)))
    };
    let with = |instance: &Instance, count: usize| {
        let own = survey.spelt(instance.ip);
        let others = addresses::distinct(count + 1).into_iter().filter(|item| *item != own);
        Some(own.clone()).into_iter().chain(others).take(count).collect::<Vec<_>>()
    };
    let low = declared(|declared, limit| declared < limit);
    let high = declared(|declared, limit| declared > limit);
    if low.is_none() && high.is_none() {
        return Err(
            probe.skip("no instance at the surveyed addresses declares a maxBatchSize: supply others")
        );
    }
    if let Some(instance) = low {
        let why = format!("{most} addresses, one of an instance that declares {:?}", instance.max_batch);
        if let Some(found) = read_accepted(probe, CLAUSE, &why, &probe.search(with(instance, most))).await? {
            let missing = !found.instances.contains_key(&instance.id);
            if missing && survey.holds_still(probe).await? {
                probe.finding(CLAUSE, &format!("{why}: it is found"), "it is not", &found.evidence());
            }
        }
    }
    if let Some(instance) = high {
        let (good, bad) = (probe.search(with(instance, most)), probe.search(with(instance, most + 1)));
        let why =
            format!("{} addresses, one of an instance that declares {:?}", most + 1, instance.max_batch);
        probe.rejects_after_control(CLAUSE, &why, &good, &bad).await?;
    }
    Ok(())
}
