use super::shape;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.real-name.lacking",
    title: "an account without real-name verification is refused",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractRealName],
    needs: &[Fact::TokenNotVerified],
    run: Run::Cases(|_| Case::single(Cost::extraction(16, 4), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_not_verified else { return Err(probe.skip("no such token")) };
    for shape in shape::usable(probe).await? {
        for transport in Transport::ALL {
            let bad = transport.carry(probe, shape.request.clone(), token.expose());
            let why = format!(
                "an account without real-name verification, {}, the token in {}",
                shape.name,
                transport.name()
            );
            probe.rejects_after_control(Clause::ExtractRealName, &why, &shape.good(probe), &bad).await?;
        }
    }
    Ok(())
}
