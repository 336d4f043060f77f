//! The subset of OpenAPI that the generators support: `openapi/subset.schema.yaml`, a JSON Schema.
//!
//! The schema says what each part may hold. It also gives each mapping of the document its kind: that of the definition which
//! describes it.

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
        let schema = document.expect("the schema of the subset is YAML").root().clone();
        let validator = jsonschema::validator_for(&schema).expect("the schema of the subset is valid");
        Subset { schema, validator }
    }
}

/// A kind of mapping, by the name of its definition in the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
pub(crate) enum Part {
    Document,
    PathItem,
    Operation,
    Parameter,
    RequestBody,
    Response,
    Header,
    Media,
    Schema,
    SecurityScheme,
    Clause,
    Unspecified,
    Rule,
    Condition,
    Ports,
}

impl Part {
    /// The keywords that this kind of mapping may hold.
    pub(super) fn keywords(self) -> impl Iterator<Item = &'static str> {
        let part = definition(self.into()).map(body);
        let names = part.and_then(|body| body.get("properties")).and_then(Value::as_object);
        names.into_iter().flatten().map(|(name, _)| name.as_str())
    }
}

/// A mapping of the document and its kind.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) part: Part,
    pub(crate) pointer: String,
    pub(crate) value: &'a Value,
}

impl<'a> Node<'a> {
    /// The pointer of one of its members.
    pub(crate) fn at(&self, keyword: &str) -> String {
        join(&self.pointer, keyword)
    }

    /// The text of one of its members.
    pub(crate) fn text(&self, keyword: &str) -> Option<&'a str> {
        self.value.get(keyword)?.as_str()
    }

    /// Whether it has the member.
    pub(crate) fn has(&self, keyword: &str) -> bool {
        self.value.get(keyword).is_some()
    }

    /// Whether the member is `true`.
    pub(crate) fn is_true(&self, keyword: &str) -> bool {
        self.value.get(keyword) == Some(&Value::Bool(true))
    }

    /// The items of one of its members; none when the member is not a list.
    pub(crate) fn items(&self, keyword: &str) -> &'a [Value] {
        self.value.get(keyword).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
    }

    /// The entries of one of its members; none when the member is not a mapping.
    pub(crate) fn entries(&self, keyword: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        let entries = self.value.get(keyword).and_then(Value::as_object);
        entries.into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }
}

/// Every mapping of the document that the schema describes, parents first. `$ref`s of the document are not followed.
pub(crate) fn walk(document: &Document) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    visit(&SUBSET.schema, document.root(), String::new(), &mut nodes);
    nodes
}

fn visit<'a>(schema: &'static Value, value: &'a Value, pointer: String, nodes: &mut Vec<Node<'a>>) {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/$defs/"));
    let schema = body(name.and_then(definition).unwrap_or(schema));
    if let Some(part) = name.and_then(|name| name.parse().ok()) {
        nodes.push(Node { part, pointer: pointer.clone(), value });
    }
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                let property = schema.get("properties").and_then(|properties| properties.get(key));
                if let Some(inner) = property.or(schema.get("additionalProperties")) {
                    visit(inner, member, join(&pointer, key), nodes);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let Some(inner) = schema.get("items") else { continue };
                visit(inner, item, join(&pointer, &index.to_string()), nodes);
            }
        }
        _ => {}
    }
}

fn definition(name: &str) -> Option<&'static Value> {
    SUBSET.schema.get("$defs")?.get(name)
}

/// What a definition says of a part that is not a `$ref`.
fn body(definition: &Value) -> &Value {
    let otherwise = definition.get("else").filter(|_| definition.get("properties").is_none());
    otherwise.unwrap_or(definition)
}

/// Everything in the document that the schema does not allow.
pub(super) fn run(lint: &mut Lint<'_>) {
    if !lint.document.root().is_object() {
        let found = if lint.document.root().is_null() { "an empty file" } else { "another value" };
        lint.rule = "wrong-value";
        let message = format!("expected an OpenAPI document, found {found}");
        return lint.report(
            "",
            message,
            "begin with `openapi: 3.0.3`, and add `info`, `paths` and `x-clauses`",
        );
    }
    let errors: Vec<_> = SUBSET.validator.iter_errors(lint.document.root()).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_part_is_a_definition_of_the_schema() {
        assert!(Part::Ports.keywords().eq(["minimum", "maximum"]));
        assert!(Part::Schema.keywords().any(|keyword| keyword == "x-max-distinct"));
        assert!(Part::Document.keywords().any(|keyword| keyword == "x-clauses"));
    }
}
