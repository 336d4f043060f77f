//! Emits the document as JSON, which server and suite embed, and `clause.rs`, the ids that the suite's checks cite.

use serde_json::{Map, Value, json};

use super::GENERATED;
use crate::{
    artifact::Artifact,
    document::Document,
    model::{Contract, Operation},
    problem::Problem,
    template::fill,
};

const JSON: &str = "openapi/src/generated/contract.json";
const IDS: &str = "conformance/src/contract/generated/clause.rs";

/// The document with what JSON cannot say of it (`openapi/src/lib.rs`), and the ids.
pub(crate) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let contract = Contract::read(document)?;
    let lines = contract.clauses.iter().chain(&contract.unspecified);
    let lines = lines.map(|clause| (clause.id.clone(), document.place(&clause.pointer).line.into()));
    let file = json!({
        "sha256": document.sha256(),
        "lines": lines.collect::<Map<String, Value>>(),
        "document": document.root(),
    });
    Ok(vec![
        Artifact { path: JSON, contents: laid_out(&file, 0) + "\n" },
        Artifact { path: IDS, contents: ids(&contract) },
    ])
}

/// JSON with each value on one line where it fits, so that a change of the document is a change of few lines.
pub(super) fn laid_out(value: &Value, depth: usize) -> String {
    const WIDTH: usize = 120;
    let line = value.to_string();
    let (open, members, close) = match value {
        _ if line.len() + depth <= WIDTH => return line,
        Value::Array(items) => {
            ('[', items.iter().map(|item| laid_out(item, depth + 1)).collect::<Vec<_>>(), ']')
        }
        Value::Object(members) => {
            let member = |(name, value)| {
                format!("{}: {}", Value::from(String::as_str(name)), laid_out(value, depth + 1))
            };
            ('{', members.iter().map(member).collect(), '}')
        }
        _ => return line,
    };
    let (outer, inner) = (" ".repeat(depth), " ".repeat(depth + 1));
    format!("{open}\n{inner}{}\n{outer}{close}", members.join(&format!(",\n{inner}")))
}

/// The ids as enums; `ids!` in the suite gives them their methods.
fn ids(contract: &Contract) -> String {
    let Contract { operations, clauses, unspecified, .. } = contract;
    let named = |operation: &Operation| json!({ "id": operation.prefix(), "text": operation.id });
    let operations: Vec<_> = operations.iter().map(named).collect();
    let known = json!({ "generated": GENERATED, "clauses": clauses, "unspecified": unspecified, "operations": operations });
    fill(include_str!("clause.rs.jinja"), &known)
}
