//! A call of an operation, for a shell.

use serde_json::Value;

use crate::model::{Credential, Location, Method, Operation, Parameter};

/// A `curl` command with what the operation requires and the example of its body. The token stands as `$API_KEY`, for the shell to put in.
pub(super) fn command(base: &str, operation: &Operation, body: Option<&Value>) -> String {
    let mut url = format!("{base}{}", operation.path);
    let mut lines = Vec::new();
    let required =
        operation.parameters.iter().filter(|parameter| parameter.required && !parameter.credential);
    for parameter in required {
        let name = &parameter.name;
        for value in examples(parameter) {
            match parameter.location {
                Location::Path => url = url.replace(&format!("{{{name}}}"), &value),
                Location::Query => lines.push(format!("--url-query {}", quoted(&format!("{name}={value}")))),
                Location::Header => lines.push(format!("-H {}", quoted(&format!("{name}: {value}")))),
            }
        }
    }
    // A header is in fewer logs than a query, so it is shown where there is a choice.
    let header = operation.credentials.iter().find(|way| !matches!(way, Credential::Query { .. }));
    lines.extend(header.or(operation.credentials.first()).map(|way| match way {
        Credential::Header { name } => format!("-H \"{name}: $API_KEY\""),
        Credential::Bearer => "-H \"Authorization: Bearer $API_KEY\"".to_owned(),
        Credential::Query { name } => format!("--url-query \"{name}=$API_KEY\""),
    }));
    if let Some(body) = body {
        lines.push(format!("--json {}", quoted(&format!("{body:#}"))));
    }
    let method = match (operation.method, body) {
        (Method::Get, None) | (Method::Post, Some(_)) => String::new(),
        (method, _) => format!("-X {method} "),
    };
    lines.insert(0, format!("curl -sS {method}{}", quoted(&url)));
    lines.join(" \\\n  ")
}

/// The values to send: one, or one for each item of an array.
fn examples(parameter: &Parameter) -> Vec<String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    match parameter.example.as_ref().or(parameter.schema.example.as_ref()) {
        Some(Value::Array(items)) => items.iter().map(text).collect(),
        Some(other) => vec![text(other)],
        None => vec![format!("<{}>", parameter.name)],
    }
}

/// One literal word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{fixture::contract, model::Contract};

    #[test]
    fn a_body_is_one_word_of_the_shell() {
        let body = serde_json::json!({"it's": "$(id) `id`"});
        let search = Contract::read(&contract()).unwrap().operations.remove(2);
        let command = command("", &search, Some(&body));
        assert!(command.ends_with("--json '{\n  \"it'\\''s\": \"$(id) `id`\"\n}'"), "{command}");
        assert!(command.contains("--url-query \"api_key=$API_KEY\""), "{command}");
    }
}
