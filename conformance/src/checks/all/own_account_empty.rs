use serde_json::Value;

use super::items::{items, shared};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::Clause;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.empty",
    title: "an account without instances finds none of another",
    why: "",
    operation: None,
    clauses: &[Clause::AllOwnAccount],
    needs: &[Fact::EmptyToken, Fact::OwnAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(2), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(empty) = &probe.facts().empty_token else { return Err(probe.skip("no such token")) };
    const SAMPLE: usize = 100;
    let request = probe.search(probe.own_addresses(SAMPLE));
    let search = &probe.contract().search;
    let own = probe.control(&request).await?;
    let found = probe.control(&request.query(&search.api_key.name, empty.expose())).await?;
    let others = shared(&found.answer, &own.answer, &search.instance_fields);
    let total = found.answer.at("/data/total").and_then(Value::as_u64).unwrap_or(0);
    let items = items(&found.answer).len();
    if others == 0 && items > 0 {
        return Err(
            probe.skip("the account that was supplied as empty has instances: supply one without any")
        );
    }
    if items > 0 || total > 0 {
        let actual = format!("{others} instances of the first account and a total of {total}");
        let exchanges = [&own.exchange, &found.exchange];
        probe.finding(Clause::AllOwnAccount, "no instances and a total of 0", &actual, &exchanges);
    }
    Ok(())
}
