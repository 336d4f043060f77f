//! What the page shows, in its order.

use serde::Serialize;
use serde_json::Value;

use super::{
    field::{self, Field, FieldContext},
    operation::{self, OperationView},
    words::{self, Type},
};
use crate::{
    document::{Document, join},
    model::{Clause, Contract, Credential, Operation, Schema, Unspecified},
};

/// The page.
#[derive(Serialize)]
pub(super) struct Page<'a> {
    title: &'a str,
    version: &'a str,
    description: &'a str,
    /// Where the examples are sent.
    base_url: String,
    /// Contact and licence of the document.
    facts: Vec<(&'static str, String)>,
    servers: Vec<Server<'a>>,
    schemes: Vec<Scheme<'a>>,
    tags: Vec<Tag<'a>>,
    schemas: Vec<SchemaView<'a>>,
    clauses: Vec<ClauseGroup<'a>>,
    unspecified: Vec<UnspecifiedView<'a>>,
}

#[derive(Serialize)]
struct Server<'a> {
    url: &'a str,
    description: &'a str,
    variables: Vec<Variable<'a>>,
}

#[derive(Serialize)]
struct Variable<'a> {
    name: &'a str,
    default: &'a str,
    description: &'a str,
}

/// A way to send the token.
#[derive(Serialize)]
struct Scheme<'a> {
    way: String,
    description: &'a str,
    operations: Vec<&'a str>,
}

/// The operations of a tag.
#[derive(Serialize)]
struct Tag<'a> {
    name: &'a str,
    description: &'a str,
    operations: Vec<OperationView<'a>>,
}

#[derive(Serialize)]
struct SchemaView<'a> {
    name: &'a str,
    description: Option<&'a str>,
    kind: Type<'a>,
    limits: Vec<String>,
    default: Option<String>,
    example: Option<String>,
    clauses: Vec<&'a str>,
    fields: Vec<Field<'a>>,
}

/// The clauses whose ids begin alike.
#[derive(Serialize)]
struct ClauseGroup<'a> {
    name: &'a str,
    clauses: Vec<ClauseView<'a>>,
}

#[derive(Serialize)]
struct ClauseView<'a> {
    id: &'a str,
    section: &'a str,
    text: &'a str,
    observable: bool,
    reason: Option<&'a str>,
    inference: Option<String>,
    /// The operations that it binds.
    operations: Vec<&'a str>,
}

#[derive(Serialize)]
struct UnspecifiedView<'a> {
    id: &'a str,
    text: &'a str,
}

/// Everything that the document says.
pub(super) fn page<'a>(document: &'a Document, contract: &'a Contract) -> Page<'a> {
    let text = |pointer| document.get(pointer).and_then(Value::as_str).unwrap_or_default();
    let base = base_url(document);
    Page {
        title: text("/info/title"),
        version: text("/info/version"),
        description: text("/info/description"),
        facts: facts(document),
        servers: items(document, "/servers").map(|(at, _)| server(document, &at)).collect(),
        schemes: schemes(document, contract),
        tags: tags(document, contract, &base),
        base_url: base,
        schemas: contract.schemas.iter().map(|it| schema(contract, it)).collect(),
        clauses: clauses(contract),
        unspecified: contract.unspecified.iter().map(unspecified).collect(),
    }
}

/// The first server's URL with the defaults of its variables.
fn base_url(document: &Document) -> String {
    let Some(first) = items(document, "/servers").map(|(at, _)| server(document, &at)).next() else {
        return String::new();
    };
    let put_in = |url: String, variable: &Variable<'_>| {
        url.replace(&format!("{{{}}}", variable.name), variable.default)
    };
    first.variables.iter().fold(first.url.to_owned(), put_in)
}

fn facts(document: &Document) -> Vec<(&'static str, String)> {
    let joined = |at: &str, keys: &[&str]| {
        let texts = keys.iter().filter_map(|key| document.get(&join(at, key))?.as_str());
        texts.collect::<Vec<_>>().join(", ")
    };
    let facts = [
        ("Contact", joined("/info/contact", &["name", "url", "email"])),
        ("Licence", joined("/info/license", &["name", "url"])),
        ("Terms", joined("/info", &["termsOfService"])),
    ];
    facts.into_iter().filter(|(_, text)| !text.is_empty()).collect()
}

fn server<'a>(document: &'a Document, at: &str) -> Server<'a> {
    let variables = join(at, "variables");
    Server {
        url: member(document, at, "url"),
        description: member(document, at, "description"),
        variables: members(document, &variables)
            .map(|(name, at)| Variable {
                name,
                default: member(document, &at, "default"),
                description: member(document, &at, "description"),
            })
            .collect(),
    }
}

fn schemes<'a>(document: &'a Document, contract: &'a Contract) -> Vec<Scheme<'a>> {
    let scheme = |(name, at): (&'a str, String)| {
        let requires = |operation: &&'a Operation| {
            let security = join(&operation.pointer, "security");
            items(document, &security).any(|(_, requirement)| requirement.get(name).is_some())
        };
        let field = |key| member(document, &at, key);
        Scheme {
            way: match field("in") {
                "query" => operation::credential(&Credential::Query { name: field("name").to_owned() }),
                "header" => operation::credential(&Credential::Header { name: field("name").to_owned() }),
                _ => operation::credential(&Credential::Bearer),
            },
            description: member(document, &at, "description"),
            operations: contract.operations.iter().filter(requires).map(|it| it.id.as_str()).collect(),
        }
    };
    members(document, "/components/securitySchemes").map(scheme).collect()
}

/// Every operation once: under the first of its tags, or last of all where nothing describes that tag.
fn tags<'a>(document: &'a Document, contract: &'a Contract, base: &str) -> Vec<Tag<'a>> {
    let mut tags: Vec<Tag<'a>> = items(document, "/tags")
        .map(|(at, _)| Tag {
            name: member(document, &at, "name"),
            description: member(document, &at, "description"),
            operations: Vec::new(),
        })
        .collect();
    let mut others = Tag { name: "other", description: "", operations: Vec::new() };
    for it in &contract.operations {
        let home = tags.iter_mut().find(|tag| it.tags.first().is_some_and(|own| own == tag.name));
        home.unwrap_or(&mut others).operations.push(operation::view(document, contract, base, it));
    }
    tags.push(others);
    tags.retain(|tag| !tag.operations.is_empty());
    tags
}

fn schema<'a>(contract: &'a Contract, schema: &'a Schema) -> SchemaView<'a> {
    let name = schema.name.as_deref().unwrap_or_default();
    let home = FieldContext { anchor: &format!("schema-{name}"), of: name, operation: None };
    SchemaView {
        name,
        description: schema.description.as_deref(),
        kind: Type::defined_by(schema),
        limits: words::limits(contract, schema),
        default: schema.default.as_ref().map(words::value),
        example: schema.example.as_ref().map(words::value),
        clauses: field::once(schema.citation.all().collect()),
        fields: field::properties(contract, home, schema),
    }
}

fn clauses(contract: &Contract) -> Vec<ClauseGroup<'_>> {
    let constraints = contract.constraints();
    let mut groups: Vec<ClauseGroup<'_>> = Vec::new();
    for clause in &contract.clauses {
        let Clause { id, section, text, observable, reason, .. } = clause;
        let binds = |operation: &&Operation| {
            let responses = std::iter::once(&operation.success).chain(&operation.errors);
            let responses = responses.flat_map(|response| response.citation.all());
            let parameters = operation.parameters.iter().flat_map(|parameter| parameter.citation.all());
            let mut cited = operation.citation.all().chain(responses).chain(parameters);
            cited.any(|cited| cited == id)
                || constraints.iter().any(|one| one.operation == operation.id && one.clauses.contains(id))
        };
        let view = ClauseView {
            id,
            section,
            text,
            observable: *observable,
            reason: reason.as_deref(),
            inference: clause.inference(),
            operations: contract.operations.iter().filter(binds).map(|it| it.id.as_str()).collect(),
        };
        let name = id.split('.').next().unwrap_or(id);
        match groups.last_mut().filter(|group| group.name == name) {
            Some(group) => group.clauses.push(view),
            None => groups.push(ClauseGroup { name, clauses: vec![view] }),
        }
    }
    groups
}

fn unspecified(unspecified: &Unspecified) -> UnspecifiedView<'_> {
    UnspecifiedView { id: &unspecified.id, text: &unspecified.text }
}

fn items<'a>(document: &'a Document, at: &str) -> impl Iterator<Item = (String, &'a Value)> {
    let items = document.get(at).and_then(Value::as_array);
    let pointers = (0..).map({
        let at = at.to_owned();
        move |index: usize| join(&at, &index.to_string())
    });
    pointers.zip(items.into_iter().flatten())
}

fn members<'a>(document: &'a Document, at: &str) -> impl Iterator<Item = (&'a str, String)> {
    let members = document.get(at).and_then(Value::as_object);
    let at = at.to_owned();
    members.into_iter().flatten().map(move |(name, _)| (name.as_str(), join(&at, name)))
}

fn member<'a>(document: &'a Document, at: &str, key: &str) -> &'a str {
    document.get(&join(at, key)).and_then(Value::as_str).unwrap_or_default()
}
