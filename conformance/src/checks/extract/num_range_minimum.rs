use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.num-range.minimum",
    title: "the smallest num is accepted",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractNumRange],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(2, 3), |probe| Box::pin(run(probe)))),
};

/// Every other check stands on the smallest value; this one stands on the next.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let least = *extract.num_range.start();
    if least >= *extract.num_range.end() {
        return Err(probe.skip("num has one value only"));
    }
    probe.control_once(&probe.extract().query(&extract.num.name, least + 1)).await?;
    let why = format!("{}={least}, the smallest value", extract.num.name);
    probe.accepts(Clause::ExtractNumRange, &why, &probe.extract().query(&extract.num.name, least)).await?;
    Ok(())
}
