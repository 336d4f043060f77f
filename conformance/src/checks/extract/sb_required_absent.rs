use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.sb-required.absent",
    title: "lb=6 is refused without sb and with an empty one",
    operation: Some(OperationId::Extract),
    clauses: &["extract.sb-required"],
    needs: &[],
    cost: Cost::extraction(3, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let custom = probe
        .extract()
        .query(&extract.return_type.name, &extract.text)
        .query(&extract.lb.name, &extract.custom_separator);
    let good = custom.clone().query(&extract.sb.name, "|");
    probe.refuses("extract.sb-required", "sb is absent", &good, &custom).await?;
    let empty = custom.query(&extract.sb.name, "");
    probe.refuses("extract.sb-required", "sb is empty", &good, &empty).await
}
