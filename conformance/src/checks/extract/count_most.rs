use super::count;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.count.most",
    title: "an extraction returns no more entries than num",
    operation: Some(OperationId::Extract),
    clauses: &["extract.count"],
    needs: &[],
    cost: Cost::extraction(3, 6),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let least = *extract.num_range.start();
    for asked in least..=(least + 2).min(*extract.num_range.end()) {
        let accepted = probe.control(&probe.extract().query(&extract.num.name, asked)).await?;
        count::judge(probe, &accepted.exchange, &accepted.answer, asked);
    }
    Ok(())
}
