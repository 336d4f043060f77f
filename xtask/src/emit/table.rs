//! Emits the table of constraints of requests, by which the server and the client check them.

use sallyport_contract::{
    check::counted,
    date_time,
    table::{Constraint, Limit, Location, Operation, Part, Row, Rule, Schema, Substitute, Token, Type},
};
use serde_json::json;

use super::conformance::laid_out;
use crate::{
    artifact::Artifact,
    document::Document,
    model::{self, Citation, Contract, Format, Property},
    problem::Problem,
};

/// The clause of every operation that takes a token. A parameter of it may be optional where the token has other transports.
const TOKEN_REQUIRED: &str = "all.token-required";

/// What the table cannot hold: the pointer of the definition, and a message.
type Unsupported = (String, String);

/// The file that the server and the client read the table from.
pub(super) fn emit(document: &Document) -> Result<Vec<Artifact>, Vec<Problem>> {
    let operations: Result<Vec<_>, _> = Contract::read(document)?.operations.iter().map(operation).collect();
    let operations = operations.map_err(|(pointer, message)| {
        let help = "use another keyword, or add it to the table of constraints in openapi/src/";
        vec![document.problem(pointer, message, help)]
    })?;
    Ok(vec![Artifact {
        path: "openapi/src/generated/table.json",
        contents: laid_out(&json!(operations), 0) + "\n",
    }])
}

fn operation(operation: &model::Operation) -> Result<Operation, Unsupported> {
    let unsupported = |message: &str| (operation.pointer.clone(), message.to_owned());
    let (carriers, parameters): (Vec<_>, Vec<_>) =
        operation.parameters.iter().partition(|parameter| parameter.credential);
    let (mut rules, mut substitutes) = (Vec::new(), Vec::new());
    for model::Parameter { name, falls_back_to, alias_of, aliases_agree, .. } in parameters.iter().copied() {
        let mut replace = |parameter: &String, by: &String| {
            substitutes.push(Substitute { parameter: parameter.clone(), by: by.clone() })
        };
        if let Some(header) = falls_back_to {
            replace(name, header);
        }
        if let Some(original) = alias_of {
            replace(original, name);
            let (parameter, clause) = (original.clone(), aliases_agree.clone().unwrap_or_default());
            rules.push(Rule::Same { alias: name.clone(), parameter, clause });
        }
    }
    rules.extend(operation.rules.iter().cloned());
    let part = |parameter: &model::Parameter| {
        let model::Parameter { name, location, required, citation, .. } = parameter;
        part(name, *location, *required, citation, &parameter.schema)
    };
    let body = operation
        .body
        .as_ref()
        .map(|body| self::part("body", Location::Body, body.required, &body.citation, &body.schema));
    Ok(Operation {
        id: operation.id.clone(),
        method: operation.method.clone(),
        path: operation.path.clone(),
        status: operation
            .success
            .status
            .parse()
            .map_err(|_| unsupported("the status of success is no number"))?,
        token: token(
            operation,
            carriers.first().ok_or_else(|| unsupported("no parameter carries the token"))?,
        )?,
        parameters: parameters.iter().copied().map(part).collect::<Result<_, _>>()?,
        body: body.transpose()?,
        rules,
        substitutes,
    })
}

fn token(operation: &model::Operation, parameter: &model::Parameter) -> Result<Token, Unsupported> {
    let model::Parameter { name, location, citation, .. } = parameter;
    let is_required = operation.citation.any.iter().any(|id| id == TOKEN_REQUIRED);
    let token = Token {
        name: name.clone(),
        location: *location,
        transports: operation.credentials.clone(),
        required: if is_required { TOKEN_REQUIRED.to_owned() } else { citation.clauses("required") },
        not_empty: citation.clauses("minLength"),
        agree: operation.credentials_agree.clone().unwrap_or_default(),
    };
    let is_limit =
        |row: &Row| !matches!(row.constraint, Constraint::NotEmpty | Constraint::Type(Type::String));
    let message = if schema(&parameter.schema, *location)?.rows.iter().any(is_limit) {
        "the token is not a text without limits"
    } else if token.transports.len() > 1 && token.agree.is_empty() {
        "a token with several transports has no `x-credentials-agree`"
    } else {
        return Ok(token);
    };
    Err((parameter.pointer.clone(), message.to_owned()))
}

fn part(
    name: &str,
    location: Location,
    is_required: bool,
    citation: &Citation,
    schema: &model::Schema,
) -> Result<Part, Unsupported> {
    let required = is_required.then(|| citation.clauses("required"));
    Ok(Part { name: name.to_owned(), location, required, schema: self::schema(schema, location)? })
}

/// A schema with its rows, in the order in which they are checked.
fn schema(schema: &model::Schema, location: Location) -> Result<Schema, Unsupported> {
    let model::Schema { kind, pointer, citation, format, nullable, default, .. } = schema;
    let kind = *kind;
    let unsupported = |keyword: &str| {
        let value = schema.keywords.get(keyword).cloned().unwrap_or_default();
        (pointer.clone(), format!("unsupported `{keyword}: {value}` in a request"))
    };
    let mut rows = Vec::new();
    let mut row = |keyword: &str, constraint, expected: String| {
        rows.push(Row { constraint, expected, clauses: citation.clauses(keyword) });
    };
    let not_empty = || (Constraint::NotEmpty, "a value that is not empty".to_owned());
    let has_form = schema.variants.is_some() || format.is_some() || schema.endpoint_ports().is_some();
    let range = range(kind, schema);
    // The text of a number can be empty as well.
    if location != Location::Body {
        let (constraint, expected) = not_empty();
        row("minLength", constraint, expected);
    }
    row("type", Constraint::Type(kind), range.clone());
    if location == Location::Body && kind == Type::String && !has_form {
        let (constraint, expected) = not_empty();
        row("minLength", constraint, expected);
    }
    if schema.variants.is_some() {
        let values = schema.text_variants().ok_or_else(|| unsupported("enum"))?;
        let expected = format!("one of {}", values.join(", "));
        row("enum", Constraint::Enum(values.into_iter().map(str::to_owned).collect()), expected);
    }
    match format {
        Some(Format::DateTime) => row("format", Constraint::DateTime, date_time::EXPECTED.to_owned()),
        Some(Format::Ipv4) => return Err(unsupported("format")),
        // Every integer has 64 bits.
        Some(Format::Int64) | None => {}
    }
    if let Some((least, most)) = schema.endpoint_ports() {
        let expected = format!("an IP address, perhaps with a port from {least} to {most}");
        let (ports, port_clauses) = (least..=most, citation.clauses("x-port"));
        row("x-format", Constraint::IpEndpoint { ports, port_clauses }, expected);
    }
    // Distinct items are counted once all are valid.
    let (mut limits, distinct): (Vec<_>, Vec<_>) =
        schema.limits().partition(|(limit, ..)| *limit < Limit::MaxDistinct);
    limits.sort_unstable();
    let items = schema.items().map(|items| self::schema(items, location)).transpose()?;
    for (limits, items) in [(limits, items), (distinct, None)] {
        for (limit, keyword, bound) in limits {
            let expected = match limit {
                Limit::Minimum | Limit::Maximum => range.clone(),
                // No text is empty.
                Limit::MinLength if bound <= 1 => continue,
                Limit::MinLength => format!("at least {bound} characters"),
                Limit::MaxLength => format!("at most {bound} characters"),
                Limit::MaxUtf8Bytes => format!("at most {bound} bytes in UTF-8"),
                Limit::MinItems => format!("at least {}", counted(bound, "item")),
                Limit::MaxItems => format!("at most {}", counted(bound, "item")),
                Limit::MaxDistinct => format!("at most {bound} distinct items"),
            };
            row(keyword, Constraint::Limit(limit, bound), expected);
        }
        if let Some(items) = items {
            row("items", Constraint::Items(Box::new(items)), String::new());
        }
    }
    let member = |Property { name, required, schema }: &Property| {
        part(name, location, *required, &schema.citation, schema)
    };
    let members: Vec<Part> = schema.properties().iter().map(member).collect::<Result<_, _>>()?;
    if !members.is_empty() {
        row("properties", Constraint::Members(members), String::new());
    }
    Ok(Schema { kind, nullable: *nullable, default: default.clone(), rows })
}

/// A type in words, with the range of a number.
fn range(kind: Type, schema: &model::Schema) -> String {
    match (kind, schema.limit(Limit::Minimum), schema.limit(Limit::Maximum)) {
        (Type::String, ..) => "a string".to_owned(),
        (Type::Boolean, ..) => "true or false".to_owned(),
        (Type::Array, ..) => "a list".to_owned(),
        (Type::Object, ..) => "a JSON object".to_owned(),
        (Type::Integer, Some(least), Some(most)) => format!("an integer from {least} to {most}"),
        (Type::Integer, Some(least), None) => {
            format!("an integer of at least {least} that fits into 64 bits")
        }
        (Type::Integer, None, Some(most)) => format!("an integer of at most {most} that fits into 64 bits"),
        (Type::Integer, None, None) => "an integer that fits into 64 bits".to_owned(),
    }
}

#[cfg(test)]
mod tests;
