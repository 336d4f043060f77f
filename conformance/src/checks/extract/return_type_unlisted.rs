use serde_json::json;

use crate::check::{Case, Check, Cost, Probe, ResponseClass, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, OperationId, boundaries};

pub(super) static CHECK: Check = Check {
    id: "extract.return-type.unlisted",
    title: "a return_type outside the list is refused",
    why: "",
    operation: Some(OperationId::Extract),
    clauses: &[Clause::ExtractReturnType],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::extraction(6, 1), |probe| Box::pin(run(probe)))),
};

/// Names that callers take for forms.
const NEAR: [&str; 3] = ["text", "xml", "plain"];

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let extract = &probe.contract().extract;
    let parameter = &extract.return_type;
    let good = probe.extract();
    let unlisted =
        boundaries(&parameter.schema).into_iter().filter(|case| !case.allowed).map(|case| case.text());
    let near = NEAR.iter().map(ToString::to_string);
    probe.control_once(&good).await?;
    for value in unlisted.chain(near).filter(|value| !parameter.schema.values.contains(&json!(value))) {
        let bad = good.clone().query(&parameter.name, &value);
        let (exchange, class) = probe.send(&bad).await?;
        let Ok(answer) = &exchange.result else { continue };
        // A refusal of an extraction is JSON, so anything else under the status of a success is text that was served.
        let served = answer.status == extract.operation.success.status && answer.json().is_none();
        let broken = matches!(class, ResponseClass::ServerError(_));
        if served || broken || class == ResponseClass::Accepted {
            let expected = format!("rejected: {}={value} is not a listed value", parameter.name);
            let actual = if broken { class.description() } else { "a success" };
            probe.finding(Clause::ExtractReturnType, &expected, actual, &[&exchange]);
        }
    }
    Ok(())
}
