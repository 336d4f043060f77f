use std::collections::BTreeMap;

use jsonschema::Validator;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::source::{ContractError, Node};
use super::{Citations, Clause};

/// A violation of the document's schema by a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The clause of the violated constraint.
    pub clause: Clause,
    /// Path of the constraint in the document's schemas.
    pub schema_path: String,
    /// Path of the invalid value in the response.
    pub instance_path: String,
    /// What was expected and what was found.
    pub message: String,
    /// Whether null was found.
    pub is_null: bool,
}

impl Violation {
    /// Suffix of the key of a violation by null.
    pub const NULL: &'static str = "#null";

    /// Violations with the same key are one: the key is the constraint, and whether null violates it.
    pub fn key(&self) -> String {
        let null = if self.is_null { Self::NULL } else { "" };
        format!("{}{null}", self.schema_path)
    }
}

/// The schema of a successful JSON response and of its required headers.
#[derive(Debug)]
pub(super) struct ResponseSchema {
    root: Value,
    validator: Validator,
    pub(super) headers: Vec<HeaderSchema>,
    pub(super) fallback: Clause,
}

#[derive(Debug)]
pub(super) struct HeaderSchema {
    pub(super) name: String,
    values: Vec<String>,
    pub(super) clause: Clause,
}

/// Maximum number of violations of one constraint that are kept of one response, since a list may violate it with each item.
const MAX_PER_CONSTRAINT: usize = 100;

impl ResponseSchema {
    /// With the schemas of the document, lowered.
    pub(super) fn read(
        response: &Node<'_>,
        media: &Node<'_>,
        schemas: &Value,
    ) -> Result<Self, ContractError> {
        let citations: Citations = response.optional("/x-clause")?;
        let fallback = citations.clause("any").ok_or_else(|| response.wrong("expected an x-clause"))?;
        let clause = citations.clause("headers").unwrap_or(fallback);
        let mut headers = Vec::new();
        for (name, header) in response.find("/headers").map_or_else(|| Ok(Vec::new()), |all| all.members())? {
            // The conditions under which an optional header is required have checks of their own.
            if header.optional("/required")? {
                headers.push(HeaderSchema { name, values: header.optional("/schema/enum")?, clause });
            }
        }
        let target: &str = media.read("/schema/$ref")?;
        let root = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$ref": target.replace("#/components/schemas/", "#/$defs/"),
            "$defs": schemas,
        });
        let validator = jsonschema::options()
            .should_validate_formats(true)
            .should_ignore_unknown_formats(false)
            .build(&root)
            .map_err(|error| media.wrong(&format!("the lowered schema does not compile: {error}")))?;
        Ok(Self { root, validator, headers, fallback })
    }

    fn body_violations(&self, body: &Value) -> Vec<Violation> {
        // Nearly every response is valid, and `is_valid` takes a fraction of the time of collecting errors.
        if self.validator.is_valid(body) {
            return Vec::new();
        }
        let mut of_path: BTreeMap<String, usize> = BTreeMap::new();
        self.validator
            .iter_errors(body)
            .filter_map(|error| {
                let schema_path = error.schema_path().to_string();
                let found = of_path.entry(schema_path.clone()).or_default();
                *found += 1;
                if *found > MAX_PER_CONSTRAINT {
                    return None;
                }
                Some(Violation {
                    clause: self.clause_at(&schema_path),
                    instance_path: error.instance_path().to_string(),
                    // A whole list or object is too long to show, and may contain secrets.
                    message: match &**error.instance() {
                        Value::Object(_) => error.masked_with("an object").to_string(),
                        Value::Array(_) => error.masked_with("a list").to_string(),
                        _ => error.to_string(),
                    },
                    is_null: error.instance().is_null(),
                    schema_path,
                })
            })
            .collect()
    }

    /// The clause of the innermost schema around a constraint that cites one.
    fn clause_at(&self, schema_path: &str) -> Clause {
        let keyword = schema_path.rsplit('/').next().unwrap_or_default();
        let mut path = schema_path;
        while let Some((parent, _)) = path.rsplit_once('/') {
            let cited = self.root.pointer(parent).and_then(|schema| schema.get("x-clause"));
            let cited = cited.and_then(|cited| Citations::deserialize(cited).ok()?.clause(keyword));
            if let Some(clause) = cited {
                return clause;
            }
            path = parent;
        }
        self.fallback
    }
}

impl HeaderSchema {
    /// A header with an enum is a list of directives, one of which must be in the enum.
    fn violation(&self, found: &[String]) -> Option<Violation> {
        let mut directives = found.iter().flat_map(|value| value.split(',')).map(str::trim);
        let is_listed = |directive| self.values.iter().any(|value| value.eq_ignore_ascii_case(directive));
        let message = match found {
            [] => format!("expected the header {}, found none", self.name),
            _ if self.values.is_empty() || directives.any(is_listed) => return None,
            _ => format!("expected {}: {}, found {}", self.name, self.values.join(" or "), found.join(", ")),
        };
        Some(Violation {
            clause: self.clause,
            schema_path: format!("/headers/{}", self.name),
            instance_path: self.name.clone(),
            message,
            is_null: false,
        })
    }
}

impl super::Success {
    /// Every violation of the document's schema by a successful JSON response; `values` returns all values of a header.
    pub fn violations(&self, body: &Value, values: impl Fn(&str) -> Vec<String>) -> Vec<Violation> {
        let of_headers =
            self.schema.headers.iter().filter_map(|header| header.violation(&values(&header.name)));
        self.schema.body_violations(body).into_iter().chain(of_headers).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::contract::Contract;

    fn headers(name: &str) -> Vec<String> {
        match name {
            "Cache-Control" => vec!["private, No-Store".to_owned()],
            _ => vec!["abc".to_owned()],
        }
    }

    #[test]
    fn a_violation_names_both_paths_and_the_clause_of_the_innermost_schema() {
        let contract = Contract::embedded().expect("contract");
        let body = json!({"code": 200, "message": "", "requestId": "a", "data": {"items": [
            {"groupId": 0, "name": "a", "createdAt": "2026-01-04T09:30:00", "updatedAt": "2026-01-04T09:30:00Z"},
        ]}});
        let violations = contract.groups().success.violations(&body, headers);
        let found: Vec<_> = violations.iter().map(|v| (v.clause.id(), v.instance_path.as_str())).collect();
        assert_eq!(
            found,
            [("groups.fields", "/data/items/0/groupId"), ("groups.fields", "/data/items/0/createdAt")]
        );
        assert_eq!(violations[0].schema_path, "/$defs/StaticGroup/properties/groupId/minimum");
    }
}
