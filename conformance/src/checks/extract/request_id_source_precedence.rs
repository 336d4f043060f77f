use super::repetition;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.request-id-source.precedence",
    title: "the request id of the query goes before that of the header",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractRequestIdSource],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(4, 20), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let (in_query, in_header) = (probe.fresh_request_id(), probe.fresh_request_id());
    let base = repetition::request(probe);
    let both = base
        .clone()
        .query(&extract.request_id.name, &in_query)
        .header(&extract.request_id_header.name, &in_header);
    let query_alone = base.clone().query(&extract.request_id.name, &in_query);
    let another_header =
        query_alone.clone().header(&extract.request_id_header.name, probe.fresh_request_id());
    let again = [
        ("the id of the query alone", query_alone),
        ("the id of the query beside another header", another_header),
    ];
    repetition::judge(probe, Clause::ExtractRequestIdSource, &both, &again).await
}
