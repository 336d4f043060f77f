use super::shape;
use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.protocol.unlisted",
    title: "a protocol outside the list is refused, https among them",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractProtocol],
    needs: &[],
    cost: Cost::extraction(32, 7),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

/// Values that callers take for protocols: the contract names the first one, and the others are known from proxy URLs.
const NEAR: [&str; 5] = ["https", "socks", "socks4", "socks5h", "ftp"];

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let protocol = &extract.protocol;
    boundary::parameter(probe, protocol, &probe.extract(), |case| !case.allowed).await?;
    let near = NEAR.into_iter().filter(|near| extract.protocols.iter().all(|listed| listed != near));
    let near: Vec<_> = near.collect();
    for shape in shape::usable(probe).await? {
        for value in &near {
            let bad = shape.anew(probe).query(&protocol.name, value);
            let why = format!("{value} is not a protocol of a gateway, {}", shape.name);
            probe.refuses(Clause::ExtractProtocol, &why, &shape.good(probe), &bad).await?;
        }
    }
    for transport in Transport::ALL {
        let good = transport.carry(probe, probe.extract_without_token(), probe.token().expose());
        for value in near.iter().take(1) {
            let bad = good.clone().query(&protocol.name, value);
            let why = format!("{value} is not a protocol of a gateway, the token in {}", transport.name());
            probe.refuses(Clause::ExtractProtocol, &why, &good, &bad).await?;
        }
    }
    Ok(())
}
