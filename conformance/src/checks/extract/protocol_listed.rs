use crate::check::{Check, Cost, Decision, Judgement, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.protocol.listed",
    title: "each listed protocol is accepted, and one may be left out",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractProtocol],
    needs: &[],
    cost: Cost::extraction(3, 3),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let good = probe.extract();
    probe.ground(&good).await?;
    let mut refused = Vec::new();
    for protocol in &extract.protocols {
        let request = good.clone().query(&extract.protocol.name, protocol);
        let (exchange, judgement) = probe.send(&request).await?;
        // Being short of gateways or slow is no refusal.
        if judgement.verdict() == Decision::Untold || matches!(judgement, Judgement::Endless(_)) {
            return Err(probe.inconclusive(&format!("{protocol}: {}", judgement.description())));
        }
        if judgement != Judgement::Accepted {
            refused.push((protocol, exchange, judgement));
        }
    }
    // Without the parameter the first protocol is meant, and the account has the entitlement for that.
    let default = extract.protocol.schema.default.as_ref().and_then(|default| default.as_str());
    for (protocol, exchange, judgement) in &refused {
        if Some(protocol.as_str()) == default {
            let expected = format!("accepted: {protocol}, which is the default and accepted when left out");
            probe.finding(Clause::ExtractProtocol, &expected, judgement.description(), &[exchange]);
        }
    }
    match refused.iter().find(|(protocol, ..)| Some(protocol.as_str()) != default) {
        None => Ok(()),
        Some((protocol, _, judgement)) => Err(probe.inconclusive(&format!(
            "{protocol} was refused; the account may lack the entitlement for it: {}",
            judgement.description()
        ))),
    }
}
