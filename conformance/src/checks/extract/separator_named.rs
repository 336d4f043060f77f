use super::text;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.separator.named",
    title: "each lb puts its own separator between entries",
    operation: Some(OperationId::Extract),
    clauses: &["extract.separator"],
    needs: &[],
    cost: Cost::extraction(5, 15),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let good = text::request(probe);
    for separator in &extract.separators {
        let request = good.clone().query(&extract.lb.name, &separator.code);
        let why = format!("{}={}", extract.lb.name, separator.code);
        probe.ground(&probe.extract()).await?;
        if let Some(accepted) = probe.accepts("extract.separator", &why, &request).await? {
            text::judge(probe, &accepted, &separator.text)?;
        }
    }
    Ok(())
}
