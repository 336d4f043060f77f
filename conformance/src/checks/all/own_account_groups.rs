use serde_json::Value;

use super::items::items;
use crate::check::{Accepted, Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::Clause;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.groups",
    title: "a listing holds the groups of its own account alone",
    why: "",
    operation: None,
    clauses: &[Clause::AllOwnAccount],
    needs: &[Fact::ForeignGroup],
    run: Run::Cases(|_| Case::single(Cost::requests(2), |probe| Box::pin(run(probe)))),
};

/// Whether ids are counted anew in each account is open, so a group of the same id is held against the other account's.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let listing = probe.control(&probe.groups()).await?;
    let Some(listed) = foreign(probe, &listing) else { return Ok(()) };
    let Some(second) = &probe.facts().second_token else {
        let reason =
            "a group with the id of the foreign one is listed; to tell whether it is the same one, supply";
        return Err(probe.inconclusive(&format!("{reason} {}", Fact::SecondToken)));
    };
    let name = &probe.contract().groups.api_key.name;
    let other = probe.control(&probe.groups().query(name, second.expose())).await?;
    match foreign(probe, &other) {
        None => {
            Err(probe.inconclusive("the foreign group is not one of the second account: supply one that is"))
        }
        Some(theirs) if theirs == listed => {
            let actual = "the group that was supplied as foreign is listed";
            let exchanges = [&listing.exchange, &other.exchange];
            probe.finding(Clause::AllOwnAccount, "groups of the account alone", actual, &exchanges);
            Ok(())
        }
        Some(_) => {
            Err(probe.skip("both accounts have a group with this id: supply one that only the other has"))
        }
    }
}

/// The group that has the id of the foreign one.
fn foreign<'a>(probe: &Probe<'_>, listing: &'a Accepted) -> Option<&'a Value> {
    let foreign = probe.facts().foreign_group?;
    items(&listing.answer).iter().find(|item| item.get("groupId").and_then(Value::as_i64) == Some(foreign))
}
