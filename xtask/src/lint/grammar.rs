//! The keywords of OpenAPI 3.0.3 and of our extensions that each part may have. Others are rejected.

use serde_json::Value;

use crate::document::{Document, join};

/// A kind of mapping in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Document,
    Info,
    Contact,
    License,
    Server,
    ServerVariable,
    Tag,
    PathItem,
    Operation,
    Parameter,
    RequestBody,
    Response,
    Header,
    Media,
    Schema,
    SecurityScheme,
    Components,
    Clause,
    Unspecified,
    Rule,
    Condition,
    Ports,
    DeprecatedValue,
}

/// The type of a keyword's value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape {
    Text,
    Flag,
    /// A number of any kind.
    Number,
    /// A non-negative integer.
    Count,
    /// A list of strings.
    Texts,
    /// A mapping to strings.
    TextMap,
    /// Any value; a separate rule checks it.
    Any,
    One(Part),
    List(Part),
    Map(Part),
}

use Shape::{Any, Count, Flag, List, Map, Number, One, Text, TextMap, Texts};

macro_rules! grammar {
    ($($part:path, needs [$($needed:literal)*]: $($keyword:literal $shape:expr),*;)*) => {
        impl Part {
            /// The keywords that this kind of mapping may hold.
            pub(crate) fn keywords(self) -> &'static [(&'static str, Shape)] {
                match self { $($part => &[$(($keyword, $shape)),*],)* }
            }

            /// The keywords that OpenAPI or our extensions require. Other rules check operations and schemas.
            pub(super) fn needed(self) -> &'static [&'static str] {
                match self { $($part => &[$($needed),*],)* }
            }
        }
    };
}

// Each part with the keywords that it needs, then all that it may hold, each with the type of its value.
grammar! {
    Part::Document, needs ["openapi" "info" "paths" "x-clauses"]:
        "openapi" Text, "info" One(Part::Info), "servers" List(Part::Server), "tags" List(Part::Tag),
        "paths" Map(Part::PathItem), "components" One(Part::Components), "x-clauses" List(Part::Clause),
        "x-unspecified" List(Part::Unspecified);
    Part::Info, needs ["title" "version"]:
        "title" Text, "version" Text, "description" Text, "contact" One(Part::Contact),
        "license" One(Part::License), "termsOfService" Text;
    Part::Contact, needs []: "name" Text, "url" Text, "email" Text;
    Part::License, needs ["name"]: "name" Text, "url" Text;
    Part::Server, needs ["url"]: "url" Text, "description" Text, "variables" Map(Part::ServerVariable);
    Part::ServerVariable, needs ["default"]: "default" Text, "description" Text, "enum" Texts;
    Part::Tag, needs ["name"]: "name" Text, "description" Text;
    Part::PathItem, needs []:
        "get" One(Part::Operation), "put" One(Part::Operation), "post" One(Part::Operation),
        "delete" One(Part::Operation), "patch" One(Part::Operation);
    Part::Operation, needs []:
        "operationId" Text, "tags" Texts, "summary" Text, "description" Text, "security" Any,
        "parameters" List(Part::Parameter), "requestBody" One(Part::RequestBody),
        "responses" Map(Part::Response), "x-clause" Any, "x-credentials-agree" Text,
        "x-rules" List(Part::Rule), "x-retry" Text, "deprecated" Flag, "x-deprecated-since" Text,
        "x-sunset" Text, "x-replaced-by" Text;
    Part::Parameter, needs ["name" "in" "schema"]:
        "name" Text, "in" Text, "required" Flag, "description" Text, "schema" One(Part::Schema),
        "example" Any, "x-clause" Any, "x-credential" Flag, "x-alias-of" Text, "x-aliases-agree" Text,
        "x-falls-back-to" Text, "deprecated" Flag, "x-deprecated-since" Text, "x-sunset" Text,
        "x-replaced-by" Text;
    Part::RequestBody, needs ["content"]:
        "required" Flag, "description" Text, "content" Map(Part::Media), "x-clause" Any;
    Part::Response, needs ["description"]:
        "description" Text, "headers" Map(Part::Header), "content" Map(Part::Media), "x-clause" Any;
    Part::Header, needs ["schema"]:
        "required" Flag, "description" Text, "schema" One(Part::Schema), "example" Any, "x-clause" Any;
    Part::Media, needs ["schema"]: "schema" One(Part::Schema), "example" Any;
    Part::Schema, needs []:
        "type" Text, "format" Text, "description" Text, "nullable" Flag, "default" Any, "enum" Any,
        "example" Any, "minimum" Number, "maximum" Number, "minLength" Count, "maxLength" Count,
        "pattern" Text, "minItems" Count, "maxItems" Count, "items" One(Part::Schema),
        "properties" Map(Part::Schema), "required" Texts, "additionalProperties" Flag, "x-clause" Any,
        "x-format" Text, "x-port" One(Part::Ports), "x-max-utf8-bytes" Count, "x-max-distinct" Count,
        "x-separators" TextMap, "deprecated" Flag, "x-deprecated-since" Text, "x-sunset" Text,
        "x-replaced-by" Text, "x-deprecated-values" Map(Part::DeprecatedValue);
    Part::SecurityScheme, needs ["type"]:
        "type" Text, "in" Text, "name" Text, "scheme" Text, "description" Text;
    Part::Components, needs []:
        "securitySchemes" Map(Part::SecurityScheme), "parameters" Map(Part::Parameter),
        "headers" Map(Part::Header), "responses" Map(Part::Response), "requestBodies" Map(Part::RequestBody),
        "schemas" Map(Part::Schema);
    Part::Clause, needs ["id" "section" "text" "observable"]:
        "id" Text, "section" Text, "text" Text, "observable" Flag, "reason" Text, "inferred" Text,
        "inferred-null" Text;
    Part::Unspecified, needs ["id" "text"]: "id" Text, "text" Text;
    Part::Rule, needs ["rule" "clause"]:
        "rule" Text, "parameter" Text, "when" One(Part::Condition), "property" Text, "bound" Text,
        "clause" Text;
    Part::Condition, needs ["parameter" "equals"]: "parameter" Text, "equals" Text;
    Part::Ports, needs ["minimum" "maximum"]: "minimum" Count, "maximum" Count;
    Part::DeprecatedValue, needs []: "x-deprecated-since" Text, "x-sunset" Text, "x-replaced-by" Text;
}

impl Part {
    /// Whether a `$ref` may replace it.
    fn may_refer(self) -> bool {
        matches!(self, Part::Parameter | Part::RequestBody | Part::Response | Part::Header | Part::Schema)
    }
}

/// A mapping of the document and its kind.
#[derive(Clone, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) part: Part,
    pub(crate) pointer: String,
    pub(crate) value: &'a Value,
    /// `operationId` of the operation around it.
    pub(crate) operation: Option<&'a str>,
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

    /// The members, as keyword and value; none when the value is not a mapping.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.value.as_object().into_iter().flatten().map(|(keyword, value)| (keyword.as_str(), value))
    }
}

/// Every mapping of the document that the table describes, parents first. `$ref`s are not followed.
pub(crate) fn walk(document: &Document) -> Vec<Node<'_>> {
    let mut nodes = Vec::new();
    visit(
        Node { part: Part::Document, pointer: String::new(), value: document.root(), operation: None },
        &mut nodes,
    );
    nodes
}

/// Replaces the missing id of an operation, which a separate rule rejects.
const UNNAMED: &str = "(without operationId)";

fn visit<'a>(node: Node<'a>, nodes: &mut Vec<Node<'a>>) {
    let operation = match node.part {
        Part::Operation => Some(node.text("operationId").unwrap_or(UNNAMED)),
        _ => node.operation,
    };
    let child = |part, pointer, value| Node { part, pointer, value, operation };
    let mut children = Vec::new();
    if !(node.part.may_refer() && node.value.get("$ref").is_some()) {
        for (keyword, shape) in node.part.keywords() {
            let Some(value) = node.value.get(*keyword) else { continue };
            let at = node.at(keyword);
            match shape {
                One(part) => children.push(child(*part, at, value)),
                List(part) => {
                    let items = value.as_array().into_iter().flatten().enumerate();
                    children
                        .extend(items.map(|(index, item)| child(*part, join(&at, &index.to_string()), item)));
                }
                Map(part) => {
                    let members = value.as_object().into_iter().flatten();
                    children.extend(members.map(|(name, member)| child(*part, join(&at, name), member)));
                }
                Text | Flag | Number | Count | Texts | TextMap | Any => {}
            }
        }
    }
    nodes.push(Node { operation, ..node });
    for child in children {
        visit(child, nodes);
    }
}
