//! A call of an operation, for a shell.

use serde_json::Value;

use super::{resolved, words};

/// A `curl` command with what the operation requires and the example of its body. The token stands as `$SALLYPORT_API_KEY`, for the shell to
/// put in.
pub(super) fn command(root: &Value, base: &str, operation: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let url = format!("{base}{}", text(&operation["path"]));
    let mut lines = Vec::new();
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let parameters = parameters.map(|parameter| resolved(root, parameter));
    for parameter in parameters.filter(|it| it["required"] == true && it["x-credential"] != true) {
        let name = text(&parameter["name"]);
        for value in examples(root, parameter) {
            match parameter["in"].as_str() {
                Some("query") => lines.push(format!("--url-query {}", quoted(&format!("{name}={value}")))),
                _ => lines.push(format!("-H {}", quoted(&format!("{name}: {value}")))),
            }
        }
    }
    lines.extend(token(root, operation));
    let body = operation.pointer("/requestBody/content/application~1json/example");
    lines.extend(body.map(|body| format!("--json {}", quoted(&format!("{body:#}")))));
    let method = match (operation["method"].as_str(), body) {
        (Some("GET"), None) | (Some("POST"), Some(_)) => String::new(),
        (method, _) => format!("-X {} ", method.unwrap_or_default()),
    };
    lines.insert(0, format!("curl -sS {method}{}", quoted(&url)));
    lines.join(" \\\n  ")
}

/// The argument with the token. A header is in fewer logs than a query, so it is shown where there is a choice.
fn token(root: &Value, operation: &Value) -> Option<String> {
    let ways = operation["security"].as_array().into_iter().flatten();
    let ways = ways.filter_map(|way| way.as_object()?.keys().next());
    let ways: Vec<_> = ways.map(|name| &root["components"]["securitySchemes"][name]).collect();
    let way = ways.iter().find(|way| way["in"] != "query").or(ways.first())?;
    Some(match (way["in"].as_str(), way["name"].as_str()) {
        (Some("header"), Some(name)) => format!("-H \"{name}: $SALLYPORT_API_KEY\""),
        (Some("query"), Some(name)) => format!("--url-query \"{name}=$SALLYPORT_API_KEY\""),
        _ => "-H \"Authorization: Bearer $SALLYPORT_API_KEY\"".to_owned(),
    })
}

/// The values to send: one, or one for each item of an array.
fn examples(root: &Value, parameter: &Value) -> Vec<String> {
    let example = parameter.get("example").or_else(|| resolved(root, &parameter["schema"]).get("example"));
    match example {
        Some(Value::Array(items)) => items.iter().map(words::value).collect(),
        Some(other) => vec![words::value(other)],
        None => vec![format!("<{}>", parameter["name"].as_str().unwrap_or_default())],
    }
}

/// One literal word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
