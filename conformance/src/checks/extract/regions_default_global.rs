use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.regions-default.global",
    title: "regions may be left out and may be sent as its default",
    operation: Some(OperationId::Extract),
    clauses: &["extract.regions-default"],
    needs: &[],
    cost: Cost::extraction(3, 3),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let default =
        extract.regions.schema.default.as_ref().and_then(|default| default.as_str()).unwrap_or_default();
    probe.ground(&probe.extract()).await?;
    let absent = probe.extract().without_query(&extract.regions.name);
    let sent = absent.clone().query(&extract.regions.name, default);
    // The region of the control is plentiful, so that a shortage everywhere else would be another matter.
    probe.accepts("extract.regions-default", &format!("regions={default}"), &sent).await?;
    probe.accepts("extract.regions-default", "regions is absent", &absent).await?;
    Ok(())
}
