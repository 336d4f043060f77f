use crate::check::{Case, Check, Cost, Decision, Probe, ResponseClass, Run, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.protocol.listed",
    title: "each listed protocol is accepted, and one may be left out",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractProtocol],
    needs: &[],
    run: Run::Cases(cases),
};

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let case = |protocol: &String| {
        let cost = Cost::extraction(1, 1);
        Case::with(protocol.clone(), cost, protocol.clone(), |probe, protocol| Box::pin(run(probe, protocol)))
            .control("plain", Cost::extraction(1, 1))
    };
    scope.contract.extract.protocols.iter().map(case).collect()
}

/// Without the parameter the default protocol is meant, and the account has the entitlement for that.
async fn run(probe: &Probe<'_>, protocol: String) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let good = probe.extract();
    probe.control_once(&good).await?;
    let (exchange, class) = probe.send(&good.query(&extract.protocol.name, &protocol)).await?;
    // Being short of gateways or slow is no rejection.
    if class.decision() == Decision::Undecided || matches!(class, ResponseClass::Timeout(_)) {
        return Err(probe.inconclusive(&format!("{protocol}: {}", class.description())));
    }
    let default = extract.protocol.schema.default.as_ref().and_then(|default| default.as_str());
    if class == ResponseClass::Accepted {
        Ok(())
    } else if Some(protocol.as_str()) == default {
        let expected = format!("accepted: {protocol}, which is the default and accepted when left out");
        probe.finding(Clause::ExtractProtocol, &expected, class.description(), &[&exchange]);
        Ok(())
    } else {
        Err(probe.inconclusive(&format!(
            "{protocol} was refused; the account may lack the entitlement for it: {}",
            class.description()
        )))
    }
}
