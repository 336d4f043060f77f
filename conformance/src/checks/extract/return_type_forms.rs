use super::count::is_envelope;
use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};
use crate::wire::{Answer, Exchange};

pub(super) static CHECK: Check = Check {
    id: "extract.return-type.forms",
    title: "json and txt give their form, json when none is asked for",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractReturnType],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(9, 108), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let name = &extract.return_type.name;
    let absent = probe.extract();
    let json = absent.clone().query(name, &extract.json);
    // Success in JSON needs the business code, so that being accepted is having the form. Either of the two is the ground
    // for the other.
    if probe.control_once(&json).await.is_err() {
        probe.control_once(&absent).await?;
        probe.accepts(Clause::ExtractReturnType, "JSON is asked for by name", &json).await?;
    }
    probe.accepts(Clause::ExtractReturnType, "no form is asked for, so JSON comes", &absent).await?;
    let text = || probe.extract().query(name, &extract.text);
    let mut asked = vec![
        ("text is asked for".to_owned(), text()),
        (
            "text is asked for, with a request id".to_owned(),
            text().query(&extract.request_id.name, probe.fresh_request_id()),
        ),
    ];
    for protocol in &extract.protocols {
        let request = absent.clone().query(&extract.protocol.name, protocol);
        // The account may lack the entitlement.
        if probe.control_once(&request).await.is_ok() {
            asked.push((format!("text is asked for, with {protocol}"), request.query(name, &extract.text)));
        }
    }
    for (why, request) in &asked {
        if let Some(accepted) = probe.accepts(Clause::ExtractReturnType, why, request).await? {
            judge(probe, &accepted.exchange, &accepted.answer, why);
        }
    }
    // A partial result has the form that was asked for; a shortage is no result.
    if let Some(region) = &probe.facts().scarce_region {
        let few =
            text().query(&extract.regions.name, region).query(&extract.num.name, extract.num_range.end());
        let (exchange, class) = probe.send_once(&few).await?;
        if let (ResponseClass::Accepted, Ok(answer)) = (&class, &exchange.result) {
            judge(probe, &exchange, answer, "text is asked for, of a scarce region");
        }
    }
    Ok(())
}

fn judge(probe: &Probe<'_>, exchange: &Exchange, answer: &Answer, why: &str) {
    if is_envelope(answer) {
        let expected = format!("plain text: {why}");
        probe.finding(Clause::ExtractReturnType, &expected, "the JSON envelope", &[exchange]);
    }
}
