use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "groups.empty.account",
    title: "an account without groups gets an empty array",
    operation: Some(OperationId::Groups),
    clauses: &["groups.empty"],
    needs: &[Fact::EmptyToken],
    cost: Cost::requests(2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().empty_token else { return Err(probe.skip("no such token")) };
    let name = &probe.contract().groups.api_key.name;
    probe.ground(&probe.groups()).await?;
    let request = probe.groups().query(name, token.expose());
    let Some(accepted) = probe.accepts("groups.empty", "an account without groups", &request).await? else {
        return Ok(());
    };
    let items = accepted.answer.at("/data/items");
    if items.and_then(|items| items.as_array()).is_none_or(|items| !items.is_empty()) {
        let actual = items.map_or_else(|| "no items at all".to_owned(), ToString::to_string);
        probe.finding("groups.empty", "an empty array", &actual, &[&accepted.exchange]);
    }
    Ok(())
}
