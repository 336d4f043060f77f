use super::repetition;
use super::shape::Kind;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.header",
    title: "a request id in the header stands for one extraction",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent, Clause::ExtractRequestIdSource],
    needs: &[],
    run: Run::Cases(cases),
};

/// Beside a request id in the query the header would not be read.
fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let kinds = Kind::all(&scope.contract.extract).into_iter().filter(|kind| *kind != Kind::RequestId);
    let of_kind = |kind: Kind| Transport::ALL.map(|transport| (kind.clone(), transport));
    let case = |data: (Kind, Transport)| {
        let label = format!("{}/{}", data.0.label(), data.1.label());
        let cost = Cost::extraction(3, 3 * repetition::ENTRIES_COUNT);
        let kind = data.0.clone();
        kind.control(Case::with(label, cost, data, |probe, data| Box::pin(run(probe, data))))
    };
    kinds.flat_map(of_kind).map(case).collect()
}

async fn run(probe: &Probe<'_>, (kind, transport): (Kind, Transport)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let shape = kind.usable(probe).await?;
    let several = shape.request.query(&extract.num.name, repetition::ENTRIES);
    let id = probe.fresh_request_id();
    let request = transport.carry(probe, several, probe.token().expose());
    let in_query = request.clone().query(&extract.request_id.name, &id);
    let request = request.header(&extract.request_id_header.name, &id);
    let words = format!("{}, the token in {}", shape.name, transport.name());
    let same = format!("sent again with the same header, {words}");
    let moved = format!("the id of the header sent in the query, {words}");
    let again = [
        (Clause::ExtractIdempotent, same.as_str(), request.clone()),
        (Clause::ExtractRequestIdSource, moved.as_str(), in_query),
    ];
    repetition::judge_each(probe, &request, &again).await
}
