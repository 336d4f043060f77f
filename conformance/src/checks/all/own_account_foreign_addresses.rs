use serde_json::Value;

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.foreign-addresses",
    title: "a search finds nothing at addresses of other accounts",
    operation: None,
    clauses: &["all.own-account"],
    needs: &[Fact::ForeignAddresses],
    cost: Cost::requests(1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    const MOST: usize = 100;
    let foreign = probe.facts().foreign_addresses.iter().take(MOST).map(String::as_str);
    let found = probe.control(&probe.search(foreign)).await?;
    let items = found.answer.at("/data/items").and_then(Value::as_array).map_or(0, Vec::len);
    let total = found.answer.at("/data/total").and_then(Value::as_u64).unwrap_or(0);
    if items > 0 || total > 0 {
        let actual = format!("{items} instances and a total of {total}");
        probe.finding("all.own-account", "no instances and a total of 0", &actual, &[&found.exchange]);
    }
    Ok(())
}
