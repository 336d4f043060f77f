use super::shape;
use super::transport::Transport;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::target::Fact;

pub(super) static CHECK: Check = Check {
    id: "extract.link-credential.accepted",
    title: "a legacy API Link credential is accepted, again and again",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractLinkCredential],
    needs: &[Fact::LinkCredential],
    run: Run::Cases(|_| Case::single(Cost::extraction(15, 15), |probe| Box::pin(run(probe)))),
};

/// The contract does not say in which way the credential is carried, so one that works is enough.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let Some(link) = &probe.facts().link_credential else { return Err(probe.skip("no link credential")) };
    let plain = |transport: Transport| transport.carry(probe, probe.extract_without_token(), link.expose());
    let mut way = Transport::Query;
    for transport in Transport::ALL {
        if probe.send(&plain(transport)).await?.1 == ResponseClass::Accepted {
            way = transport;
            break;
        }
    }
    for shape in shape::usable(probe).await? {
        for time in ["the first time", "once more"] {
            let request = way.carry(
                probe,
                shape.anew(probe).without_query(&probe.contract().extract.api_key.name),
                link.expose(),
            );
            let why = format!("the legacy credential in {}, {}, {time}", way.name(), shape.name);
            probe.accepts(Clause::ExtractLinkCredential, &why, &request).await?;
        }
    }
    Ok(())
}
