use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.request-ip.forged",
    title: "request_ip is not what a caller claims in a header",
    operation: Some(OperationId::Extract),
    clauses: &["extract.request-ip"],
    needs: &[],
    cost: Cost::extraction(2, 2),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    probe.ground(&probe.extract()).await?;
    let forged = probe.extract().header("X-Forwarded-For", FORGED).header("X-Real-IP", FORGED);
    let (exchange, _) = probe.send(&forged).await?;
    let claimed = exchange.result.as_ref().ok().and_then(|answer| answer.at("/request_ip")?.as_str());
    if claimed == Some(FORGED) {
        let expected = "the real address of the caller";
        probe.finding("extract.request-ip", expected, "the address of a forged header", &[&exchange]);
    }
    Ok(())
}

/// An address of a documentation range (RFC 5737), which no call comes from.
const FORGED: &str = "192.0.2.77";
