use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::{OperationId, boundaries};

pub(super) static CHECK: Check = Check {
    id: "extract.num-range.boundaries",
    title: "num is taken inside its bounds and refused outside",
    operation: Some(OperationId::Extract),
    clauses: &["extract.num-range"],
    needs: &[],
    cost: Cost::extraction(8, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

/// The largest value takes many gateways, so it has a check of its own.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let num = &probe.contract().extract.num;
    let good = probe.extract();
    for case in boundaries(&num.schema).into_iter().filter(|case| !case.allowed) {
        let bad = good.clone().query(&num.name, case.text());
        let clause = num.citations.of(case.keyword).unwrap_or("extract.num-range");
        let why = format!("{}={}, {}", num.name, case.text(), case.reason);
        probe.refuses(clause, &why, &good, &bad).await?;
    }
    Ok(())
}
