//! Names, from which identifiers are made: none may be reserved, and no two of a scope may become the same.

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
    Address Api ApiDescription ApiDescriptionRegisterError ByteStream Client ClientHooks ClientInfo Constant \
    ConstantBool Context Credential DateTime Deserialize ErrorEnvelope HandlerResult HeaderMap HeaderName \
    HeaderValue InvalidArgument InvalidHeaderValue NoContent NoTextBody Operation OperationInfo PlainText \
    RawRequest RequestBuilderExt RequestContext Responses ResponseValue Retry Search Separator Serialize SmolStr StatusCode \
    SuccessHeaders Timestamp";

/// Whether generated code has a type of that name already.
pub(crate) fn is_reserved_type(name: &str) -> bool {
    RUST_TYPES.split(' ').chain(GENERATED_TYPES.split(' ')).any(|reserved| reserved == name)
}

fn is_reserved_field(name: &str) -> bool {
    is_keyword(name)
        || matches!(name, "body" | "call" | "client" | "credential" | "new" | "read" | "send" | "validate")
}

fn is_reserved_variant(name: &str) -> bool {
    matches!(name, "Custom" | "Other" | "Self")
}

/// A name that becomes that of another name or of an item of generated code.
pub(super) fn run(lint: &mut Lint<'_>) {
    let schemas = lint.document.members("/components/schemas").into_iter();
    let schemas: Vec<_> = schemas.map(|(name, at, _)| (at, name.to_owned())).collect();
    for (at, name) in &schemas {
        if pascal(name) != *name || !name.starts_with(|first: char| first.is_ascii_uppercase()) {
            let help = format!("write it in PascalCase and ASCII, such as `{}`", example(name));
            lint.report(at, format!("invalid name `{name}` of a schema"), help);
        }
    }
    scope(lint, schemas, pascal, is_reserved_type);
    let operations = lint.parts(Part::Operation);
    let ids = || {
        operations
            .iter()
            .filter_map(|node| Some((node.at("operationId"), node.text("operationId")?.to_owned())))
    };
    scope(lint, ids().collect(), snake, is_reserved_field);
    scope(lint, ids().collect(), pascal, is_reserved_type);
    for operation in &operations {
        let parameters = lint.parameters(operation).into_iter();
        let names =
            parameters.filter_map(|(at, one)| Some((join(&at, "name"), one["name"].as_str()?.to_owned())));
        scope(lint, names.collect(), snake, is_reserved_field);
    }
    for (part, keyword) in [(Part::Schema, "properties"), (Part::Response, "headers")] {
        for node in lint.parts(part) {
            let names =
                node.entries(keyword).map(|(name, _)| (join(&node.at(keyword), name), name.to_owned()));
            scope(lint, names.collect(), snake, is_reserved_field);
        }
    }
    for node in lint.parts(Part::Schema) {
        let values = node.items("enum").iter().enumerate();
        let values = values.filter_map(|(index, value)| {
            Some((join(&node.at("enum"), &index.to_string()), value.as_str()?.to_owned()))
        });
        scope(lint, values.collect(), pascal, is_reserved_variant);
    }
    types(lint, &operations);
}

/// The names of one scope, with their pointers.
fn scope(
    lint: &mut Lint<'_>,
    names: Vec<(String, String)>,
    identifier: fn(&str) -> String,
    is_reserved: fn(&str) -> bool,
) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for (at, name) in names {
        let made = identifier(&name);
        if made.is_empty() || !name.chars().all(|letter| letter.is_ascii_graphic()) {
            // The schema of the subset is stricter with most names.
            if lint.has_problem_at(&at) {
                continue;
            }
            let message = format!("{name:?} cannot be converted to a Rust identifier");
            let help = "use printable ASCII characters, at least one letter or digit among them";
            lint.report(at, message, help);
        } else if is_reserved(&made) {
            let why = if is_keyword(&made) {
                "is a keyword of Rust"
            } else {
                "is a name that generated code uses itself"
            };
            let help = "choose another name, such as one with a noun before it";
            lint.report(at, format!("`{name}` {why}"), help);
        } else if let Some(other) = seen.get(&made) {
            let message = match *other == name {
                true => format!("duplicate name `{name}`"),
                false => format!("`{name}` and `{other}` have the same name in Rust, `{made}`"),
            };
            lint.report(at, message, "rename one of the two");
        }
        seen.entry(made).or_insert(name);
    }
}

/// The types that are named after operations, their parameters, and properties, beside those of the schemas.
fn types(lint: &mut Lint<'_>, operations: &[Node<'_>]) {
    let schemas = lint.document.members("/components/schemas");
    let mut taken: BTreeMap<String, String> =
        schemas.iter().map(|(name, ..)| (pascal(name), format!("the schema `{name}`"))).collect();
    let clash = |lint: &mut Lint<'_>, at: String, made: &str, what: &str, other: &str| {
        let message = format!("`{made}`, a type made for {what}, is also that of {other}");
        lint.report(at, message, "rename one of the two");
    };
    for node in operations {
        let Some(id) = node.text("operationId") else { continue };
        let what = format!("the operation `{id}`");
        let parameters = lint.parameters(node);
        let parameters =
            parameters.iter().filter_map(|(_, parameter)| parameter["name"].as_str()).map(pascal);
        let fixed = ["", "Request", "Headers", "Query", "HeaderParameters", "PathParameters", "Text"];
        for end in fixed.map(str::to_owned).into_iter().chain(parameters) {
            let made = format!("{}{end}", pascal(id));
            let other = taken.entry(made.clone()).or_insert_with(|| what.clone());
            if *other != what {
                clash(lint, node.at("operationId"), &made, &what, other);
            }
        }
    }
    for (schema, at, _) in schemas {
        for (property, at, _) in lint.document.members(&join(&at, "properties")) {
            let made = format!("{}{}", pascal(schema), pascal(property));
            if let Some(other) = taken.get(&made) {
                clash(lint, at, &made, &format!("`{property}` of `{schema}`"), other);
            }
        }
    }
}

fn example(name: &str) -> String {
    let suggested = pascal(name);
    let is_usable = suggested.starts_with(|first: char| first.is_ascii_uppercase());
    if is_usable { suggested } else { "TermRule".to_owned() }
}
