use super::transport::Transport;
use crate::check::{Check, Cost, Judgement, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.entitlement.other-protocol",
    title: "an entitlement for one protocol is none for another",
    operation: Some(OperationId::Extract),
    clauses: &["extract.entitlement"],
    needs: &[Fact::TokenPartlyEntitled],
    cost: Cost::extraction(3, 3),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

/// Which protocols the account is entitled to shows by itself: some are accepted, and not all may be.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_partly_entitled else { return Err(probe.skip("no such token")) };
    let extract = &probe.contract().extract;
    let mut accepted = Vec::new();
    for protocol in &extract.protocols {
        let request = probe.extract_without_token().query(&extract.protocol.name, protocol);
        let (exchange, judgement) =
            probe.send(&Transport::Query.carry(probe, request, token.expose())).await?;
        if judgement == Judgement::Accepted {
            accepted.push(exchange);
        }
    }
    if accepted.is_empty() {
        return Err(probe.inconclusive("the account is accepted with no protocol at all"));
    }
    if accepted.len() == extract.protocols.len() {
        let exchanges: Vec<_> = accepted.iter().collect();
        probe.finding("extract.entitlement", "one protocol refused at least", "all accepted", &exchanges);
    }
    Ok(())
}
