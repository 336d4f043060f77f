use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.return-type.unlisted",
    title: "a return_type outside the list is refused",
    operation: Some(OperationId::Extract),
    clauses: &["extract.return-type"],
    needs: &[],
    cost: Cost::extraction(3, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    boundary::parameter(probe, &probe.contract().extract.return_type, &probe.extract(), |case| !case.allowed)
        .await
}
