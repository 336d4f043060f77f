use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::token;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.token-transport.unknown",
    title: "an empty, an unknown or an almost right token is refused in each transport",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::AllTokenRequired],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(16, 1), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let good = probe.extract();
    for transport in Transport::ALL {
        for (what, token) in token::wrong(probe) {
            let bad = transport.carry(probe, probe.extract_without_token(), &token);
            let why = format!("{what}, in {}", transport.name());
            probe.rejects_after_control(Clause::AllTokenRequired, &why, &good, &bad).await?;
        }
    }
    Ok(())
}
