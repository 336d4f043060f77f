use std::net::Ipv4Addr;

use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.request-ip.egress",
    title: "request_ip is the address that the call comes from",
    operation: Some(OperationId::Extract),
    clauses: &["extract.request-ip"],
    needs: &[Fact::EgressIp],
    cost: Cost::extraction(1, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let accepted = probe.control(&probe.extract()).await?;
    let actual = accepted.answer.at("/request_ip").and_then(|ip| ip.as_str()).unwrap_or_default();
    let expected = probe.facts().egress_ip;
    if actual.parse::<Ipv4Addr>().ok() != expected {
        let expected = expected.map(|ip| ip.to_string()).unwrap_or_default();
        probe.finding("extract.request-ip", &expected, actual, &[&accepted.exchange]);
    }
    Ok(())
}
