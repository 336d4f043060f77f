use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::token;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.token-transport.unknown",
    title: "an unknown token is refused in each transport",
    operation: Some(OperationId::Extract),
    clauses: &["all.token-required"],
    needs: &[],
    cost: Cost::extraction(4, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let good = probe.extract();
    for transport in Transport::ALL {
        let bad = transport.carry(probe, probe.extract_without_token(), token::UNKNOWN);
        let why = format!("an unknown token in {}", transport.name());
        probe.refuses("all.token-required", &why, &good, &bad).await?;
    }
    Ok(())
}
