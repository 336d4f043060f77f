//! The table of our document, and constraints that it has no use for.

use sallyport_contract::{
    operation,
    request::Request,
    table::{Location, Operation, Part},
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
    super::operation(&contract.operations[0]).unwrap()
}

/// What is wrong with a value of the member; nothing where it is valid.
fn violation(part: &Part, value: &Value) -> String {
    part.check(Some(value)).err().map(|error| error.to_string()).unwrap_or_default()
}

fn check(id: &str, request: Value) -> String {
    let Value::Object(request) = request else { panic!("an object") };
    Request::of(operation(id).unwrap(), request)
        .check()
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn limits_and_sizes_are_read_from_the_table() {
    let ips = operation("searchStaticInstances").unwrap().part("body.ips").unwrap();
    assert_eq!((ips.schema.limit("maxItems"), ips.schema.limit("x-max-distinct")), (Some(10_000), Some(500)));
    let body = &operation("searchStaticInstances").unwrap().part("body").unwrap().schema;
    assert_eq!(body.max_values(), Some(1 + body.members().len() + 10_000));
    assert_eq!(
        with(&json!({ "type": "array", "items": { "type": "integer" } })).body.unwrap().schema.max_values(),
        None
    );
}

#[test]
fn each_constraint_says_what_it_expected_and_found() {
    let integer = json!({ "type": "integer", "minimum": 1, "maximum": 9 });
    let text = json!({ "type": "string", "minLength": 2, "maxLength": 3, "x-max-utf8-bytes": 4 });
    let list =
        json!({ "type": "array", "minItems": 1, "maxItems": 3, "x-max-distinct": 2, "items": integer });
    let values = json!({ "type": "string", "enum": ["a", "b"] });
    let address = json!({ "type": "string", "x-format": "ip-endpoint", "x-port": { "minimum": 1, "maximum": 99 },
        "x-clause": { "x-port": "port", "any": "item" } });
    let object = json!({ "type": "object", "required": ["n"], "properties": { "n": integer, "m": list } });
    for (schema, value, expected) in [
        (&integer, json!(1), ""),
        (&integer, json!(9), ""),
        (&integer, json!(0), "body field `b`: expected an integer from 1 to 9, found `0` (body)"),
        (&integer, json!(10), "body field `b`: expected an integer from 1 to 9, found `10` (body)"),
        (&integer, json!(2.0), "body field `b`: expected an integer from 1 to 9, found `2.0` (body)"),
        (&integer, json!("2"), "body field `b`: expected an integer from 1 to 9, found `2` (body)"),
        (&integer, json!(null), "body field `b`: expected an integer from 1 to 9, found `null` (body)"),
        (
            &json!({ "type": "integer" }),
            json!(u64::MAX),
            "body field `b`: expected an integer that fits into 64 bits, found `18446744073709551615` (body)",
        ),
        (&text, json!("éé"), ""),
        (&text, json!(""), "body field `b`: must not be empty (body)"),
        (&text, json!("a"), "body field `b`: expected at least 2 characters, found 1 character (body)"),
        (&text, json!("abcd"), "body field `b`: expected at most 3 characters, found 4 characters (body)"),
        (&text, json!("ééé"), "body field `b`: expected at most 4 bytes in UTF-8, found 6 bytes (body)"),
        (&text, json!(1), "body field `b`: expected a string, found `1` (body)"),
        (&list, json!([1, 2, 1]), ""),
        (&list, json!([]), "body field `b`: expected at least 1 item, found 0 items (body)"),
        (&list, json!([1, 1, 1, 1]), "body field `b`: expected at most 3 items, found 4 items (body)"),
        (
            &list,
            json!([1, 2, 3]),
            "body field `b`: expected at most 2 distinct items, found 3 distinct ones (body)",
        ),
        (&list, json!([1, 10]), "body item `b[1]`: expected an integer from 1 to 9, found `10` (body)"),
        (&list, json!({}), "body field `b`: expected a list, found an object (body)"),
        (&values, json!("b"), ""),
        (&values, json!("B\n"), "body field `b`: expected one of a, b, found `B\\n` (body)"),
        (&values, json!(""), "body field `b`: expected one of a, b, found an empty text (body)"),
        // What may be a token is not repeated.
        (
            &values,
            json!(format!("key sally_api_{}", "5f".repeat(32))),
            "body field `b`: expected one of a, b, found a text of 78 characters (body)",
        ),
        (
            &values,
            json!("AKIA/5f+Q".repeat(3)),
            "body field `b`: expected one of a, b, found a text of 27 characters (body)",
        ),
        (
            &values,
            json!("application/x-www-form-urlencoded"),
            "body field `b`: expected one of a, b, found `application/x-www-form-urlencoded` (body)",
        ),
        (
            &json!({ "type": "boolean" }),
            json!("true"),
            "body field `b`: expected true or false, found `true` (body)",
        ),
        (&address, json!("192.0.2.1:99"), ""),
        (
            &address,
            json!("192.0.2.0/24"),
            "body field `b`: expected a single address without `/`, found `192.0.2.0/24` (item)",
        ),
        (
            &address,
            json!("192.0.2.1:100"),
            "body field `b`: expected a port from 1 to 99, in digits without leading zeros, found `192.0.2.1:100` (port)",
        ),
        (
            &json!({ "type": "string", "format": "date-time" }),
            json!("2026-01-31"),
            concat!(
                "body field `b`: expected an RFC ",
                "3339 date and time with a time zone, such as 2026-01-31T08:00:00Z, found `2026-01-31` (body)"
            ),
        ),
        (&json!({ "type": "string", "nullable": true }), json!(null), ""),
        (&object, json!({ "n": 1 }), ""),
        (&object, json!({}), "body field `b.n`: missing (body)"),
        (
            &object,
            json!({ "n": 1, "m": [0] }),
            "body item `b.m[0]`: expected an integer from 1 to 9, found `0` (body)",
        ),
        (&object, json!({ "n": 1, "o": 1 }), "body field `b.o`: unknown; expected one of: n, m"),
        (&object, json!([]), "body field `b`: expected a JSON object, found an array (body)"),
    ] {
        let operation = with(schema);
        let mut request = Request::new(&operation);
        *request.sent(Location::Body, "body").unwrap().1 = Some(json!({ "b": value }));
        let found = request.check().err().map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(found, expected, "{value}");
    }
}

#[test]
fn a_text_of_the_query_is_the_value_that_it_spells() {
    let numbers = with(&json!({ "type": "integer", "minimum": -9, "maximum": 100 }));
    let q = numbers.part("q").unwrap();
    for (text, expected) in [
        ("-9", ""),
        ("-0", "query parameter `q`: expected an integer from -9 to 100, found `-0` (c)"),
        ("", "query parameter `q`: must not be empty (c)"),
    ] {
        assert_eq!(violation(q, &q.schema.value_of(text)), expected);
    }
    let flag = with(&json!({ "type": "boolean" }));
    let flag = &flag.part("q").unwrap().schema;
    assert_eq!((flag.value_of("true"), flag.value_of("TRUE")), (json!(true), json!("TRUE")));
}

#[test]
fn a_body_that_is_a_list_has_places() {
    let member = json!({ "type": "object", "properties": { "n": { "type": "integer", "minimum": 1 } } });
    let mut operation = with(&json!({ "type": "array", "items": member }));
    let list = operation.part("body.b").unwrap().schema.clone();
    operation.body.as_mut().unwrap().schema = list;
    for (body, expected) in [
        (json!([1]), "body item `[0]`: expected a JSON object, found `1` (body)"),
        (
            json!([{}, { "n": "1" }]),
            "body field `[1].n`: expected an integer of at least 1 that fits into 64 bits, found `1` (body)",
        ),
        (json!({}), "body: expected a list, found an object (body)"),
    ] {
        let mut request = Request::new(&operation);
        *request.sent(Location::Body, "body").unwrap().1 = Some(body);
        assert_eq!(request.check().unwrap_err().to_string(), expected);
    }
}

#[test]
fn spellings_of_one_address_count_once() {
    let ips = |count: usize| -> Vec<String> {
        let plain = |index: usize| format!("198.18.{}.{}", index / 256, index % 256);
        (0..count).flat_map(|index| [plain(index), format!("::ffff:{}", plain(index))]).collect()
    };
    assert_eq!(check("searchStaticInstances", json!({ "body": { "ips": ips(500) } })), "");
    let more = check("searchStaticInstances", json!({ "body": { "ips": ips(501) } }));
    assert!(more.contains("found 501 distinct ones (search.ips-dedup-limit)"), "{more}");
}

#[test]
fn absent_parts_are_completed() {
    let complete = |id: &str, request: Value| {
        let Value::Object(request) = request else { panic!("an object") };
        let mut request = Request::of(operation(id).unwrap(), request);
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
