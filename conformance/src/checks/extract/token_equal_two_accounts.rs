use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.token-equal.two-accounts",
    title: "valid tokens of two accounts in two transports are refused",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractTokenEqual],
    needs: &[Fact::SecondToken],
    run: Run::Cases(|_| Case::single(Cost::extraction(9, 3), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(second) = &probe.facts().second_token else { return Err(probe.skip("no second token")) };
    for first in Transport::ALL {
        let good = first.carry(probe, probe.extract_without_token(), probe.token().expose());
        for other in Transport::ALL.into_iter().filter(|other| *other != first) {
            let bad = other.carry(probe, good.clone(), second.expose());
            let why = format!("one account in {} and another in {}", first.name(), other.name());
            probe.rejects_after_control(Clause::ExtractTokenEqual, &why, &good, &bad).await?;
        }
    }
    Ok(())
}
