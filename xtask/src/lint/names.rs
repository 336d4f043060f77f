//! Names, from which identifiers are made.

use std::collections::BTreeMap;

use super::{Lint, Node, Part};
use crate::{
    document::join,
    names::{is_keyword, pascal, snake},
};

/// Types of Rust that generated code uses by their short names.
const RUST_TYPES: &str = "\
    AsRef Box Clone Copy Debug Default Drop Eq Err Error Fn FnMut FnOnce From FromIterator Hash Into \
    IntoIterator Iterator None Ok Option Ord PartialEq PartialOrd Result Self Send Some String Sync \
    ToOwned ToString TryFrom TryInto Vec";

/// Types that generated code declares or imports; a test compares them with its imports.
const GENERATED_TYPES: &str = "\
    Api ApiDescription ApiDescriptionRegisterError BoundedInteger ByteStream \
    Client ClientHooks ClientInfo Constant ConstantBool Context Cow Credential Deserialize DistinctList \
    ErrorEnvelope Excerpt Fields FromJson FromText HandlerResult HeaderMap \
    HeaderName HeaderValue Input InvalidArgument InvalidHeaderValue IpEndpoint Json List NoTextBody \
    Operation OperationInfo Part PlainText Query RawRequest RequestBuilderExt \
    RequestContext RequestError RequestParts Responses ResponseValue Retry Separator Serialize \
    SuccessHeaders Text Timestamp Token Transport Tristate Within";

/// Whether generated code has a type of that name already.
pub(crate) fn is_reserved_type(name: &str) -> bool {
    RUST_TYPES.split(' ').chain(GENERATED_TYPES.split(' ')).any(|reserved| reserved == name)
}

/// Fields and functions that generated code has beside those of the document.
const FIELDS: [&str; 8] = ["body", "call", "client", "credential", "new", "read", "send", "validate"];

/// Variants that generated enums have beside those of the document.
const VARIANTS: [&str; 3] = ["Custom", "Other", "Self"];

pub(super) fn run(lint: &mut Lint<'_>) {
    schemas(lint);
    operations(lint);
    properties(lint);
    values(lint);
    headers(lint);
}

/// Names of schemas and all types that are named after operations, parameters and properties.
fn schemas(lint: &mut Lint<'_>) {
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for node in lint.parts(Part::Schema) {
        let Some(name) = node.pointer.strip_prefix("/components/schemas/").filter(|name| !name.contains('/'))
        else {
            continue;
        };
        let suggested = pascal(name);
        if suggested != name || !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            let help = format!("write it in PascalCase and ASCII, such as `{}`", example(&suggested));
            lint.report(&node, node.pointer.clone(), format!("invalid name `{name}` of a schema"), help);
        } else if is_reserved_type(name) {
            let message = format!("generated code has a type `{name}` already");
            let help = "choose another name, such as one with a word before it";
            lint.report(&node, node.pointer.clone(), message, help);
        }
        taken.insert(suggested, format!("the schema `{name}`"));
    }
    for node in lint.parts(Part::Operation) {
        let Some(id) = node.text("operationId") else { continue };
        let name = pascal(id);
        let mut types = vec![name.clone()];
        types.extend(
            ["Request", "Headers", "Query", "HeaderParameters", "PathParameters", "Text"]
                .map(|end| format!("{name}{end}")),
        );
        let parameters = lint.parameters(&node);
        let names = parameters.iter().filter_map(|(_, parameter)| parameter["name"].as_str());
        types.extend(names.map(|parameter| format!("{name}{}", pascal(parameter))));
        for made in types {
            let what = format!("the operation `{id}`");
            if let Some(other) = taken.get(&made).filter(|other| **other != what) {
                let message = format!("`{made}`, a type made for {what}, is also that of {other}");
                lint.report(&node, node.at("operationId"), message, "rename one of the two");
            }
            taken.entry(made).or_insert(what);
        }
        if is_reserved_type(&name) {
            let message = format!("generated code has a type `{name}` already");
            let help = "choose another id, such as one with a noun after it";
            lint.report(&node, node.at("operationId"), message, help);
        }
    }
    // Types of properties are named after the schema and the property.
    for (schema, at, _) in lint.document.members("/components/schemas") {
        for (property, at, _) in lint.document.members(&join(&at, "properties")) {
            let made = format!("{}{}", pascal(schema), pascal(property));
            let Some(other) = taken.get(&made) else { continue };
            let Some(node) = lint.nodes.iter().find(|node| node.pointer == at).cloned() else { continue };
            let message =
                format!("`{made}`, the type of `{}` of `{schema}`, is also that of {other}", property);
            lint.report(&node, at, message, "rename one of the two");
        }
    }
}

fn operations(lint: &mut Lint<'_>) {
    let mut seen: Vec<(String, String)> = Vec::new();
    for node in lint.parts(Part::Operation) {
        let Some(id) = node.text("operationId") else { continue };
        let name = snake(id);
        // Another rule reports an id that stands twice.
        if let Some((_, other)) = seen.iter().find(|(one, other)| *one == name && other != id) {
            let message = format!("`{id}` and `{other}` have the same name in Rust, `{name}`");
            lint.report(&node, node.at("operationId"), message, "rename one of the two");
        }
        if is_keyword(&name) || FIELDS.contains(&name.as_str()) {
            let help = "choose another id, such as one with a noun after it";
            lint.report(&node, node.at("operationId"), reserved(id, &name), help);
        }
        seen.push((name, id.to_owned()));
        let mut fields: Vec<(String, String)> = Vec::new();
        for (pointer, parameter) in lint.parameters(&node) {
            let Some(name) = parameter["name"].as_str() else { continue };
            let own = lint.nodes.iter().find(|node| node.pointer == pointer).cloned();
            member(lint, own.as_ref().unwrap_or(&node), &join(&pointer, "name"), name, &mut fields);
        }
    }
}

fn properties(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema) {
        let mut fields = Vec::new();
        for (name, _) in node.entries("properties") {
            let at = join(&node.at("properties"), name);
            member(lint, &node, &at, name, &mut fields);
        }
    }
}

/// The name of a parameter or of a property, which becomes a field. `fields` are those before it.
fn member(lint: &mut Lint<'_>, node: &Node<'_>, at: &str, name: &str, fields: &mut Vec<(String, String)>) {
    let made = snake(name);
    if !is_plain(name) {
        let help = "start with an ASCII letter, and use letters, digits, and single `_` or `-` between them";
        lint.report(node, at, format!("`{name}` cannot be converted to a Rust identifier"), help);
    } else if is_keyword(&made) || FIELDS.contains(&made.as_str()) {
        let help = "choose another name, such as one with a noun before it";
        lint.report(node, at, reserved(name, &made), help);
    } else if let Some((_, other)) = fields.iter().find(|(one, other)| *one == made && other != name) {
        let message = format!("`{name}` and `{other}` have the same name in Rust, `{made}`");
        lint.report(node, at, message, "rename one of the two");
    }
    fields.push((made, name.to_owned()));
}

fn values(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Schema).into_iter().filter(|node| node.text("type") == Some("string")) {
        let values = node.items("enum");
        let mut seen: Vec<(String, &str)> = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let Some(text) = value.as_str() else { continue };
            let at = join(&node.at("enum"), &index.to_string());
            let made = pascal(text);
            if made.is_empty() || !text.chars().all(|letter| letter.is_ascii_graphic()) {
                let help = "use printable ASCII characters, at least one letter or digit among them";
                lint.report(
                    &node,
                    at,
                    format!("the value {text:?} cannot be converted to a Rust identifier"),
                    help,
                );
            } else if VARIANTS.contains(&made.as_str()) {
                lint.report(&node, at, reserved(text, &made), "choose another value");
            } else if let Some((_, other)) = seen.iter().find(|(one, other)| *one == made && *other != text) {
                let message =
                    format!("the values `{text}` and `{other}` have the same name in Rust, `{made}`");
                lint.report(&node, at, message, "rename one of the two");
            }
            seen.push((made, text));
        }
    }
}

/// Names of headers, of parameters, responses and security schemes.
fn headers(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Response) {
        let mut fields = Vec::new();
        for (name, _) in node.entries("headers") {
            let at = join(&node.at("headers"), name);
            if name.contains('_') {
                let help = "write `-` between words: proxies drop headers with `_`";
                lint.report(&node, at, format!("invalid header name `{name}`"), help);
                continue;
            }
            member(lint, &node, &at, name, &mut fields);
        }
    }
    for node in lint.parts(Part::SecurityScheme) {
        let Some(name) = node.text("name").filter(|name| !is_plain(name)) else { continue };
        let help = "start with an ASCII letter, and use letters, digits, and single `_` or `-` between them";
        lint.report(&node, node.at("name"), format!("invalid name `{name}` of a parameter or header"), help);
    }
}

fn reserved(name: &str, made: &str) -> String {
    if is_keyword(made) {
        format!("`{name}` is a keyword of Rust")
    } else {
        format!("`{name}` is a name that generated code uses itself")
    }
}

/// ASCII letters and digits, with single `_` or `-` between them.
fn is_plain(name: &str) -> bool {
    let words: Vec<&str> = name.split(['_', '-']).collect();
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && words
            .iter()
            .all(|word| !word.is_empty() && word.chars().all(|letter| letter.is_ascii_alphanumeric()))
}

fn example(suggested: &str) -> &str {
    let is_usable = suggested.starts_with(|first: char| first.is_ascii_uppercase());
    if is_usable { suggested } else { "TermRule" }
}
