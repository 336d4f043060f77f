use super::{count, text};
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.separator.default",
    title: "without lb the default separator is used",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSeparator],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(1, 3), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let separator = count::default_separator(&probe.contract().extract);
    let separator =
        separator.ok_or_else(|| Stop::Error("the default of lb names no separator".to_owned()))?;
    let accepted = probe.control(&text::request(probe)).await?;
    text::judge(probe, &accepted, separator).await
}
