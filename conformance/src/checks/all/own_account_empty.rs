use serde_json::Value;

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.empty",
    title: "an account without instances finds none of another",
    operation: None,
    clauses: &["all.own-account"],
    needs: &[Fact::EmptyToken, Fact::OwnAddresses],
    cost: Cost::requests(2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(empty) = &probe.facts().empty_token else { return Err(probe.skip("no such token")) };
    const SAMPLE: usize = 100;
    let request = probe.search(probe.own_addresses(SAMPLE));
    probe.ground(&request).await?;
    let found = probe.control(&request.query(&probe.contract().search.api_key.name, empty.expose())).await?;
    let items = found.answer.at("/data/items").and_then(Value::as_array).map_or(0, Vec::len);
    let total = found.answer.at("/data/total").and_then(Value::as_u64).unwrap_or(0);
    if items > 0 || total > 0 {
        let actual = format!("{items} instances and a total of {total}");
        probe.finding("all.own-account", "no instances and a total of 0", &actual, &[&found.exchange]);
    }
    Ok(())
}
