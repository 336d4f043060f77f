use crate::check::{Check, Cost, Probe, Run, Stop};

pub(super) static CHECK: Check = Check {
    id: "all.https.verified",
    title: "the service answers over HTTPS",
    operation: None,
    clauses: &["all.https"],
    needs: &[],
    cost: Cost::requests(1),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    if probe.base().scheme() != "https" {
        return Err(probe.skip("the target is reached over plain http: give an https base URL"));
    }
    // The wire verifies the certificate, and a connection that can't be made ends the run before any check.
    let (exchange, judgement) = probe.send(&probe.groups()).await?;
    if let Err(failure) = &exchange.result {
        probe.finding("all.https", "an answer over HTTPS", &failure.to_string(), &[&exchange]);
    } else {
        probe.observe("open.http.transport", &format!("over HTTPS: {}", judgement.description()));
    }
    Ok(())
}
