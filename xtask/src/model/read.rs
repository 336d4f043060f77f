//! Reads the contract from a document: references are followed, and the rest is up to the types.

use sallyport_contract::table::{Location, Transport};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use serde_path_to_error::Segment;

use super::{Citation, Contract, Limit, Operation, Response, Schema, field::Doc};
use crate::{
    document::{Document, join},
    problem::{Problem, suggestion},
};

/// The methods that the generators can express.
const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

impl Contract {
    /// Reads the contract out of a document. Of each operation, schema and clause the first problem is reported, sorted by position.
    pub(crate) fn read(document: &Document) -> Result<Contract, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut operations = Vec::new();
        for (path, at, _) in document.members("/paths") {
            for (key, pointer, _) in document.members(&at) {
                if !METHODS.contains(&key) {
                    continue;
                }
                match operation(document, path, key, &pointer) {
                    Ok(operation) => operations.push(operation),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        let schemas = document.members("/components/schemas");
        let mut schemas: Vec<Schema> =
            parts(document, schemas.into_iter().map(|(_, at, _)| at), &mut problems);
        schemas.iter_mut().for_each(|schema| schema.inherit(&Citation::default()));
        let [clauses, unspecified] = ["/x-clauses", "/x-unspecified"]
            .map(|list| parts(document, document.items(list).into_iter().map(|(at, _)| at), &mut problems));
        if problems.is_empty() {
            return Ok(Contract { operations, schemas, clauses, unspecified });
        }
        Problem::sort(&mut problems);
        // A definition that several operations use is read once for each of them.
        problems.dedup_by(|one, other| one.pointer == other.pointer && one.message == other.message);
        Err(problems)
    }
}

fn operation(document: &Document, path: &str, method: &str, at: &str) -> Result<Operation, Problem> {
    let mut operation: Operation = part(document, at)?;
    (operation.path, operation.method) = (path.to_owned(), method.to_uppercase());
    for (item, requirement) in document.items(&join(at, "security")) {
        for name in requirement.as_object().into_iter().flatten().map(|(name, _)| name) {
            operation.credentials.push(credential(
                document,
                &item,
                &join("/components/securitySchemes", name),
            )?);
        }
    }
    let is_success = |response: &Response| response.status.starts_with('2');
    let index = operation.errors.iter().position(is_success);
    let index =
        index.ok_or_else(|| document.problem(at, "missing 2xx response", "add one success response"))?;
    operation.success = operation.errors.remove(index);
    let fallbacks: Vec<_> = operation.parameters.iter().filter_map(|one| one.falls_back_to.clone()).collect();
    for parameter in &mut operation.parameters {
        parameter.schema.citation = std::mem::take(&mut parameter.schema.citation).or(&parameter.citation);
        parameter.schema.inherit(&Citation::default());
        let is_fallback = parameter.location == Location::Header && fallbacks.contains(&parameter.name);
        parameter.is_distinct = !(parameter.credential || parameter.alias_of.is_some() || is_fallback);
        parameter.doc = Doc::of_parameter(parameter);
    }
    if let Some(body) = &mut operation.body {
        body.schema.inherit(&body.citation);
        body.doc = Doc::of_body(body);
    }
    for response in std::iter::once(&mut operation.success).chain(&mut operation.errors) {
        let around =
            Citation { any: response.citation.clauses_for("headers").to_vec(), ..Citation::default() };
        for header in &mut response.headers {
            header.citation = std::mem::take(&mut header.citation).or_any(&around);
            header.schema.citation = std::mem::take(&mut header.schema.citation).or(&header.citation);
            header.schema.inherit(&Citation::default());
        }
        response.content.iter_mut().for_each(|media| media.schema.inherit(&response.citation));
    }
    Ok(operation)
}

/// The transport of a scheme.
fn credential(document: &Document, at: &str, scheme: &str) -> Result<Transport, Problem> {
    let field = |key| document.text(scheme, key).map(str::to_owned);
    match (field("type").as_deref(), field("in").as_deref(), field("name"), field("scheme").as_deref()) {
        (Some("apiKey"), Some("query"), Some(name), _) => Ok(Transport::Query(name)),
        (Some("apiKey"), Some("header"), Some(name), _) => Ok(Transport::Header(name)),
        (Some("http"), _, _, Some("bearer")) => Ok(Transport::Bearer),
        _ if document.get(scheme).is_some() => {
            let help = "use an apiKey in query or header, or http bearer";
            Err(document.problem(scheme, "unsupported security scheme", help))
        }
        _ => {
            let name = scheme.rsplit('/').next().unwrap_or_default();
            let known = document.members("/components/securitySchemes");
            let known = known.iter().map(|(name, ..)| *name);
            let help = suggestion(name, known, "define it under components/securitySchemes");
            Err(document.problem(at, format!("unknown security scheme `{name}`"), help))
        }
    }
}

fn parts<T: DeserializeOwned>(
    document: &Document,
    pointers: impl Iterator<Item = String>,
    problems: &mut Vec<Problem>,
) -> Vec<T> {
    pointers.filter_map(|at| part(document, &at).map_err(|problem| problems.push(problem)).ok()).collect()
}

/// The part at `at`. What its type cannot hold is a problem at the value that is wrong.
fn part<T: DeserializeOwned>(document: &Document, at: &str) -> Result<T, Problem> {
    let source = expanded(document, at, &mut Vec::new())?;
    serde_path_to_error::deserialize(&source).map_err(|error| {
        let (mut value, mut pointer) = (&source, at.to_owned());
        for segment in error.path() {
            let (step, inner) = match segment {
                Segment::Seq { index } => (index.to_string(), value.get(index)),
                Segment::Map { key } => (key.clone(), value.get(key)),
                Segment::Enum { .. } | Segment::Unknown => continue,
            };
            value = inner.unwrap_or(&Value::Null);
            pointer = value["$at"].as_str().map_or_else(|| join(&pointer, &step), str::to_owned);
        }
        let help = "openapi/README.md and openapi/subset.schema.yaml say what may stand here";
        document.problem(pointer, error.inner().to_string(), help)
    })
}

/// A `$ref` to nothing, or in a circle.
fn unknown_reference(document: &Document, at: &str, target: &str) -> Problem {
    let section = target.trim_start_matches('#').rsplit_once('/').unwrap_or_default().0;
    let known: Vec<String> =
        document.members(section).into_iter().map(|(_, at, _)| format!("#{at}")).collect();
    let help = "reference a part under components, such as \"#/components/schemas/Name\"";
    let help = suggestion(target, known.iter().map(String::as_str), help);
    document.problem(join(at, "$ref"), format!("unknown reference `{target}`"), help)
}

/// The part at `at` with its references followed. A mapping has the pointer of its definition as `$at`, a named schema its name as
/// `$name`, and what stands in a mapping from names becomes a list. `open` are the definitions around it.
fn expanded(document: &Document, at: &str, open: &mut Vec<String>) -> Result<Value, Problem> {
    let pointer = document.definition(at).to_owned();
    if open.contains(&pointer) {
        let help = "no generator supports recursive schemas; write a fixed number of levels";
        return Err(document.problem(at, format!("recursive schema {pointer}"), help));
    }
    let members = match document.get(&pointer) {
        Some(Value::Object(members)) => match members.get("$ref").and_then(Value::as_str) {
            Some(target) => return Err(unknown_reference(document, &pointer, target)),
            None => members,
        },
        Some(Value::Array(_)) => {
            let items = document.items(&pointer).into_iter();
            return items.map(|(at, _)| expanded(document, &at, open)).collect();
        }
        other => return Ok(other.cloned().unwrap_or_default()),
    };
    open.push(pointer.clone());
    let mut part = Map::new();
    let name = pointer.strip_prefix("/components/schemas/").filter(|name| !name.contains('/'));
    part.extend(name.map(|name| ("$name".to_owned(), json!(name))));
    let is_keyword = |key: &str| {
        Limit::named(key).is_some()
            || ["nullable", "enum", "default", "format", "x-format", "x-port", "x-separators"].contains(&key)
    };
    let is_schema = members.contains_key("type");
    if is_schema {
        let keywords = members.iter().filter(|(key, _)| is_keyword(key));
        let keywords = keywords.map(|(key, value)| (key.clone(), value.clone()));
        part.insert("$keywords".to_owned(), keywords.collect());
    }
    for (key, value) in members {
        let at = join(&pointer, key);
        if is_schema && Limit::named(key).is_some() {
            if value.as_i64().is_none() {
                let message = format!("`{key}`: expected a whole number, found `{value}`");
                return Err(document.problem(at, message, "write it without a fraction, such as 100"));
            }
            continue;
        }
        if value.is_null() {
            continue;
        }
        let entries = || document.members(&at).into_iter();
        let inner = match key.as_str() {
            "default" | "enum" | "example" | "security" | "x-clause" | "x-separators" => value.clone(),
            "properties" => {
                let required = members.get("required").and_then(Value::as_array);
                let is_required =
                    |name: &str| required.is_some_and(|names| names.iter().any(|one| one == name));
                let property = |(name, at, _): (&str, String, _)| {
                    Ok(
                        json!({ "name": name, "required": is_required(name), "schema": expanded(document, &at, open)? }),
                    )
                };
                entries().map(property).collect::<Result<_, Problem>>()?
            }
            "headers" | "content" | "responses" | "x-filter" => {
                let named = |(name, at, _): (&str, String, _)| {
                    let mut part = expanded(document, &at, open)?;
                    part.as_object_mut().map(|part| part.insert("$key".to_owned(), json!(name)));
                    Ok(part)
                };
                entries().map(named).collect::<Result<_, Problem>>()?
            }
            _ => expanded(document, &at, open)?,
        };
        part.insert(key.clone(), inner);
    }
    open.pop();
    part.insert("$at".to_owned(), json!(pointer));
    Ok(Value::Object(part))
}
