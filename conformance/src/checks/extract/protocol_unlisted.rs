use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.protocol.unlisted",
    title: "a protocol outside the list is refused, https among them",
    operation: Some(OperationId::Extract),
    clauses: &["extract.protocol"],
    needs: &[],
    cost: Cost::extraction(4, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let protocol = &probe.contract().extract.protocol;
    let good = probe.extract();
    boundary::parameter(probe, protocol, &good, |case| !case.allowed).await?;
    // The clause names this value, because callers take it for one.
    let https = good.clone().query(&protocol.name, "https");
    probe.refuses("extract.protocol", "https is not a protocol of a gateway", &good, &https).await
}
