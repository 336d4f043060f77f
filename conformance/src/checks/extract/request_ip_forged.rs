use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;
use crate::wire::is_loopback;

pub(super) static CHECK: Check = Check {
    id: "extract.request-ip.forged",
    title: "request_ip is not what a caller claims in a header",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractRequestIp],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(7, 7), |probe| Box::pin(run(probe)))),
};

/// A service may trust a proxy on its own machine, and the suite may stand where that proxy would. There only the address
/// that the tester names tells a forged one from a forwarded one.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    probe.control_once(&probe.extract()).await?;
    let trusted = is_loopback(probe.base()) && probe.facts().egress_ip.is_none();
    let forwarded = format!("for={FORGED}");
    let claims = HEADERS.map(|name| (name, FORGED)).into_iter().chain([("Forwarded", forwarded.as_str())]);
    for (name, value) in claims {
        let (exchange, _) = probe.send(&probe.extract().header(name, value)).await?;
        let claimed = exchange.result.as_ref().ok().and_then(|answer| answer.at("/request_ip")?.as_str());
        if claimed == Some(FORGED) && trusted {
            let reason =
                format!("a service on this machine may trust {name} from it: supply {}", Fact::EgressIp);
            return Err(probe.inconclusive(&reason));
        }
        if claimed == Some(FORGED) {
            let actual = format!("the address of a forged {name}");
            probe.finding(Clause::ExtractRequestIp, "the real address of the caller", &actual, &[&exchange]);
        }
    }
    Ok(())
}

/// An address of a documentation range (RFC 5737), which no call comes from.
const FORGED: &str = "192.0.2.77";

/// Headers by which machines in front of a service tell it where a call came from.
const HEADERS: [&str; 4] = ["X-Forwarded-For", "X-Real-IP", "X-Client-IP", "True-Client-IP"];
