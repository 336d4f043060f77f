use super::shape;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "extract.token-transport.each",
    title: "the token is taken from query, header and Authorization",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractTokenTransport],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(20, 20), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let token = probe.token().expose();
    let plain = |transport: Transport| transport.carry(probe, probe.extract_without_token(), token);
    // A service that takes the token in one way at least shows that the token is good.
    let mut ground = Err(probe.inconclusive("the token was accepted in no transport"));
    for transport in Transport::ALL {
        if ground.is_err() {
            ground = probe.control_once(&plain(transport)).await;
        }
    }
    ground?;
    for transport in Transport::ALL {
        let why = format!("the token in {}", transport.name());
        probe.accepts(Clause::ExtractTokenTransport, &why, &plain(transport)).await?;
    }
    let Ok(shapes) = shape::usable(probe).await else { return Ok(()) };
    for shape in shapes {
        for transport in Transport::ALL {
            let request = transport.carry(probe, shape.request.clone(), token);
            let why = format!("the token in {}, {}", transport.name(), shape.name);
            probe.accepts(Clause::ExtractTokenTransport, &why, &request).await?;
        }
    }
    Ok(())
}
