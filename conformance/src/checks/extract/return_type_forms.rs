use crate::check::{Check, Cost, Probe, Run, Stop};
use crate::contract::OperationId;

pub(super) static CHECK: Check = Check {
    id: "extract.return-type.forms",
    title: "json and txt give their form, json when none is asked for",
    operation: Some(OperationId::Extract),
    clauses: &["extract.return-type"],
    needs: &[],
    cost: Cost::extraction(3, 3),
    run: Run::Probe(|probe| Box::pin(run(probe))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let name = &extract.return_type.name;
    let absent = probe.extract();
    let json = absent.clone().query(name, &extract.json);
    let text = absent.clone().query(name, &extract.text);
    // Success in JSON needs the business code, so that being accepted is having the form.
    probe.control(&absent).await?;
    probe.accepts("extract.return-type", "JSON is asked for by name", &json).await?;
    let Some(answer) = probe.accepts("extract.return-type", "text is asked for", &text).await? else {
        return Ok(());
    };
    if answer.answer.json().is_some_and(|body| body.is_object()) {
        probe.finding("extract.return-type", "plain text", "a JSON object", &[&answer.exchange]);
    }
    Ok(())
}
