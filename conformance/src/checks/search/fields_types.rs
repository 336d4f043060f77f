use serde_json::{Value, json};

use crate::check::{Case, Check, Cost, Probe, Run, Stop};
use crate::checks::Requests;
use crate::contract::{Clause, Kind, OperationId};

pub(super) static CHECK: Check = Check {
    id: "search.fields.types",
    title: "a field of another JSON type is refused",
    why: "",
    operation: Some(OperationId::Search),
    clauses: &[
        Clause::SearchOrderNumber,
        Clause::SearchGroup,
        Clause::SearchCountry,
        Clause::SearchCity,
        Clause::SearchStatus,
        Clause::SearchPage,
        Clause::SearchPageSize,
        Clause::SearchActivatedRange,
    ],
    needs: &[],
    run: Run::Cases(|_| Case::single(Cost::requests(28), |probe| Box::pin(run(probe)))),
};

async fn run(probe: &Probe<'_>) -> Result<(), Stop> {
    let search = &probe.contract().search;
    let good = probe.any_search();
    for property in search.properties() {
        // The list of addresses and its items have checks of their own.
        let clause = property.citations.of("type").filter(|clause| CHECK.clauses.contains(clause));
        let Some(clause) = clause else { continue };
        for value in others(property.schema.kind) {
            let why = format!("{} is {value}", property.name);
            let bad = good.clone().field(&property.name, value);
            probe.rejects_after_control(clause, &why, &good, &bad).await?;
        }
    }
    Ok(())
}

/// Values of other types. A number that stands in a string is not among them: some services read both alike.
fn others(kind: Kind) -> Vec<Value> {
    let same = |value: &Value| match kind {
        Kind::Integer => value.is_number(),
        Kind::String => value.is_string(),
        Kind::Boolean => value.is_boolean(),
        Kind::Array => value.is_array(),
        Kind::Object => value.is_object(),
    };
    [json!(true), json!([1]), json!({"a": 1})].into_iter().filter(|value| !same(value)).collect()
}
