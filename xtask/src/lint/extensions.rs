//! Extensions that name another part of the document.

use serde_json::Value;

use super::{Lint, Node, Part};

pub(super) fn run(lint: &mut Lint<'_>) {
    for operation in lint.parts(Part::Operation) {
        let fields = Fields::new(lint, &operation);
        let inside = format!("{}/", operation.pointer);
        for rule in lint.parts(Part::Rule).iter().filter(|rule| rule.pointer.starts_with(&inside)) {
            fields_of_rule(lint, rule, &fields);
        }
        for parameter in &fields.parameters {
            parameter_extensions(lint, &operation, parameter, &fields);
        }
    }
    for schema in lint.parts(Part::Schema) {
        schema_extensions(lint, &schema);
    }
}

/// The fields that a rule of an operation can name.
struct Fields<'a> {
    parameters: Vec<&'a Value>,
    properties: Option<&'a Value>,
}

impl<'a> Fields<'a> {
    fn new(lint: &Lint<'a>, operation: &Node<'a>) -> Fields<'a> {
        let parameters = lint.parameters(operation).into_iter().map(|(_, parameter)| parameter).collect();
        let body = operation.value.get("requestBody").map(|body| lint.document.resolve(body));
        let schema = body.and_then(|body| body.pointer("/content/application~1json/schema"));
        let properties = schema.and_then(|schema| lint.document.resolve(schema).get("properties"));
        Fields { parameters, properties }
    }

    fn parameter(&self, location: &str, name: &str) -> Option<&'a Value> {
        let found = |one: &&&Value| one["in"] == location && one["name"] == name;
        self.parameters.iter().find(found).copied()
    }
}

fn fields_of_rule(lint: &mut Lint<'_>, rule: &Node<'_>, fields: &Fields<'_>) {
    let (names, others): (&[&str], &[&str]) = match rule.text("rule") {
        Some("required-when") => (&["parameter", "when"], &["property", "bound"]),
        Some("not-before") => (&["property", "bound"], &["parameter", "when"]),
        Some(other) => {
            let message = format!("unknown rule `{other}`");
            lint.report(rule, rule.at("rule"), message, "expected one of: required-when, not-before");
            return;
        }
        None => return,
    };
    for name in names.iter().filter(|name| !rule.has(name)) {
        let help = format!("add `{name}: …`");
        lint.report(rule, rule.pointer.clone(), format!("missing `{name}` in the rule"), help);
    }
    for name in others.iter().filter(|name| rule.has(name)) {
        lint.report(rule, rule.at(name), format!("unexpected `{name}` in a rule of this kind"), "remove it");
    }
    let condition = rule.value.pointer("/when/parameter").and_then(Value::as_str);
    for name in [rule.text("parameter"), condition].into_iter().flatten() {
        if fields.parameter("query", name).is_none() {
            let message = format!("unknown query parameter `{name}` in the rule");
            lint.report(rule, rule.pointer.clone(), message, "name a query parameter of this operation");
        }
    }
    if let Some(found) = condition.and_then(|name| fields.parameter("query", name)) {
        let values =
            found.get("schema").map(|schema| lint.document.resolve(schema)).and_then(|s| s.get("enum"));
        let equals = rule.value.pointer("/when/equals");
        if let (Some(Value::Array(values)), Some(equals)) = (values, equals)
            && !values.contains(equals)
        {
            let message =
                format!("the condition compares with {equals}, which is not a value of its parameter");
            lint.report(rule, rule.at("when"), message, "name a value of the parameter's enum");
        }
    }
    for name in ["property", "bound"].into_iter().filter_map(|key| rule.text(key)) {
        let property = fields.properties.and_then(|properties| properties.get(name));
        let format =
            property.map(|property| lint.document.resolve(property)).and_then(|schema| schema.get("format"));
        if format.is_none_or(|format| format != "date-time") {
            let message = format!("unknown date-time property `{name}` in the rule");
            lint.report(rule, rule.pointer.clone(), message, "name a property with `format: date-time`");
        }
    }
}

fn parameter_extensions(lint: &mut Lint<'_>, operation: &Node<'_>, parameter: &Value, fields: &Fields<'_>) {
    let name = parameter["name"].as_str().unwrap_or_default();
    let at = operation.at("parameters");
    let text = |keyword: &str| parameter.get(keyword).and_then(Value::as_str);
    for (keyword, location) in [("x-alias-of", "query"), ("x-falls-back-to", "header")] {
        let Some(other) = text(keyword) else { continue };
        if other == name || fields.parameter(location, other).is_none() {
            let message = format!("unknown {location} parameter `{other}` in `{keyword}` of `{name}`");
            let help = format!("name another {location} parameter of this operation");
            lint.report(operation, at.clone(), message, help);
        }
    }
    if text("x-alias-of").is_some() != text("x-aliases-agree").is_some() {
        let message = format!("`{name}` has only one of `x-alias-of` and `x-aliases-agree`");
        lint.report(operation, at.clone(), message, "write both, or neither");
    }
    let carries = parameter.get("x-credential") == Some(&Value::Bool(true));
    let location = parameter.get("in").cloned().unwrap_or_default();
    let sent = operation.items("security").iter();
    let is_transport = sent.filter_map(Value::as_object).flatten().any(|(scheme, _)| {
        let scheme = lint.document.get(&format!("/components/securitySchemes/{scheme}"));
        scheme.is_some_and(|scheme| scheme["in"] == location && scheme["name"] == name)
    });
    if carries != is_transport {
        let message = format!("`x-credential` of `{name}` does not match `security`");
        let help = "set `x-credential: true` exactly on the parameters in which `security` sends the token";
        lint.report(operation, at, message, help);
    }
}

fn schema_extensions(lint: &mut Lint<'_>, schema: &Node<'_>) {
    if let Some(format) = schema.text("x-format").filter(|format| *format != "ip-endpoint") {
        let message = format!("unknown x-format `{format}`");
        lint.report(schema, schema.at("x-format"), message, "write `ip-endpoint`");
    }
    if schema.has("x-format") != schema.has("x-port") {
        let message = "`x-format: ip-endpoint` and `x-port` must be used together";
        lint.report(schema, schema.pointer.clone(), message, "write both, or neither");
    }
    if schema.has("x-max-distinct") {
        let items = schema.value.get("items").map(|items| lint.document.resolve(items));
        if items.is_none_or(|items| items.get("x-format").is_none()) {
            let message = "`x-max-distinct` needs items with an `x-format`";
            lint.report(schema, schema.at("x-max-distinct"), message, "add `x-format` to the items");
        }
    }
    let Some(Value::Object(texts)) = schema.value.get("x-separators") else { return };
    let values = schema.items("enum");
    for value in texts.keys().filter(|value| !values.iter().any(|one| one == value.as_str())) {
        let message = format!("unknown value {value:?} in `x-separators`");
        lint.report(schema, schema.at("x-separators"), message, "remove it, or add the value to the enum");
    }
    let conditions: Vec<_> =
        lint.parts(Part::Condition).iter().filter_map(|condition| condition.text("equals")).collect();
    for value in values.iter().filter_map(Value::as_str) {
        if !texts.contains_key(value) && !conditions.contains(&value) {
            let message =
                format!("missing text of {value:?} in `x-separators`, without a `required-when` rule for it");
            lint.report(schema, schema.at("x-separators"), message, "add its text, or a rule");
        }
    }
}
