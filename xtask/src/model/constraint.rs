//! Lists single constraints, for the rules about texts and for the comparison of documents.

use serde_json::{Value, json};

use super::{Condition, Contract, Header, Media, Operation, Parameter, Property, Response, Rule, Schema};

/// One keyword of the document that restricts what may be sent, at one place of one operation.
///
/// A definition that several places share gives one constraint for each of them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constraint {
    /// `operationId`.
    pub(crate) operation: String,
    pub(crate) side: Side,
    /// Where the value is sent, for display and for matching: `path id`, `query num`, `header X-Request-Id`, `body ips[]`,
    /// `200 header Cache-Control`, `200 body data.items[].groupId`, `200 text`, or `operation`.
    pub(crate) at: String,
    /// Pointer of the definition that holds the keyword, without the keyword.
    pub(crate) pointer: String,
    /// For example `minimum`, `required` or `x-max-distinct`.
    pub(crate) keyword: &'static str,
    /// What the document says under the keyword; for `required` the name of the required part.
    pub(crate) value: Value,
    /// The clauses that the constraint comes from.
    pub(crate) clauses: Vec<String>,
    /// Whether the value holds the account's token.
    pub(crate) credential: bool,
}

/// The keywords with one number that bounds a value, its length or its number of items.
pub(crate) const LIMITS: [&str; 8] = [
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "x-max-utf8-bytes",
    "minItems",
    "maxItems",
    "x-max-distinct",
];

/// The side that a constraint applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Side {
    /// Requests: the server rejects a value that breaks it, the client does not send one.
    Request,
    /// Responses: the suite checks it, the client reads it.
    Response,
}

impl Contract {
    /// Every constraint of every operation, in the document's order.
    pub(crate) fn constraints(&self) -> Vec<Constraint> {
        let mut found = Vec::new();
        for operation in &self.operations {
            let mut walk = Walk { operation, side: Side::Request, credential: false, found: &mut found };
            walk.request();
            walk.side = Side::Response;
            for response in operation.responses() {
                walk.response(response);
            }
        }
        found
    }
}

struct Walk<'a> {
    operation: &'a Operation,
    side: Side,
    credential: bool,
    found: &'a mut Vec<Constraint>,
}

impl Walk<'_> {
    fn push(&mut self, at: &str, pointer: &str, keyword: &'static str, value: Value, clauses: &[String]) {
        self.found.push(Constraint {
            operation: self.operation.id.clone(),
            side: self.side,
            at: at.to_owned(),
            pointer: pointer.to_owned(),
            keyword,
            value,
            clauses: clauses.to_vec(),
            credential: self.credential,
        });
    }

    fn request(&mut self) {
        let operation = self.operation;
        // The operation cites clauses of every kind; the parameter that carries the token cites those of the token.
        let carrier = operation.parameters.iter().find(|parameter| parameter.credential);
        let clauses = carrier.map_or(&[][..], |parameter| parameter.citation.clauses_for("x-credential"));
        self.credential = true;
        for credential in &operation.credentials {
            let pointer = format!("{}/security", operation.pointer);
            self.push("operation", &pointer, "security", json!(credential.to_string()), clauses);
        }
        if let Some(clause) = &operation.credentials_agree {
            let clauses = std::slice::from_ref(clause);
            self.push("operation", &operation.pointer, "x-credentials-agree", json!(clause), clauses);
        }
        self.credential = false;
        for rule in &operation.rules {
            let (Rule::RequiredWhen { pointer, clause, .. } | Rule::NotBefore { pointer, clause, .. }) = rule;
            self.push("operation", pointer, "x-rules", json!(rule.to_string()), std::slice::from_ref(clause));
        }
        for parameter in &operation.parameters {
            self.credential = parameter.credential;
            self.parameter(parameter);
        }
        self.credential = false;
        if let Some(body) = &operation.body {
            if body.required {
                let clauses = body.citation.clauses_for("required");
                self.push("body", &body.pointer, "required", json!("body"), clauses);
            }
            let clauses = body.citation.clauses_for("content");
            self.push("body", &body.pointer, "content", json!("application/json"), clauses);
            self.schema("body", "", &body.schema);
        }
    }

    fn parameter(&mut self, parameter: &Parameter) {
        let Parameter { name, pointer, citation, .. } = parameter;
        let at = format!("{} {name}", parameter.location);
        if parameter.required {
            self.push(&at, pointer, "required", json!(name), citation.clauses_for("required"));
        }
        for (keyword, value) in [
            ("x-alias-of", &parameter.alias_of),
            ("x-aliases-agree", &parameter.aliases_agree),
            ("x-falls-back-to", &parameter.falls_back_to),
        ] {
            let Some(value) = value else { continue };
            let own = std::slice::from_ref(value);
            let clauses = if keyword == "x-aliases-agree" { own } else { citation.clauses_for(keyword) };
            self.push(&at, pointer, keyword, json!(value), clauses);
        }
        if parameter.credential {
            self.push(&at, pointer, "x-credential", json!(true), citation.clauses_for("x-credential"));
        }
        self.schema(&at, "", &parameter.schema);
    }

    fn response(&mut self, response: &Response) {
        let status = &response.status;
        for header in &response.headers {
            let Header { name, pointer, citation, .. } = header;
            let at = format!("{status} header {name}");
            if header.required {
                self.push(&at, pointer, "required", json!(name), citation.clauses_for("required"));
            }
            self.schema(&at, "", &header.schema);
        }
        for Media { name, schema } in &response.content {
            let at =
                if name == "application/json" { format!("{status} body") } else { format!("{status} text") };
            let clauses = response.citation.clauses_for("content");
            self.push(&at, &response.pointer, "content", json!(name), clauses);
            self.schema(&at, "", schema);
        }
    }

    /// Constraints of a schema at `root` followed by the path inside it, such as `data.items[]`.
    fn schema(&mut self, root: &str, path: &str, schema: &Schema) {
        let at = if path.is_empty() { root.to_owned() } else { format!("{root} {path}") };
        for (keyword, value) in schema.keywords() {
            self.push(&at, &schema.pointer, keyword, value, schema.citation.clauses_for(keyword));
        }
        if let Some(items) = schema.items() {
            self.schema(root, &format!("{path}[]"), items);
        }
        for Property { name, required, schema: property } in schema.properties() {
            let inner = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            if *required {
                let clauses = property.citation.clauses_for("required");
                self.push(&format!("{root} {inner}"), &schema.pointer, "required", json!(name), clauses);
            }
            self.schema(root, &inner, property);
        }
    }
}

impl std::fmt::Display for super::Credential {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            super::Credential::Query { name } => write!(out, "query {name}"),
            super::Credential::Header { name } => write!(out, "header {name}"),
            super::Credential::Bearer => out.write_str("bearer token"),
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rule::RequiredWhen { parameter, when: Condition { parameter: condition, equals }, .. } => {
                write!(out, "{parameter} is required when {condition} is {equals}")
            }
            Rule::NotBefore { property, bound, .. } => write!(out, "{property} is not before {bound}"),
        }
    }
}
