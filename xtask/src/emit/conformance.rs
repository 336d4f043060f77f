//! Emits `contract.json`, all that the suite knows of the contract.
//!
//! ```text
//! clauses      [{ id, section, text, observable, reason?, line }]  sorted by id; line in openapi/openapi.yaml
//! unspecified  [{ id, text, line }]                                sorted by id
//! schemas      { name: JSON Schema draft 2020-12 }                 for `$defs`; `x-clause` kept
//! document     the OpenAPI document without its clauses and silences
//! ```

use serde_json::{Value, json};

use super::json_schema;
use crate::{artifact::Artifact, document::Document, model::Contract, problem::Problem};

const PATH: &str = "conformance/src/contract/generated/contract.json";

/// The index of clauses, the lowered schemas and the document itself.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let clauses: Vec<Value> = contract
        .clauses
        .iter()
        .map(|clause| {
            let mut entry = json!({
                "id": clause.id,
                "section": clause.section,
                "text": clause.text,
                "observable": clause.observable,
                "line": clause.place.line,
            });
            if let Some(reason) = &clause.reason {
                entry["reason"] = json!(reason);
            }
            entry
        })
        .collect();
    let unspecified: Vec<Value> = contract
        .unspecified
        .iter()
        .map(|silence| json!({ "id": silence.id, "text": silence.text, "line": silence.place.line }))
        .collect();
    let members = document.root().as_object().into_iter().flatten();
    let rest = members.filter(|(key, _)| !matches!(key.as_str(), "x-clauses" | "x-unspecified"));
    let index = json!({
        "clauses": clauses,
        "unspecified": unspecified,
        "schemas": json_schema::definitions(document.get("/components/schemas")),
        "document": Value::Object(rest.map(|(key, value)| (key.clone(), value.clone())).collect()),
    });
    Ok(vec![Artifact { path: PATH, contents: format!("{index:#}\n") }])
}
