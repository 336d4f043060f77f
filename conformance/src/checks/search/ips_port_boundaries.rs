use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.ips-port.boundaries",
    title: "a port is taken inside its bounds and refused outside",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchIpsPort],
    needs: &[],
    cost: Cost::requests(13),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let ports = &probe.contract().search.ports;
    let (least, most) = (*ports.start(), *ports.end());
    let good = probe.search([Probe::NOBODYS_ADDRESS]);
    probe.ground(&good).await?;
    for address in [Probe::NOBODYS_ADDRESS, "[2001:db8::250]"] {
        for port in [least, most] {
            let item = format!("{address}:{port}");
            probe
                .accepts(Clause::SearchIpsPort, &format!("the item {item}"), &probe.search([item.as_str()]))
                .await?;
        }
        for port in [least - 1, most + 1, -1, i64::MAX] {
            let item = format!("{address}:{port}");
            let bad = probe.search([item.as_str()]);
            probe.refuses(Clause::SearchIpsPort, &format!("the item {item}"), &good, &bad).await?;
        }
    }
    Ok(())
}
