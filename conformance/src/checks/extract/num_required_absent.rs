use super::shape;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.num-required.absent",
    title: "an extraction without num is refused",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractNumRequired],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(12, 4), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let num = &probe.contract().extract.num;
    for shape in shape::usable(probe).await? {
        let good = shape.good(probe);
        let absent = shape.anew(probe).without_query(&num.name);
        let why = format!("num is absent, {}", shape.name);
        probe.rejects_after_control(Clause::ExtractNumRequired, &why, &good, &absent).await?;
        let empty = shape.anew(probe).query(&num.name, "");
        let why = format!("num is empty, {}", shape.name);
        probe.rejects_after_control(Clause::ExtractNumRequired, &why, &good, &empty).await?;
    }
    Ok(())
}
