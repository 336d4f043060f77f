//! Examples and defaults, which readers copy: each must match its schema.

use std::net::{IpAddr, SocketAddr};

use sallyport_contract::json_schema;
use serde_json::{Value, json};

use super::{Lint, Part};

/// Validates all of them as one list, each item by its schema.
pub(super) fn run(lint: &mut Lint<'_>) {
    let (mut pointers, mut schemas, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for node in &lint.nodes {
        let (schema, keywords): (_, &[&str]) = match node.part {
            Part::Schema => (Some(node.value), &["example", "default"]),
            Part::Parameter | Part::Header | Part::Media => (node.value.get("schema"), &["example"]),
            _ => continue,
        };
        for keyword in keywords {
            if let (Some(schema), Some(value)) = (schema, node.value.get(keyword)) {
                pointers.push(node.at(keyword));
                schemas.push(json_schema::lower(schema));
                values.push(value.clone());
            }
        }
    }
    let components = lint.document.get("/components/schemas");
    let mut list = json!({ "prefixItems": schemas, "$defs": json_schema::definitions(components) });
    close(&mut list);
    let validator = jsonschema::options()
        .should_validate_formats(true)
        .with_format("ip-endpoint", |text: &str| {
            text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok()
        })
        .build(&list);
    // Other rules report a schema that does not compile.
    let Ok(validator) = validator else { return };
    let values = Value::Array(values);
    for error in validator.iter_errors(&values) {
        let path = error.instance_path().as_str().trim_start_matches('/');
        let (index, inside) = path.split_once('/').unwrap_or((path, ""));
        let Some(pointer) = index.parse::<usize>().ok().and_then(|index| pointers.get(index)) else {
            continue;
        };
        let keyword = pointer.rsplit('/').next().unwrap_or_default();
        let place = if inside.is_empty() { String::new() } else { format!("`{inside}`: ") };
        let message = format!("the {keyword} does not match its schema: {place}{error}");
        lint.report(pointer, message, format!("change the {keyword} or the schema"));
    }
}

/// Rejects properties that an object does not declare, and takes over our own keywords where the standard has such a one.
fn close(schema: &mut Value) {
    if let Value::Object(members) = schema {
        if members.get("type").is_some_and(Value::is_string) && members.contains_key("properties") {
            members.insert("additionalProperties".to_owned(), Value::Bool(false));
        }
        // In examples of ASCII a character is a byte, and no item occurs twice.
        for (own, standard) in
            [("x-format", "format"), ("x-max-utf8-bytes", "maxLength"), ("x-max-distinct", "maxItems")]
        {
            if let Some(value) = members.get(own).filter(|_| !members.contains_key(standard)).cloned() {
                members.insert(standard.to_owned(), value);
            }
        }
        members.values_mut().for_each(close);
    } else if let Value::Array(items) = schema {
        items.iter_mut().for_each(close);
    }
}
