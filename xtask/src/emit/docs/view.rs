//! What the page shows, in its order, as the template (`page.html`) reads it.

use serde_json::{Value, json};

use super::{
    curl,
    field::{self, FieldContext},
    words::{self, Type},
};
use crate::{
    document::{Document, join},
    model::{Body, Contract, Credential, Deprecation, Media, Operation, Response, Retry, Rule, Schema},
};

/// Everything that the document says.
pub(super) fn page(document: &Document, contract: &Contract) -> Value {
    let text = |pointer| document.get(pointer).and_then(Value::as_str).unwrap_or_default();
    let servers: Vec<Value> = document.items("/servers").iter().map(|(at, _)| server(document, at)).collect();
    let base_url = servers.first().map(base_url).unwrap_or_default();
    json!({
        "title": text("/info/title"),
        "version": text("/info/version"),
        "description": text("/info/description"),
        "facts": facts(document),
        "servers": servers,
        "schemes": schemes(document, contract),
        "tags": tags(document, contract, &base_url),
        "base_url": base_url,
        "schemas": contract.schemas.iter().map(|it| schema(contract, it)).collect::<Vec<_>>(),
        "clauses": clauses(contract),
        "unspecified": contract.unspecified,
    })
}

/// The URL of a server with the defaults of its variables.
fn base_url(server: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let variables = server["variables"].as_array().into_iter().flatten();
    variables.fold(text(&server["url"]), |url, variable| {
        url.replace(&format!("{{{}}}", text(&variable["name"])), &text(&variable["default"]))
    })
}

/// Contact and licence of the document.
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

fn server(document: &Document, at: &str) -> Value {
    let variables = document.members(&join(at, "variables")).into_iter().map(|(name, at, _)| {
        let text = |key| document.text(&at, key).unwrap_or_default();
        json!({ "name": name, "default": text("default"), "description": text("description") })
    });
    json!({
        "url": document.text(at, "url").unwrap_or_default(),
        "description": document.text(at, "description").unwrap_or_default(),
        "variables": variables.collect::<Vec<_>>(),
    })
}

/// The ways to send the token.
fn schemes(document: &Document, contract: &Contract) -> Vec<Value> {
    let scheme = |(name, at, _): (&str, String, &Value)| {
        let requires = |operation: &&Operation| {
            let security = document.items(&join(&operation.pointer, "security"));
            security.iter().any(|(_, requirement)| requirement.get(name).is_some())
        };
        let field = |key| document.text(&at, key).unwrap_or_default();
        let way = match field("in") {
            "query" => Credential::Query { name: field("name").to_owned() },
            "header" => Credential::Header { name: field("name").to_owned() },
            _ => Credential::Bearer,
        };
        let operations = contract.operations.iter().filter(requires).map(|it| it.id.as_str());
        json!({
            "way": credential(&way),
            "description": field("description"),
            "operations": operations.collect::<Vec<_>>(),
        })
    };
    document.members("/components/securitySchemes").into_iter().map(scheme).collect()
}

/// Every operation once: under the first of its tags, or last of all where nothing describes that tag.
fn tags(document: &Document, contract: &Contract, base: &str) -> Vec<Value> {
    let described = document.items("/tags").into_iter().map(|(at, _)| {
        let text = |key| document.text(&at, key).unwrap_or_default();
        (text("name"), text("description"), Vec::<Value>::new())
    });
    let mut tags: Vec<_> = described.chain([("other", "", Vec::new())]).collect();
    let last = tags.len() - 1;
    for it in &contract.operations {
        let home = tags.iter().position(|(tag, ..)| it.tags.first().is_some_and(|own| own == tag));
        tags[home.unwrap_or(last)].2.push(operation(document, contract, base, it));
    }
    tags.retain(|(.., operations)| !operations.is_empty());
    tags.into_iter()
        .map(|(name, description, operations)| {
            json!({ "name": name, "description": description, "operations": operations })
        })
        .collect()
}

fn schema(contract: &Contract, schema: &Schema) -> Value {
    let name = schema.name.as_deref().unwrap_or_default();
    let context = FieldContext { anchor: &format!("schema-{name}"), of: name, operation: None };
    json!({
        "name": name,
        "description": schema.description,
        "kind": Type::defined_by(schema),
        "limits": words::limits(contract, schema),
        "default": schema.default.as_ref().map(words::value),
        "example": schema.example.as_ref().map(words::value),
        "clauses": field::once(schema.citation.all().collect()),
        "fields": field::properties(contract, context, schema),
    })
}

/// The clauses in groups of those whose ids begin alike.
fn clauses(contract: &Contract) -> Vec<Value> {
    let constraints = contract.constraints();
    let mut groups: Vec<(&str, Vec<Value>)> = Vec::new();
    for clause in &contract.clauses {
        let id = &clause.id;
        let binds = |operation: &&Operation| {
            let responses = operation.responses();
            let responses = responses.flat_map(|response| response.citation.all());
            let parameters = operation.parameters.iter().flat_map(|parameter| parameter.citation.all());
            let mut cited = operation.citation.all().chain(responses).chain(parameters);
            cited.any(|cited| cited == id)
                || constraints.iter().any(|one| one.operation == operation.id && one.clauses.contains(id))
        };
        let operations = contract.operations.iter().filter(binds).map(|it| it.id.as_str());
        let mut view = json!(clause);
        view["inference"] = json!(clause.inference());
        view["operations"] = operations.collect();
        let name = id.split('.').next().unwrap_or(id);
        match groups.last_mut().filter(|(group, _)| *group == name) {
            Some((_, clauses)) => clauses.push(view),
            None => groups.push((name, vec![view])),
        }
    }
    groups.into_iter().map(|(name, clauses)| json!({ "name": name, "clauses": clauses })).collect()
}

/// How a way to send the token is written.
fn credential(credential: &Credential) -> String {
    match credential {
        Credential::Query { name } => format!("query parameter `{name}`"),
        Credential::Header { name } => format!("header `{name}`"),
        Credential::Bearer => "header `Authorization: Bearer …`".to_owned(),
    }
}

/// Everything about one operation.
fn operation(document: &Document, contract: &Contract, base: &str, operation: &Operation) -> Value {
    let rule = |rule: &Rule| json!({ "field": words::bound(rule), "words": words::rule(rule), "clause": field::clause(rule) });
    let sent = operation.body.as_ref().and_then(|body| example(document, &body.pointer, JSON));
    let responses = operation.responses();
    let parameters = operation.parameters.iter().map(|it| field::parameter(contract, operation, it));
    json!({
        "id": operation.id,
        "method": operation.method.to_string(),
        "path": operation.path,
        "summary": operation.summary,
        "description": operation.description,
        "notices": notices(operation),
        "clauses": operation.citation.all().collect::<Vec<_>>(),
        "credentials": operation.credentials.iter().map(credential).collect::<Vec<_>>(),
        "credentials_agree": operation.credentials_agree,
        "rules": operation.rules.iter().map(rule).collect::<Vec<_>>(),
        "curl": curl::command(base, operation, sent),
        "parameters": parameters.collect::<Vec<_>>(),
        "body": operation.body.as_ref().map(|body| request_body(contract, operation, body, sent)),
        "responses": responses.map(|it| response(document, contract, operation, it)).collect::<Vec<_>>(),
    })
}

/// Sentences about deprecation and retries of an operation.
fn notices(operation: &Operation) -> Vec<String> {
    let deprecation = operation.deprecation.as_ref().map(|Deprecation { since, sunset, replaced_by }| {
        let instead = replaced_by.as_ref().map(|id| format!(" Use `{id}` instead.")).unwrap_or_default();
        format!("Deprecated since {since}; it ends on {sunset}.{instead}")
    });
    let retry = operation.retry.map(|retry| match retry {
        Retry::Safe => "Repeating a call changes nothing.",
        Retry::IdempotencyKey => {
            "A call that was interrupted may be repeated with the same request id: it is then the same call."
        }
        Retry::Never => "A call whose outcome is unknown must not be repeated.",
    });
    deprecation.into_iter().chain(retry.map(str::to_owned)).collect()
}

/// The one media type that a request body may have.
const JSON: &str = "application/json";

fn request_body(contract: &Contract, operation: &Operation, body: &Body, sent: Option<&Value>) -> Value {
    let (anchor, of) = (format!("{}-body", operation.id), format!("the body of {}", operation.id));
    let context = FieldContext { anchor: &anchor, of: &of, operation: Some(operation) };
    json!({
        "media": JSON,
        "required": body.required,
        "description": body.description,
        "kind": Type::new(&body.schema),
        "clauses": field::once(body.citation.all().collect()),
        "fields": field::properties(contract, context, &body.schema),
        "example": sent.map(|example| laid_out(JSON, example)),
        "anchor": anchor,
        "of": of,
    })
}

fn response(document: &Document, contract: &Contract, operation: &Operation, response: &Response) -> Value {
    let anchor = format!("{}-{}", operation.id, response.status);
    let name = match response.status.as_str() {
        "default" => "any other status".to_owned(),
        status => format!("status {status}"),
    };
    let of = format!("{}, {name}", operation.id);
    let headers = response.headers.iter().map(|header| {
        let example = document.get(&join(&header.pointer, "example"));
        field::header(contract, FieldContext { anchor: &anchor, of: &of, operation: None }, header, example)
    });
    let bodies = response.content.iter().map(|Media { name, schema }| {
        let (anchor, of) = (format!("{anchor}-{name}"), format!("the body of {of}"));
        let context = FieldContext { anchor: &anchor, of: &of, operation: None };
        // A named schema is a link to its own table.
        let fields =
            if schema.name.is_none() { field::properties(contract, context, schema) } else { Vec::new() };
        json!({
            "media": name,
            "required": true,
            "kind": Type::new(schema),
            "fields": fields,
            "example": example(document, &response.pointer, name).map(|example| laid_out(name, example)),
            "anchor": anchor,
            "of": of,
        })
    });
    json!({
        "name": name,
        "description": response.description,
        "clauses": field::once(response.citation.all().collect()),
        "headers": headers.collect::<Vec<_>>(),
        "bodies": bodies.collect::<Vec<_>>(),
        "anchor": anchor,
    })
}

/// The example of a body at `pointer`.
fn example<'a>(document: &'a Document, pointer: &str, media: &str) -> Option<&'a Value> {
    document.get(&join(&join(&join(pointer, "content"), media), "example"))
}

/// An example as it would be sent, but for the blanks that make JSON readable.
fn laid_out(media: &str, example: &Value) -> String {
    match example {
        Value::String(text) if media != JSON => text.clone(),
        other => format!("{other:#}"),
    }
}
