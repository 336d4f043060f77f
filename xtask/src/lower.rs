//! Writes the document that progenitor generates the client from, out of the contract: `lower.json.jinja` says what it leaves out, and why.

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    document::Document,
    model::{Contract, Operation, Schema},
    template::fill,
};

/// The document for progenitor, as JSON.
pub(crate) fn lower(document: &Document, contract: &Contract) -> String {
    let Contract { operations, schemas, .. } = contract;
    let errors = operations.iter().flat_map(|operation| &operation.errors);
    let envelopes = operations.iter().filter_map(|operation| Some(&operation.success.json()?.pointer));
    let known = json!({
        "info": document.root()["info"], "operations": operations, "schemas": schemas,
        "errors": errors.filter_map(|response| response.json()).collect::<Vec<_>>(),
        "envelopes": envelopes.collect::<Vec<_>>(), "responses": reachable_from_responses(contract),
    });
    fill(include_str!("lower.json.jinja"), &known)
}

/// The ids that progenitor makes a builder for: that of the operation, and that of its text variant, if it has one.
pub(crate) fn builder_ids(operation: &Operation) -> Vec<String> {
    let text = (operation.success.content.len() > 1).then(|| format!("{}Text", operation.id));
    std::iter::once(operation.id.clone()).chain(text).collect()
}

/// The names of the schemas that a success response can hold.
pub(crate) fn reachable_from_responses(contract: &Contract) -> BTreeSet<String> {
    let content = contract.operations.iter().flat_map(|operation| &operation.success.content);
    content.flat_map(|media| media.schema.all()).filter_map(|schema| schema.name.clone()).collect()
}

/// The named enums that a response can hold. The emitter writes an open enum for each.
pub(crate) fn opened_enums(contract: &Contract) -> Vec<String> {
    let names = reachable_from_responses(contract);
    let is_enum = |schema: &&Schema| schema.variants.is_some();
    let enums = contract.schemas.iter().filter(is_enum).filter_map(|schema| schema.name.clone());
    let mut enums: Vec<String> = enums.filter(|name| names.contains(name)).collect();
    enums.sort_unstable();
    enums
}

/// The named string schemas that hold an address with an optional port.
pub(crate) fn endpoint_schemas(contract: &Contract) -> Vec<String> {
    let is_endpoint = |schema: &&Schema| schema.endpoint_ports().is_some();
    contract.schemas.iter().filter(is_endpoint).filter_map(|schema| schema.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use sallyport_contract::table::Limit;
    use serde_json::Value;

    use super::*;
    use crate::fixture::{CONTRACT, LIBRARY};

    #[test]
    fn tokens_aliases_fallback_headers_and_bounds_are_no_business_of_progenitor() {
        let extract = ["num", "regions", "protocol", "return_type", "lb", "sb", "request_id"];
        for (text, path, expected) in [
            (CONTRACT, "/paths/~1openapi~1v1~1proxy~1extract/get", &extract[..]),
            (LIBRARY, "/paths/~1openapi~1v1~1book~1loan/put", &["bookId", "loanId", "request_id"]),
        ] {
            let document = Document::parse(text).unwrap();
            let lowered = lower(&document, &Contract::read(&document).unwrap());
            let root: Value = serde_json::from_str(&lowered).unwrap();
            let parameters = root.pointer(&format!("{path}/parameters")).and_then(Value::as_array).unwrap();
            let names: Vec<_> = parameters.iter().map(|one| one["name"].as_str().unwrap()).collect();
            assert_eq!(names, expected);
            for word in crate::document::values(&root).into_iter().filter_map(Value::as_object).flatten() {
                let is_dropped = Limit::named(word.0).is_some()
                    || ["default", "security", "x-clause"].contains(&word.0.as_str());
                assert!(!is_dropped, "{}", word.0);
            }
        }
    }
}
