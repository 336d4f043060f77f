use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::token;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.token.single",
    title: "a search takes one token: none, an empty one, a repeated one are refused",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchToken],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let name = &probe.contract().search.api_key.name;
    let good = probe.any_search();
    let repeated = good.clone().add_query(name, probe.token().expose());
    probe.rejects_after_control(Clause::SearchToken, "the token is sent twice", &good, &repeated).await?;
    let contradicting = good.clone().add_query(name, token::UNKNOWN);
    probe.rejects_after_control(Clause::SearchToken, "two tokens are sent", &good, &contradicting).await?;
    token::required(probe, Clause::SearchToken, &good, name).await
}
