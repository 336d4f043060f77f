use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::token;
use crate::contract::Clause;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "all.token-required.revoked",
    title: "no operation answers to a revoked token",
    why: "",
    operation: None,
    clauses: &[Clause::AllTokenRequired],
    needs: &[Fact::RevokedToken],
    run: Run::Cases(|_| Case::single(Cost::extraction(6, 1), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(revoked) = &probe.facts().revoked_token else { return Err(probe.skip("no such token")) };
    let contract = probe.contract();
    let requests = [
        (probe.groups(), &contract.groups.api_key),
        (probe.any_search(), &contract.search.api_key),
        (probe.extract(), &contract.extract.api_key),
    ];
    let mut aside = None;
    for (good, api_key) in &requests {
        let bad = good.clone().query(&api_key.name, revoked.expose());
        let result =
            probe.rejects_after_control(Clause::AllTokenRequired, "the token was revoked", good, &bad).await;
        token::set_aside(result, &mut aside)?;
    }
    aside.map_or(Ok(()), Err)
}
