use super::shape;
use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.token-transport.each",
    title: "the token is taken from query, header and Authorization",
    operation: Some(OperationId::Extract),
    clauses: &["extract.token-transport"],
    needs: &[],
    cost: Cost::extraction(16, 16),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    for shape in shape::usable(probe).await? {
        for transport in Transport::ALL {
            let request = transport.carry(probe, shape.request.clone(), probe.token().expose());
            let why = format!("the token in {}, {}", transport.name(), shape.name);
            probe.accepts("extract.token-transport", &why, &request).await?;
        }
    }
    Ok(())
}
