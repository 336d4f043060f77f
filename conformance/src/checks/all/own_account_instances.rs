use std::collections::BTreeSet;

use serde_json::Value;

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::target::Fact;
use crate::wire::Answer;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.instances",
    title: "a second account does not see the instances of the first",
    operation: None,
    clauses: &["all.own-account"],
    needs: &[Fact::OwnAddresses, Fact::SecondToken],
    cost: Cost::requests(8),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(second) = &probe.facts().second_token else { return Err(probe.skip("no second token")) };
    let search = &probe.contract().search;
    let request =
        probe.search(probe.own_addresses(SAMPLE)).field(&search.page_size.name, *search.page_sizes.end());
    let other = request.clone().query(&search.api_key.name, second.expose());
    let first = probe.control(&request).await?;
    let Some(seen) = probe.accepts("all.own-account", "the same search by a second account", &other).await?
    else {
        return Ok(());
    };
    let (own, foreign) = (ids(&first.answer), ids(&seen.answer));
    let shared: Vec<_> = own.intersection(&foreign).collect();
    if !shared.is_empty() {
        let actual = format!("both accounts see the instances {shared:?}");
        let expected = "instances that belong to one account each";
        probe.finding("all.own-account", expected, &actual, &[&first.exchange, &seen.exchange]);
    }
    Ok(())
}

fn ids(answer: &Answer) -> BTreeSet<i64> {
    let items = answer.at("/data/items").and_then(Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.get("instanceId")?.as_i64()).collect()
}

/// How many addresses are looked at.
const SAMPLE: usize = 100;
