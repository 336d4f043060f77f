use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::checks::boundary;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.sb-length.boundaries",
    title: "sb is measured in bytes of UTF-8",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractSbLength],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(5, 3), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let good = probe
        .extract()
        .query(&extract.return_type.name, &extract.text)
        .query(&extract.lb.name, &extract.custom_separator)
        .query(&extract.sb.name, "|");
    boundary::parameter(probe, &extract.sb, &good, |_| true).await
}
