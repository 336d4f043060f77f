use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.protocol.default",
    title: "without protocol the default one is meant",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractProtocol],
    needs: &[Fact::TokenPartlyEntitled],
    run: Run::Cases(|_| Case::single(Cost::extraction(3, 3), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_partly_entitled else { return Err(probe.skip("no such token")) };
    let extract = &probe.contract().extract;
    let absent = Transport::Query.carry(probe, probe.extract_without_token(), token.expose());
    let (unnamed, unnamed_passes) = probe.is_accepted(&absent).await?;
    let default =
        extract.protocol.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default();
    let (named, named_passes) =
        probe.is_accepted(&absent.clone().query(&extract.protocol.name, default)).await?;
    // The account is entitled to some protocols only, so that one protocol passes and another does not.
    if unnamed_passes != named_passes {
        let word = |passes| if passes { "accepted" } else { "refused" };
        let expected = format!("{}, as with protocol={default}", word(named_passes));
        probe.finding(Clause::ExtractProtocol, &expected, word(unnamed_passes), &[&unnamed, &named]);
    }
    Ok(())
}
