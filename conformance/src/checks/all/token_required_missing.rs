use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::token;
use crate::contract::Clause;

pub(super) static CHECK: Check = Check {
    id: "all.token-required.missing",
    title: "no operation answers without a known token",
    why: "",
    operation: None,
    clauses: &[Clause::AllTokenRequired],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(28, 2), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let contract = probe.contract();
    let extract = &contract.extract;
    let requests = [
        (probe.groups(), &contract.groups.api_key),
        (probe.any_search(), &contract.search.api_key),
        (probe.extract(), &extract.api_key),
        (probe.extract().query(&extract.return_type.name, &extract.text), &extract.api_key),
    ];
    let mut aside = None;
    for (good, api_key) in &requests {
        let result = token::required(probe, Clause::AllTokenRequired, good, &api_key.name).await;
        token::set_aside(result, &mut aside)?;
    }
    aside.map_or(Ok(()), Err)
}
