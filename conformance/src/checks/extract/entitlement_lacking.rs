use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.entitlement.lacking",
    title: "an account without the entitlement is refused for every protocol",
    operation: Some(OperationId::Extract),
    clauses: &["extract.entitlement"],
    needs: &[Fact::TokenNotEntitled],
    cost: Cost::extraction(4, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_not_entitled else { return Err(probe.skip("no such token")) };
    let extract = &probe.contract().extract;
    let good = probe.extract();
    let without = Transport::Query.carry(probe, probe.extract_without_token(), token.expose());
    probe.refuses("extract.entitlement", "an account without entitlement", &good, &without).await?;
    for protocol in &extract.protocols {
        let bad = without.clone().query(&extract.protocol.name, protocol);
        let why = format!("an account without entitlement, protocol={protocol}");
        probe.refuses("extract.entitlement", &why, &good, &bad).await?;
    }
    Ok(())
}
