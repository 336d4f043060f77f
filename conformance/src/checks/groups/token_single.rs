use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::token;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "groups.token.single",
    title: "a listing takes one token: none, an empty one, a repeated one are refused",
    why: "",
    operation: Some(OperationId::Groups),
    clauses: &[Clause::GroupsToken],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(11), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let name = &probe.contract().groups.api_key.name;
    let good = probe.groups();
    let token = probe.token().expose();
    let repeated = good.clone().add_query(name, token);
    probe.rejects_after_control(Clause::GroupsToken, "the token is sent twice", &good, &repeated).await?;
    let contradicting = good.clone().add_query(name, token::UNKNOWN);
    probe.rejects_after_control(Clause::GroupsToken, "two tokens are sent", &good, &contradicting).await?;
    let reversed = probe.groups().query(name, token::UNKNOWN).add_query(name, token);
    probe
        .rejects_after_control(
            Clause::GroupsToken,
            "two tokens are sent, the known one last",
            &good,
            &reversed,
        )
        .await?;
    if let Some(second) = &probe.facts().second_token {
        let accounts = good.clone().add_query(name, second.expose());
        probe
            .rejects_after_control(Clause::GroupsToken, "tokens of two accounts are sent", &good, &accounts)
            .await?;
    }
    token::required(probe, Clause::GroupsToken, &good, name).await
}
