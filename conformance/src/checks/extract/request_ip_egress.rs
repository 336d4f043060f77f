use std::net::Ipv4Addr;

use super::shape;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.request-ip.egress",
    title: "request_ip is the address that the call comes from",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractRequestIp],
    needs: &[Fact::EgressIp],
    run: Run::Cases(|_| Case::single(Cost::extraction(17, 116), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let egress = probe.facts().egress_ip;
    for shape in shape::usable(probe).await? {
        for transport in Transport::ALL {
            let request = transport.carry(probe, shape.request.clone(), probe.token().expose());
            let accepted = probe.control(&request).await?;
            // A text answer does not name it.
            let Some(actual) = accepted.answer.at("/request_ip") else { continue };
            if actual.as_str().and_then(|ip| ip.parse::<Ipv4Addr>().ok()) != egress {
                let expected = egress.map(|ip| ip.to_string()).unwrap_or_default();
                let words = format!("{actual}, {}, the token in {}", shape.name, transport.name());
                probe.finding(Clause::ExtractRequestIp, &expected, &words, &[&accepted.exchange]);
            }
        }
    }
    if let Some(region) = &probe.facts().scarce_region {
        let extract = &probe.contract().extract;
        let few = probe
            .extract()
            .query(&extract.regions.name, region)
            .query(&extract.num.name, extract.num_range.end());
        let (exchange, _) = probe.send_once(&few).await?;
        let actual = exchange.result.as_ref().ok().and_then(|answer| answer.at("/request_ip"));
        // A shortage names no address.
        if let Some(actual) =
            actual.filter(|ip| ip.as_str().and_then(|ip| ip.parse::<Ipv4Addr>().ok()) != egress)
        {
            let expected = egress.map(|ip| ip.to_string()).unwrap_or_default();
            probe.finding(
                Clause::ExtractRequestIp,
                &expected,
                &format!("{actual}, of a scarce region"),
                &[&exchange],
            );
        }
    }
    Ok(())
}
