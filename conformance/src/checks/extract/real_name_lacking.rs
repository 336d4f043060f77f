use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.real-name.lacking",
    title: "an account without real-name verification is refused",
    operation: Some(OperationId::Extract),
    clauses: &["extract.real-name"],
    needs: &[Fact::TokenNotVerified],
    cost: Cost::extraction(4, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_not_verified else { return Err(probe.skip("no such token")) };
    let good = probe.extract();
    for transport in Transport::ALL {
        let bad = transport.carry(probe, probe.extract_without_token(), token.expose());
        let why = format!("an account without real-name verification, the token in {}", transport.name());
        probe.refuses("extract.real-name", &why, &good, &bad).await?;
    }
    Ok(())
}
