use super::items::shared;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::Clause;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.own-account.instances",
    title: "a second account does not see the instances of the first",
    why: "",
    operation: None,
    clauses: &[Clause::AllOwnAccount],
    needs: &[Fact::OwnAddresses, Fact::SecondToken],
    run: Run::Cases(|_| Case::single(Cost::requests(8), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(second) = &probe.facts().second_token else { return Err(probe.skip("no second token")) };
    let search = &probe.contract().search;
    let request =
        probe.search(probe.own_addresses(SAMPLE)).field(&search.page_size.name, *search.page_sizes.end());
    let other = request.clone().query(&search.api_key.name, second.expose());
    let first = probe.control(&request).await?;
    let Some(seen) =
        probe.accepts(Clause::AllOwnAccount, "the same search by a second account", &other).await?
    else {
        return Ok(());
    };
    let shared = shared(&first.answer, &seen.answer, &search.instance_fields);
    if shared > 0 {
        let actual = format!("both accounts see {shared} instances");
        let expected = "instances that belong to one account each";
        probe.finding(Clause::AllOwnAccount, expected, &actual, &[&first.exchange, &seen.exchange]);
    }
    Ok(())
}

/// How many addresses are looked at.
const SAMPLE: usize = 100;
