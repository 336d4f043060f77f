use super::repetition;
use super::shape;
use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.header",
    title: "a request id in the header stands for one extraction",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent, Clause::ExtractRequestIdSource],
    needs: &[],
    cost: Cost::extraction(31, 139),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    // Beside a request id in the query the header would not be read.
    let shapes = shape::usable(probe).await?;
    for shape in
        shapes.into_iter().filter(|shape| shape.request.query_value(&extract.request_id.name).is_none())
    {
        let several = shape.request.query(&extract.num.name, repetition::ENTRIES);
        for transport in Transport::ALL {
            let id = probe.fresh_request_id();
            let request = transport.carry(probe, several.clone(), probe.token().expose());
            let in_query = request.clone().query(&extract.request_id.name, &id);
            let request = request.header(&extract.request_id_header.name, &id);
            let words = format!("{}, the token in {}", shape.name, transport.name());
            let same = format!("sent again with the same header, {words}");
            let moved = format!("the id of the header sent in the query, {words}");
            let again = [
                (Clause::ExtractIdempotent, same.as_str(), request.clone()),
                (Clause::ExtractRequestIdSource, moved.as_str(), in_query),
            ];
            repetition::judge_each(probe, &request, &again).await?;
        }
    }
    Ok(())
}
