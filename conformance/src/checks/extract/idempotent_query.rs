use super::repetition;
use super::shape;
use super::transport::Transport;
use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.idempotent.query",
    title: "a request id in the query stands for one extraction",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractIdempotent],
    needs: &[],
    cost: Cost::extraction(40, 184),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    for shape in shape::usable(probe).await? {
        let several = shape.request.query(&extract.num.name, repetition::ENTRIES);
        for transport in Transport::ALL {
            let request = transport.carry(probe, several.clone(), probe.token().expose());
            let request = request.query(&extract.request_id.name, probe.fresh_request_id());
            let words = format!("{}, the token in {}", shape.name, transport.name());
            let (again, third) = (format!("sent again, {words}"), format!("sent a third time, {words}"));
            let again = [(again.as_str(), request.clone()), (third.as_str(), request.clone())];
            repetition::judge(probe, Clause::ExtractIdempotent, &request, &again).await?;
        }
    }
    Ok(())
}
