//! Writes the document that progenitor generates the client from, out of the contract: `lower.json.jinja` says what it leaves out, and why.

use serde_json::Value;

use crate::template::fill;

/// The document for progenitor, as JSON, of what templates know.
pub(crate) fn lower(known: &Value) -> String {
    fill(include_str!("lower.json.jinja"), known)
}

#[cfg(test)]
mod tests {
    use sallyport_contract::table::Limit;

    use super::*;
    use crate::{
        document::Document,
        emit::known,
        fixture::{CONTRACT, LIBRARY},
        model::Contract,
    };

    #[test]
    fn tokens_aliases_fallback_headers_and_bounds_are_no_business_of_progenitor() {
        let extract = ["num", "regions", "protocol", "return_type", "lb", "sb", "request_id"];
        for (text, path, expected) in [
            (CONTRACT, "/paths/~1openapi~1v1~1proxy~1extract/get", &extract[..]),
            (LIBRARY, "/paths/~1openapi~1v1~1book~1loan/put", &["bookId", "loanId", "request_id"]),
        ] {
            let document = Document::parse(text).unwrap();
            let known = known::gather(&document, &Contract::read(&document).unwrap()).unwrap();
            let root: Value = serde_json::from_str(&lower(&known)).unwrap();
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
