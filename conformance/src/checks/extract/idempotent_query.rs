use super::repetition;
use super::shape::Kind;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Scope, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.query",
    title: "a request id in the query stands for one extraction",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[],
    run: Run::Cases(cases),
};

fn cases(scope: &Scope<'_>) -> Vec<Case> {
    let of_kind = |kind: Kind| Transport::ALL.map(|transport| (kind.clone(), transport));
    let case = |data: (Kind, Transport)| {
        let label = format!("{}/{}", data.0.label(), data.1.label());
        let cost = Cost::extraction(3, 3 * repetition::ENTRIES_COUNT);
        let kind = data.0.clone();
        kind.control(Case::with(label, cost, data, |probe, data| Box::pin(run(probe, data))))
    };
    Kind::all(&scope.contract.extract).into_iter().flat_map(of_kind).map(case).collect()
}

async fn run(probe: &Probe<'_>, (kind, transport): (Kind, Transport)) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let shape = kind.usable(probe).await?;
    let several = shape.request.query(&extract.num.name, repetition::ENTRIES);
    let request = transport.carry(probe, several, probe.token().expose());
    let request = request.query(&extract.request_id.name, probe.fresh_request_id());
    let words = format!("{}, the token in {}", shape.name, transport.name());
    let (again, third) = (format!("sent again, {words}"), format!("sent a third time, {words}"));
    let again = [(again.as_str(), request.clone()), (third.as_str(), request.clone())];
    repetition::judge(probe, Clause::ExtractIdempotent, &request, &again).await
}
