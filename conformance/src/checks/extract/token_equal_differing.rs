use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::token;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.token-equal.differing",
    title: "different tokens in two transports are refused, whichever is the right one",
    operation: Some(OperationId::Extract),
    clauses: &["extract.token-equal"],
    needs: &[],
    cost: Cost::extraction(10, 3),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let known = probe.token().expose();
    for right in Transport::ALL {
        let good = right.carry(probe, probe.extract_without_token(), known);
        for wrong in Transport::ALL.into_iter().filter(|wrong| *wrong != right) {
            let bad = wrong.carry(probe, good.clone(), token::UNKNOWN);
            let why = format!("the token in {} and another in {}", right.name(), wrong.name());
            probe.refuses("extract.token-equal", &why, &good, &bad).await?;
        }
    }
    Ok(())
}
