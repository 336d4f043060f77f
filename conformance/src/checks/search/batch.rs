//! What instances declare about the size of batches.

use std::cmp::Ordering;

use super::*;

pub(super) static PROGRAMS: &[Program] =
    &[active("search.max-batch-no-effect.limits", |_| Case::single(Cost::requests(8), max_batch))];

async fn max_batch(probe: &Probe<'_>) -> Result<(), Stop> {
    const CLAUSE: Clause = SearchMaxBatchNoEffect;
    let account = Account::read(probe).await?;
    let (survey, max) = (account.survey, account.search.distinct_items);
    let declaring = |wanted: Ordering| {
        let declared =
            |instance: &&Instance| usize::try_from(instance.max_batch?).ok().map(|own| own.cmp(&max));
        survey.instances.values().find(|instance| declared(instance) == Some(wanted))
    };
    let with = |instance: &Instance, count: usize| {
        let own = survey.spelt(instance.ip);
        let others = addresses::distinct(count + 1).into_iter().filter(|item| *item != own);
        Query::new([own.clone()].into_iter().chain(others).take(count)).citing(CLAUSE)
    };
    let (low, high) = (declaring(Ordering::Less), declaring(Ordering::Greater));
    if low.is_none() && high.is_none() {
        let lacks = "no instance at the searched addresses declares a maxBatchSize";
        return Err(account.lacks(lacks, "addresses of such instances"));
    }
    if let Some(instance) = low {
        relate(probe, survey, Relation::Contains, &[with(instance, max)]).await?;
    }
    if let Some(instance) = high {
        let [good, bad] = [max, max + 1].map(|count| with(instance, count).request(probe));
        let why = format!("{} addresses, one of an instance that declares {:?}", max + 1, instance.max_batch);
        probe.control_once(&good).await?;
        probe.rejects(CLAUSE, &why, &bad).await?;
    }
    Ok(())
}
