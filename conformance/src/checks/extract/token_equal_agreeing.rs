use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.token-equal.agreeing",
    title: "the same token in several transports is accepted",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractTokenEqual],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(5, 5), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let token = probe.token().expose();
    probe.control_once(&probe.extract()).await?;
    let [query, header, bearer] = Transport::ALL;
    for transports in
        [vec![query, header], vec![query, bearer], vec![header, bearer], vec![query, header, bearer]]
    {
        let request = transports
            .iter()
            .fold(probe.extract_without_token(), |request, transport| transport.carry(probe, request, token));
        let names: Vec<_> = transports.iter().map(|transport| transport.name()).collect();
        let why = format!("the same token in {}", names.join(" and "));
        probe.accepts(Clause::ExtractTokenEqual, &why, &request).await?;
    }
    Ok(())
}
