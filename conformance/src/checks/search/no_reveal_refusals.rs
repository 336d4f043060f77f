use super::{addresses, likeness};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::relation::address_of;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "search.no-reveal.refusals",
    title: "a batch with a bad item is refused alike with foreign addresses and with addresses that nobody has",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchNoReveal],
    needs: &[Fact::ForeignAddresses],
    run: Run::Cases(|_| Case::single(Cost::requests(6), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let foreign = probe.facts().foreign_addresses.iter().find_map(|item| Some(address_of(item)?.0));
    let Some(foreign) = foreign else { return Err(probe.skip("none of the foreign addresses is one")) };
    let (known, unknown) = (foreign.to_string(), addresses::unknown(foreign).to_string());
    for bad in ["203.0.113.0/24", "203.0.113.250:0"] {
        let asked = |item: &str| probe.search([item, bad]);
        let foreign = ("the foreign address", known.as_str(), &asked(&known));
        likeness::judge(probe, Clause::SearchNoReveal, foreign, (&unknown, &asked(&unknown))).await?;
    }
    Ok(())
}
