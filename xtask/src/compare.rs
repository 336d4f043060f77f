//! Compares two OpenAPI documents by JSON pointer. Insignificant differences are ignored: order of parameters and names,
//! white space of descriptions, explicit defaults.

use std::{collections::BTreeSet, fmt};

use serde_json::{Map, Value};

use crate::document::join;

/// A difference between the contract and what the server emits.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Difference {
    /// Pointer in both documents, in which a parameter has its location and name, such as `query num`, instead of an index.
    pub(crate) pointer: String,
    /// The value in the projected contract, if any.
    pub(crate) contract: Option<Value>,
    /// The value that the server emits, if any.
    pub(crate) server: Option<Value>,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown =
            |value: &Option<Value>| value.as_ref().map_or_else(|| "nothing".to_owned(), Value::to_string);
        let (contract, server) = (shown(&self.contract), shown(&self.server));
        write!(out, "{}\n  contract: {contract}\n  server:   {server}", self.pointer)
    }
}

/// Every difference between the projected contract and what the server emits, sorted by pointer.
pub(crate) fn compare(contract: &Value, server: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    differences("", Some(&normal(contract)), Some(&normal(server)), &mut found);
    found
}

fn differences(pointer: &str, contract: Option<&Value>, server: Option<&Value>, found: &mut Vec<Difference>) {
    match (contract, server) {
        (Some(Value::Object(one)), Some(Value::Object(other))) => {
            let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
            for key in keys {
                differences(&join(pointer, key), one.get(key), other.get(key), found);
            }
        }
        (Some(Value::Array(one)), Some(Value::Array(other))) if one.len() == other.len() => {
            for (index, (one, other)) in one.iter().zip(other).enumerate() {
                differences(&join(pointer, &index.to_string()), Some(one), Some(other), found);
            }
        }
        (contract, server) if contract == server => {}
        (contract, server) => found.push(Difference {
            pointer: pointer.to_owned(),
            contract: contract.cloned(),
            server: server.cloned(),
        }),
    }
}

/// The document in normal form.
fn normal(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            Value::Object(map.iter().filter_map(|(key, value)| member(map, key, value)).collect())
        }
        Value::Array(list) => list.iter().map(normal).collect(),
        Value::Number(number) => whole(number).unwrap_or_else(|| value.clone()),
        scalar => scalar.clone(),
    }
}

fn member(around: &Map<String, Value>, key: &str, value: &Value) -> Option<(String, Value)> {
    let normal = match (key, value) {
        ("description" | "summary", Value::String(text)) => {
            text.split_whitespace().collect::<Vec<_>>().join(" ").into()
        }
        ("parameters", Value::Array(list)) => Value::Object(list.iter().map(parameter).collect()),
        ("required", Value::Array(names)) => sorted(names, Value::to_string),
        ("tags", Value::Array(tags)) => sorted(tags, |tag| tag.get("name").unwrap_or(tag).to_string()),
        ("required" | "nullable" | "deprecated", Value::Bool(false)) => return None,
        // The default styles, which Dropshot makes explicit.
        ("style", Value::String(style)) if style == "form" || style == "simple" => return None,
        ("required", Value::Bool(true)) => Value::Bool(true),
        ("example" | "default" | "enum", value) => value.clone(),
        (_, value) => self::normal(value),
    };
    let empty = normal.as_array().is_some_and(Vec::is_empty) || normal.as_object().is_some_and(Map::is_empty);
    let says_nothing = empty && matches!(key, "required" | "parameters" | "tags");
    // A member of `properties` may have any name, `required` included.
    let is_name = around.values().all(Value::is_object) && value.is_object();
    (is_name || !says_nothing).then(|| (key.to_owned(), normal))
}

fn parameter(parameter: &Value) -> (String, Value) {
    let text = |key: &str| parameter.get(key).and_then(Value::as_str).unwrap_or_default();
    (format!("{} {}", text("in"), text("name")), normal(parameter))
}

fn sorted(list: &[Value], key: impl Fn(&Value) -> String) -> Value {
    let mut list: Vec<Value> = list.iter().map(normal).collect();
    list.sort_by_key(key);
    list.into()
}

/// Converts a number without fraction to an integer.
#[expect(clippy::cast_possible_truncation, reason = "guarded by the comparison")]
fn whole(number: &serde_json::Number) -> Option<Value> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    let whole = float as i64;
    (whole as f64 == float).then(|| whole.into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{fixture, project::project};

    fn contract() -> Value {
        project(&fixture::contract())
    }

    /// The pointers that are reported when the server says `change` instead of the contract.
    fn reported(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let contract = contract();
        let mut server = contract.clone();
        change(&mut server);
        compare(&contract, &server).into_iter().map(|difference| difference.pointer).collect()
    }

    fn at<'a>(document: &'a mut Value, pointer: &str) -> &'a mut Value {
        document.pointer_mut(pointer).unwrap_or_else(|| panic!("nothing at {pointer}"))
    }

    fn remove(document: &mut Value, pointer: &str, key: &str) {
        at(document, pointer).as_object_mut().unwrap().remove(key).unwrap();
    }

    const EXTRACT: &str = "/paths/~1openapi~1v1~1proxy~1extract/get";
    const GROUPS: &str = "/paths/~1openapi~1v1~1static~1groups";

    #[test]
    fn what_cannot_matter_is_equal() {
        let found = reported(|server| {
            at(server, &format!("{EXTRACT}/parameters")).as_array_mut().unwrap().reverse();
            at(server, "/components/schemas/StaticInstance/required").as_array_mut().unwrap().reverse();
            at(server, "/tags").as_array_mut().unwrap().reverse();
            *at(server, &format!("{EXTRACT}/parameters/0/schema")) =
                json!({"nullable": false, "type": "string"});
            *at(server, "/components/schemas/SearchRequest/properties/page/minimum") = json!(1.0);
            let description = at(server, "/info/description");
            *description = description.as_str().unwrap().replace('\n', "  ").into();
        });
        // The header X-Request-Id stands first after the reversal and is no more than a string.
        assert_eq!(found, Vec::<String>::new());
    }

    /// A change of what the server emits, and where it is reported.
    #[test]
    fn each_change_is_reported_where_it_is() {
        let extract = |part: &str| format!("{EXTRACT}/{part}");
        let schema = |part: &str| format!("/components/schemas/{part}");
        let success = |part: &str| format!("{GROUPS}/get/responses/200/{part}");
        let other = json!("#/components/schemas/StaticGroup");
        for (pointer, value) in [
            (schema("SearchRequest/properties/page/maximum"), json!(1_000_001)),
            (schema("InstanceStatus/enum/0"), json!("new")),
            (schema("ProxyEndpoint/properties/port/type"), json!("string")),
            (extract("responses/200/content/application~1json/schema/$ref"), other),
            (success("description"), json!("other")),
        ] {
            assert_eq!(reported(|server| *at(server, &pointer) = value), [pointer]);
        }
        for (around, key) in [
            (schema("GroupFilter"), "nullable"),
            (success("headers"), "Cache-Control"),
            (success("headers/X-Request-Id"), "required"),
            (GROUPS.to_owned(), "get"),
        ] {
            assert_eq!(reported(|server| remove(server, &around, key)), [format!("{around}/{key}")]);
        }
        for (around, key, value) in [
            (schema("StaticGroup/properties/name"), "nullable", json!(true)),
            (GROUPS.to_owned(), "put", json!({"operationId": "x"})),
        ] {
            let found = reported(|server| at(server, &around)[key] = value);
            assert_eq!(found, [format!("{around}/{key}")]);
        }
        for list in [schema("InstanceStatus/enum"), schema("SearchData/required")] {
            assert_eq!(reported(|server| drop(at(server, &list).as_array_mut().unwrap().pop())), [list]);
        }
    }

    #[test]
    fn parameters_are_named_in_pointers() {
        let parameters = format!("{EXTRACT}/parameters");
        let found = reported(|server| *at(server, &format!("{parameters}/0/schema/maximum")) = json!(50));
        assert_eq!(found, [format!("{parameters}/query num/schema/maximum")]);
        let found = reported(|server| remove(server, &format!("{parameters}/1/schema"), "default"));
        assert_eq!(found, [format!("{parameters}/query regions/schema/default")]);
        let found = reported(|server| *at(server, &format!("{parameters}/0/name")) = json!("count"));
        assert_eq!(found, [format!("{parameters}/query count"), format!("{parameters}/query num")]);
    }

    #[test]
    fn a_difference_shows_both_values() {
        let difference = Difference { pointer: "/a".to_owned(), contract: Some(json!(1)), server: None };
        assert_eq!(difference.to_string(), "/a\n  contract: 1\n  server:   nothing");
    }
}
