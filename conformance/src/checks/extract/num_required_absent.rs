use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.num-required.absent",
    title: "an extraction without num is refused",
    operation: Some(OperationId::Extract),
    clauses: &["extract.num-required"],
    needs: &[],
    cost: Cost::extraction(3, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let num = &probe.contract().extract.num;
    let good = probe.extract();
    let absent = good.clone().without_query(&num.name);
    probe.refuses("extract.num-required", "num is absent", &good, &absent).await?;
    let empty = good.clone().query(&num.name, "");
    probe.refuses("extract.num-required", "num is empty", &good, &empty).await
}
