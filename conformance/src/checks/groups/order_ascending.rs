use serde_json::Value;

use crate::check::{Accepted, Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "groups.order.ascending",
    title: "groups ascend by id",
    why: "",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsOrder],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(3), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let name = &probe.contract().groups.api_key.name;
    if let Some(second) = &probe.facts().second_token {
        let listing = probe.control(&probe.groups().query(name, second.expose())).await?;
        judge(probe, &listing)?;
    }
    let listing = probe.control(&probe.groups()).await?;
    if judge(probe, &listing)? < 2 {
        return Err(probe.skip("the account has fewer than two groups: use one with several"));
    }
    // The order holds for every listing, not for the first alone.
    judge(probe, &probe.control(&probe.groups()).await?)?;
    Ok(())
}

/// Reports a group that does not stand above the one before; gives how many groups there are.
fn judge(probe: &Probe<'_>, listing: &Accepted) -> Result<usize, Stop> {
    let items = listing.answer.at("/data/items").and_then(Value::as_array);
    let items =
        items.ok_or_else(|| probe.inconclusive("the listing has no items; see groups.envelope.schema"))?;
    let ids: Vec<i64> = items.iter().filter_map(|item| item.get("groupId")?.as_i64()).collect();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] >= pair[1]) {
        let actual = format!("{} stands before {}", pair[0], pair[1]);
        probe.finding(
            Clause::GroupsOrder,
            "each groupId above the one before",
            &actual,
            &[&listing.exchange],
        );
    }
    Ok(ids.len())
}
