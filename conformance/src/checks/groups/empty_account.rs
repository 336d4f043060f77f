use serde_json::Value;

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "groups.empty.account",
    title: "an account without groups gets an empty array",
    why: "",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsEmpty],
    needs: &[Fact::EmptyToken],
    run: Run::Cases(|_| Case::single(Cost::requests(2), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().empty_token else { return Err(probe.skip("no such token")) };
    let name = &probe.contract().groups.api_key.name;
    probe.control_once(&probe.groups()).await?;
    let request = probe.groups().query(name, token.expose());
    let Some(accepted) = probe.accepts(Clause::GroupsEmpty, "an account without groups", &request).await?
    else {
        return Ok(());
    };
    let items = accepted.answer.at("/data/items");
    match items.and_then(Value::as_array) {
        Some(items) if items.is_empty() => Ok(()),
        // Somebody may have made a group since the account was supplied as empty.
        Some(items) if items.iter().all(Value::is_object) => {
            Err(probe.skip("the account that was supplied as empty has groups: supply one without any"))
        }
        _ => {
            let actual = items.map_or_else(|| "no items at all".to_owned(), ToString::to_string);
            probe.finding(Clause::GroupsEmpty, "an empty array", &actual, &[&accepted.exchange]);
            Ok(())
        }
    }
}
