use super::shape;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.whitelist.lacking",
    title: "a caller outside the whitelist is refused at every call",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractWhitelist],
    needs: &[Fact::TokenNotWhitelisted],
    run: Run::Cases(|_| Case::single(Cost::extraction(16, 4), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_not_whitelisted else { return Err(probe.skip("no such token")) };
    for shape in shape::usable(probe).await? {
        for transport in Transport::ALL {
            let bad = transport.carry(probe, shape.request.clone(), token.expose());
            let why = format!(
                "an account whose whitelist lacks the caller, {}, the token in {}",
                shape.name,
                transport.name()
            );
            probe.rejects_after_control(Clause::ExtractWhitelist, &why, &shape.good(probe), &bad).await?;
        }
    }
    Ok(())
}
