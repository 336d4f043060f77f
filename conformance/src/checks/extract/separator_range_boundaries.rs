use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::checks::boundary;
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.separator-range.boundaries",
    title: "an lb outside the list is refused",
    operation: Some(OperationId::Extract),
    clauses: &["extract.separator-range"],
    needs: &[],
    cost: Cost::extraction(10, 1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let lb = &extract.lb;
    // lb applies to text answers only.
    let good = probe.extract().query(&extract.return_type.name, &extract.text);
    boundary::parameter(probe, lb, &good, |case| !case.allowed).await?;
    let codes: Vec<i64> = lb.schema.values.iter().filter_map(|code| code.as_str()?.parse().ok()).collect();
    for outside in [codes.iter().min().map(|least| least - 1), codes.iter().max().map(|most| most + 1)] {
        let Some(outside) = outside else { continue };
        let bad = good.clone().query(&lb.name, outside);
        let why = format!("{}={outside}, just outside the list", lb.name);
        probe.refuses("extract.separator-range", &why, &good, &bad).await?;
    }
    Ok(())
}
