use super::shape;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId, boundaries};

pub(super) static CHECK: Check = Check {
    id: "extract.num-range.boundaries",
    title: "num is refused outside its bounds",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractNumRange],
    needs: &[],
    cost: Cost::extraction(36, 4),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

/// The smallest value is the control, and the largest one takes many gateways, so it has a check of its own.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let num = &probe.contract().extract.num;
    for shape in shape::usable(probe).await? {
        let good = shape.good(probe);
        let outside = boundaries(&num.schema).into_iter().filter(|case| !case.allowed);
        let outside = outside.map(|case| (case.text(), case.reason));
        for (value, reason) in outside.chain([("-1".to_owned(), "a negative number")]) {
            let bad = shape.anew(probe).query(&num.name, &value);
            let why = format!("{}={value}, {reason}, {}", num.name, shape.name);
            probe.refuses(Clause::ExtractNumRange, &why, &good, &bad).await?;
        }
    }
    Ok(())
}
