use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.json-body.malformed",
    title: "a body that is not one JSON object is refused",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[Clause::SearchJsonBody],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(9), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let good = probe.any_search();
    let bytes = good.body_bytes().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let cut = text[..text.len() - 1].to_owned();
    let bodies = [
        ("an array", format!("[{text}]")),
        ("a string", "\"203.0.113.250\"".to_owned()),
        ("a number", "1".to_owned()),
        ("null", "null".to_owned()),
        ("no body", String::new()),
        ("an object that does not end", cut),
        ("no JSON", "ips=203.0.113.250".to_owned()),
        ("nested a thousand times", "[".repeat(1_000)),
    ];
    for (why, body) in bodies {
        let bad = good.clone().body("application/json", body);
        probe
            .rejects_after_control(Clause::SearchJsonBody, &format!("the body is {why}"), &good, &bad)
            .await?;
    }
    Ok(())
}
