use super::shape;
use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.link-credential.accepted",
    title: "a legacy API Link credential is accepted, again and again",
    operation: Some(OperationId::Extract),
    clauses: &["extract.link-credential"],
    needs: &[Fact::LinkCredential],
    cost: Cost::extraction(12, 12),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(link) = &probe.facts().link_credential else { return Err(probe.skip("no link credential")) };
    for shape in shape::usable(probe).await? {
        for time in ["the first time", "once more"] {
            let request = Transport::Query.carry(probe, shape.request.clone(), link.expose());
            let why = format!("the legacy credential in the query, {}, {time}", shape.name);
            probe.accepts("extract.link-credential", &why, &request).await?;
        }
    }
    Ok(())
}
