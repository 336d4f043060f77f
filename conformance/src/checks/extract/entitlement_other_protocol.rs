use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;
use crate::wire::Request;

pub(super) static CHECK: Check = Check {
    id: "extract.entitlement.other-protocol",
    title: "an entitlement for one protocol is none for another",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractEntitlement],
    needs: &[Fact::TokenPartlyEntitled],
    run: Run::Cases(|_| Case::single(Cost::extraction(12, 6), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(token) = &probe.facts().token_partly_entitled else { return Err(probe.skip("no such token")) };
    let extract = &probe.contract().extract;
    let plain = probe.extract_without_token();
    let text = plain.clone().query(&extract.return_type.name, &extract.text);
    for (form, request) in [("in JSON", plain), ("in text", text)] {
        for transport in Transport::ALL {
            let request = transport.carry(probe, request.clone(), token.expose());
            judge(probe, &format!("{form}, the token in {}", transport.name()), &request).await?;
        }
    }
    Ok(())
}

/// Which protocols the account is entitled to shows by itself: some are accepted, and not all may be.
async fn judge(probe: &Probe<'_>, why: &str, request: &Request) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let mut accepted = Vec::new();
    for protocol in &extract.protocols {
        let (exchange, passes) =
            probe.is_accepted(&request.clone().query(&extract.protocol.name, protocol)).await?;
        if passes {
            accepted.push(exchange);
        }
    }
    if accepted.is_empty() {
        return Err(probe.inconclusive("the account is accepted with no protocol at all"));
    }
    if accepted.len() == extract.protocols.len() {
        let exchanges: Vec<_> = accepted.iter().collect();
        let expected = format!("one protocol refused at least, {why}");
        probe.finding(Clause::ExtractEntitlement, &expected, "all accepted", &exchanges);
    }
    Ok(())
}
