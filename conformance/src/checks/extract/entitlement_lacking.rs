use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.entitlement.lacking",
    title: "an account without the entitlement is refused",
    operation: Some(OperationId::Extract),
    clauses: &["extract.entitlement"],
    needs: &[Fact::TokenNotEntitled],
    cost: Cost::extraction(4, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_not_entitled else { return Err(probe.skip("no such token")) };
    let good = probe.extract();
    for transport in Transport::ALL {
        let bad = transport.carry(probe, probe.extract_without_token(), token.expose());
        let why = format!("an account without the entitlement, the token in {}", transport.name());
        probe.refuses("extract.entitlement", &why, &good, &bad).await?;
    }
    Ok(())
}
