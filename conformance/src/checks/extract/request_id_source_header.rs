use super::shape;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.request-id-source.header",
    title: "a request id in the header is accepted, alone and beside one in the query",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractRequestIdSource],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(9, 9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    for shape in shape::usable(probe).await? {
        let header = &extract.request_id_header.name;
        let request = shape.good(probe).header(header, probe.fresh_request_id());
        let why = format!("a request id in the header, {}", shape.name);
        probe.accepts(Clause::ExtractRequestIdSource, &why, &request).await?;
    }
    Ok(())
}
