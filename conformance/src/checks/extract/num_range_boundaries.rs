use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.num-range.boundaries",
    title: "num is refused outside its bounds",
    operation: Some(OperationId::Extract),
    clauses: &["extract.num-range"],
    needs: &[],
    cost: Cost::extraction(8, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

/// The smallest value is the control, and the largest one takes many gateways, so it has a check of its own.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    boundary::parameter(probe, &probe.contract().extract.num, &probe.extract(), |case| !case.allowed).await
}
