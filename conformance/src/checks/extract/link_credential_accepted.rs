use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.link-credential.accepted",
    title: "a legacy API Link credential is accepted",
    operation: Some(OperationId::Extract),
    clauses: &["extract.link-credential"],
    needs: &[Fact::LinkCredential],
    cost: Cost::extraction(2, 2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(link) = &probe.facts().link_credential else { return Err(probe.skip("no link credential")) };
    probe.ground(&probe.extract()).await?;
    let request = Transport::Query.carry(probe, probe.extract_without_token(), link.expose());
    probe.accepts("extract.link-credential", "the legacy credential in the query", &request).await?;
    Ok(())
}
