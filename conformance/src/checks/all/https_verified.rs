use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, Unspecified};

pub(super) static CHECK: Check = Check {
    id: "all.https.verified",
    title: "the service answers over HTTPS, with a certificate that is trusted",
    why: "",
    operation: None,
    clauses: &[Clause::AllHttps],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(1), |probe| Box::pin(run(probe)))),
};

/// Fails only when TLS or HTTP breaks within the run: without a trusted certificate there is no run at all, and what the
/// same host does with plain http is not asked, since a redirect, a refusal and a closed port are all in order, and a token
/// must not be sent to find out more.
async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    if probe.base().scheme() != "https" {
        return Err(probe.skip("the target is reached over plain http: give an https base URL"));
    }
    let (exchange, class) = probe.send(&probe.groups()).await?;
    if let Err(failure) = &exchange.result {
        probe.finding(Clause::AllHttps, "an answer over HTTPS", &failure.to_string(), &[&exchange]);
    } else {
        probe.observe(Unspecified::HttpTransport, &format!("over HTTPS: {}", class.description()));
    }
    Ok(())
}
