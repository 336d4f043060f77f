//! The subset of OpenAPI that the generators support: `openapi/subset.schema.yaml`, a JSON Schema.
//!
//! The schema says what each part may hold, and in annotations what to write instead of the rest.

use std::sync::LazyLock;

use jsonschema::{
    ValidationError, Validator,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::Lint;
use crate::{
    document::{Document, join, unescaped},
    problem::suggestion,
};

static SUBSET: LazyLock<Subset> = LazyLock::new(Subset::read);

struct Subset {
    schema: Value,
    validator: Validator,
}

impl Subset {
    #[expect(
        clippy::expect_used,
        reason = "the schema is part of this program, and every test of the lint compiles it"
    )]
    fn read() -> Subset {
        let document = Document::parse(include_str!("../../../openapi/subset.schema.yaml"));
        let schema = document.expect("the schema of the subset is YAML").root;
        let validator = jsonschema::validator_for(&schema).expect("the schema of the subset is valid");
        Subset { schema, validator }
    }
}

/// Everything in the document that the schema does not allow.
pub(super) fn run(lint: &mut Lint<'_>) {
    if !lint.document.root.is_object() {
        let found = if lint.document.root.is_null() { "an empty file" } else { "another value" };
        lint.rule = "wrong-value";
        let message = format!("expected an OpenAPI document, found {found}");
        return lint.report(
            "",
            message,
            "begin with `openapi: 3.0.3`, and add `info`, `paths` and `x-clauses`",
        );
    }
    let errors: Vec<_> = SUBSET.validator.iter_errors(&lint.document.root).collect();
    let is_unknown = |error: &&ValidationError<'_>| matches!(error.kind(), Kind::AdditionalProperties { .. });
    let (unknown, others): (Vec<_>, Vec<_>) = errors.iter().partition(is_unknown);
    for error in others {
        violation(lint, error);
    }
    for error in unknown {
        unknown_keywords(lint, error);
    }
}

fn violation(lint: &mut Lint<'_>, error: &ValidationError<'_>) {
    // The error of a name is about the name, and stands at its mapping.
    let (pointer, error) = match error.kind() {
        Kind::PropertyNames { error: inner } => {
            (join(error.instance_path().as_str(), inner.instance().as_str().unwrap_or_default()), &**inner)
        }
        _ => (error.instance_path().to_string(), error),
    };
    // An item of a list is named by the list.
    let mut steps = pointer.rsplit('/').filter(|step| step.parse::<usize>().is_err());
    let key = unescaped(steps.next().unwrap_or_default());
    let (rule, message, help) = match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            let beside = error.schema_path().as_str().rsplit_once('/').unwrap_or_default().0;
            let own = SUBSET.schema.pointer(&format!("{beside}/properties/{name}/x-advice"));
            let own = own.and_then(Value::as_str).map(str::to_owned);
            let help = own.unwrap_or_else(|| format!("add `{name}: …`"));
            ("missing-keyword", format!("missing `{name}`"), help)
        }
        Kind::FalseSchema => {
            let message = format!("`{key}` is not supported: no generator uses or enforces it");
            ("unsupported-keyword", message, "remove it".to_owned())
        }
        Kind::Type { kind: TypeKind::Single(expected) } => {
            let expected = match expected.as_str() {
                "string" => "a string, quoted where YAML needs it",
                "boolean" => "true or false, without quotes",
                "object" => "a mapping",
                "array" => "a list",
                other => other,
            };
            let message = format!("`{key}`: expected {expected}, found `{}`", error.instance());
            ("wrong-value", message, format!("write {expected}"))
        }
        Kind::Enum { options } => {
            let options = options.as_array().into_iter().flatten().filter_map(Value::as_str);
            let options = options.collect::<Vec<_>>().join(", ");
            let message = format!("`{key}`: expected one of {options}, found `{}`", error.instance());
            ("wrong-value", message, format!("write one of: {options}"))
        }
        _ => ("wrong-value", format!("`{key}`: {error}"), "correct the value".to_owned()),
    };
    let text = match &**error.instance() {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let filled = |template: &str| {
        let value = error.instance().to_string();
        template.replace("{key}", &key).replace("{value}", &value).replace("{text}", &text)
    };
    let schema = error.schema_path().as_str();
    let message = annotation(schema, "x-message").map_or(message, filled);
    let help = annotation(schema, "x-advice").map_or(help, str::to_owned);
    lint.rule = rule;
    lint.report(pointer, message, help);
}

/// The annotation of the innermost subschema around a keyword that has one.
fn annotation(schema_path: &str, name: &str) -> Option<&'static str> {
    let mut path = schema_path;
    while let Some((parent, _)) = path.rsplit_once('/') {
        if let Some(Value::String(text)) = SUBSET.schema.pointer(parent).and_then(|schema| schema.get(name)) {
            return Some(text);
        }
        path = parent;
    }
    None
}

/// Keywords that the schema does not name, such as misspelt ones. One that it rejects by name is reported with its advice.
fn unknown_keywords(lint: &mut Lint<'_>, error: &ValidationError<'_>) {
    let Kind::AdditionalProperties { unexpected } = error.kind() else { return };
    let schema = error.schema_path().as_str().rsplit_once('/').unwrap_or_default().0;
    let known = SUBSET.schema.pointer(&format!("{schema}/properties")).and_then(Value::as_object);
    let known: Vec<&str> = known.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    for keyword in unexpected {
        let pointer = join(error.instance_path().as_str(), keyword);
        if lint.has_problem_at(&pointer) {
            continue;
        }
        let kind = if keyword.starts_with("x-") { "extension" } else { "keyword" };
        let expected = format!("remove it; expected one of: {}", known.join(", "));
        let help = suggestion(keyword, known.iter().copied(), &expected);
        let message = annotation(error.schema_path().as_str(), "x-message").map(str::to_owned);
        let message = message.unwrap_or_else(|| format!("unknown {kind} `{keyword}`"));
        lint.rule = "unknown-keyword";
        lint.report(pointer, message, help);
    }
}
