//! The table of our document, and constraints that it has no use for.

use sallyport_contract::{
    operation,
    request::Request,
    table::{Limit, Location, Operation},
};
use serde_json::{Value, json};

use crate::{document::Document, model::Contract};

/// An operation with a query parameter `q` and a body that has a required member `b`.
fn with(schema: &Value) -> Operation {
    let token = json!({ "name": "key", "in": "query", "x-credential": true, "schema": { "type": "string", "minLength": 1 } });
    let document = json!({ "paths": { "/x": { "post": {
        "operationId": "x",
        "parameters": [token, { "name": "q", "in": "query", "schema": schema, "x-clause": "c" }],
        "requestBody": { "required": true, "x-clause": "body", "content": { "application/json": { "schema": {
            "type": "object", "required": ["b"], "properties": { "b": schema } } } } },
        "responses": { "200": {} } } } } });
    let contract = Contract::read(&Document::parse(&document.to_string()).unwrap()).unwrap();
    super::operations(&contract).unwrap().remove(0)
}

/// A request with the values of a JSON object.
fn request(id: &str, values: &Value) -> Request<'static> {
    let operation = operation(id).unwrap();
    let mut request = Request::new(operation);
    for (name, value) in values.as_object().unwrap() {
        *request.sent(operation.part(name).unwrap().location, name).unwrap().1 = Some(value.clone());
    }
    request
}

#[test]
fn limits_and_sizes_are_read_from_the_table() {
    let ips = operation("searchStaticInstances").unwrap().part("body.ips").unwrap();
    assert_eq!(
        (ips.schema.limit(Limit::MaxItems), ips.schema.limit(Limit::MaxDistinct)),
        (Some(10_000), Some(500))
    );
    let body = &operation("searchStaticInstances").unwrap().part("body").unwrap().schema;
    assert_eq!(body.max_values(), Some(1 + body.members().len() + 10_000));
    assert_eq!(
        with(&json!({ "type": "array", "items": { "type": "integer" } })).body.unwrap().schema.max_values(),
        None
    );
}

/// A schema with values, and what is said of each.
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Example {
    schema: Value,
    member: Vec<(Value, String)>,
    query: Vec<(String, String)>,
    body: Vec<(Value, String)>,
}

#[test]
fn each_constraint_says_what_it_expected_and_found() {
    let examples: Vec<Example> =
        serde_saphyr::from_str(include_str!("../../../fixtures/constraints.yaml")).unwrap();
    for Example { schema, member, query, body } in examples {
        let operation = with(&schema);
        let said = |operation: &Operation, body: Value| {
            let mut request = Request::new(operation);
            *request.sent(Location::Body, "body").unwrap().1 = Some(body);
            request.check().err().map(|error| error.to_string()).unwrap_or_default()
        };
        for (value, expected) in member {
            assert_eq!(said(&operation, json!({ "b": value })), expected, "{value}");
        }
        let q = operation.part("q").unwrap();
        for (text, expected) in query {
            let found = q.check(Some(&q.schema.value_of(text.as_str()))).err();
            assert_eq!(found.map(|error| error.to_string()).unwrap_or_default(), expected, "{text}");
        }
        let mut whole = operation.clone();
        whole.body.as_mut().unwrap().schema = operation.part("body.b").unwrap().schema.clone();
        for (value, expected) in body {
            assert_eq!(said(&whole, value), expected);
        }
    }
}

/// serde names every keyword in its message.
#[test]
fn the_templates_write_every_limit() {
    let error = serde_json::from_value::<Limit>(json!("none")).unwrap_err().to_string();
    let keywords: Vec<_> = error.split('`').skip(3).step_by(2).collect();
    assert_eq!((keywords.first(), keywords.last()), (Some(&"minimum"), Some(&"x-max-distinct")));
    let listed =
        include_str!("../table.json.jinja").lines().find(|line| line.contains("for keyword in [")).unwrap();
    let meanings = include_str!("../contract.rs.jinja").split_once("set meanings = {").unwrap().1;
    let meanings = meanings.split_once('}').unwrap().0;
    for keyword in keywords {
        assert!(listed.contains(&format!("\"{keyword}\"")), "{keyword} in {listed}");
        assert!(meanings.contains(&format!("\"{keyword}\":")), "{keyword} in {meanings}");
    }
}

#[test]
fn spellings_of_one_address_count_once() {
    let ips = |count: usize| -> Vec<String> {
        let plain = |index: usize| format!("198.18.{}.{}", index / 256, index % 256);
        (0..count).flat_map(|index| [plain(index), format!("::ffff:{}", plain(index))]).collect()
    };
    let check = |count| request("searchStaticInstances", &json!({ "body": { "ips": ips(count) } })).check();
    assert_eq!(check(500), Ok(()));
    let more = check(501).unwrap_err().to_string();
    assert!(more.contains("found 501 distinct ones (search.ips-dedup-limit)"), "{more}");
}

#[test]
fn absent_parts_are_completed() {
    let complete = |id: &str, values: Value| {
        let mut request = request(id, &values);
        request.complete();
        request.deserialize::<Value>().unwrap()
    };
    let defaults =
        json!({ "num": 1, "regions": "GLOBAL", "protocol": "http", "return_type": "json", "lb": "1" });
    assert_eq!(complete("extractProxies", json!({ "num": 1 })), defaults);
    let other = complete("extractProxies", json!({ "num": 1, "country": "A", "X-Request-Id": "a" }));
    assert_eq!((&other["regions"], &other["request_id"]), (&json!("A"), &json!("a")));
    assert_eq!(other.get("country").or(other.get("X-Request-Id")), None);
    let body = complete("searchStaticInstances", json!({ "body": { "page": 2 } }));
    assert_eq!(body, json!({ "body": { "page": 2, "pageSize": 20 } }));
}
