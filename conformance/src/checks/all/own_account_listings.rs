use super::items::items;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::Clause;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.listings",
    title: "two accounts list no group in common",
    why: "",
    operation: None,
    clauses: &[Clause::AllOwnAccount],
    needs: &[Fact::SecondToken],
    run: Run::Cases(|_| Case::single(Cost::requests(3), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(second) = &probe.facts().second_token else { return Err(probe.skip("no second token")) };
    let name = &probe.contract().groups.api_key.name;
    let own = probe.control(&probe.groups()).await?;
    let other = probe.control(&probe.groups().query(name, second.expose())).await?;
    let again = probe.control(&probe.groups()).await?;
    for listing in [&own, &again] {
        // Whether ids are counted anew in each account is open, so whole groups are compared.
        let shared =
            items(&listing.answer).iter().filter(|group| items(&other.answer).contains(group)).count();
        if shared > 0 {
            let actual = format!("{shared} groups are in both listings");
            let exchanges = [&listing.exchange, &other.exchange];
            probe.finding(Clause::AllOwnAccount, "no group in common", &actual, &exchanges);
        }
    }
    Ok(())
}
