//! What callers need no hand-written code for: a call of `Client` and a command of its program for each operation that returns a list.

use heck::ToSnakeCase;
use serde_json::{Value, json};

use crate::{
    document::{Document, join},
    emit::name,
    model::{Contract, Kind, Operation, Schema},
    problem::Problem,
};

/// The hand-written methods of `Client`.
const CLIENT: &str = include_str!("../../../client/src/client.rs");

/// What `Client` derives, and the other commands of its program.
const OTHERS: [&str; 4] = ["clone", "completions", "help", "man"];

/// The options that all calls and all commands of listings have, and names that the types of calls use themselves.
const OPTIONS: [&str; 10] = [
    "request_timeout",
    "total_timeout",
    "retry",
    "format",
    "json",
    "client",
    "options",
    "body",
    "output",
    "with_response",
];

/// The arguments of the program that all its commands have.
const ARGUMENTS: &str = include_str!("../../../client/src/bin/sallyport/args.rs");

/// The call of each operation that returns a list and that is not written by hand.
pub(super) fn gather(document: &Document, contract: &Contract) -> Result<Vec<Value>, Vec<Problem>> {
    let mut calls: Vec<Value> = Vec::new();
    for operation in &contract.operations {
        calls.extend(
            call(operation, &calls)
                .map_err(|(at, message, help)| vec![document.problem(at, message, help)])?,
        );
    }
    Ok(calls)
}

/// The call of an operation that returns a list; `None` where it is written by hand, or where a caller must build an object for it.
///
/// Fails with what is wrong with an operation whose name cannot be used, or that sends nothing and returns no list.
fn call(operation: &Operation, others: &[Value]) -> Result<Option<Value>, (String, String, &'static str)> {
    let Operation { id, description, summary, .. } = operation;
    let (inputs, method) = (inputs(operation), name::snake(operation.prefix()).to_string());
    let is_written = ["(", "<"].iter().any(|end| CLIENT.contains(&format!("fn {method}{end}")));
    let list = list(operation).zip(inputs);
    let ((path, item), inputs) = match list {
        Some(_) if is_written && !operation.is_plain() => return Ok(None),
        Some(list) => list,
        None if !operation.is_plain() => return Ok(None),
        None => {
            let message = "the client cannot list what this operation returns".to_owned();
            let help = "return `data` or `data.items`, a list of objects with a name of their own, or teach this emitter \
                        (xtask/src/emit/calls.rs)";
            return Err((operation.pointer.clone(), message, help));
        }
    };
    let is_word = syn::parse_str::<syn::Ident>(&method).is_err();
    let is_taken =
        is_written || OTHERS.contains(&&*method) || others.iter().any(|other| other["method"] == method);
    if is_taken || is_word {
        let message =
            format!("the client cannot name this listing `{method}`: the name is taken, or a word of Rust");
        let help = "cite a clause whose id begins with another word for the success response";
        return Err((operation.pointer.clone(), message, help));
    }
    let global = ARGUMENTS.split("enum Command").next().unwrap_or_default();
    let is_option = |name: &str| OPTIONS.contains(&name) || global.contains(&format!("pub(crate) {name}:"));
    let mut named = inputs
        .iter()
        .filter_map(|input| Some((name::snake(input["name"].as_str()?).to_string(), input["at"].as_str()?)));
    if let Some((name, at)) = named.find(|(name, _)| is_option(name)) {
        let message = format!("the client cannot name an input `{name}`: every call has that name already");
        return Err((at.to_owned(), message, "choose another name"));
    }
    let snake = id.to_snake_case();
    let verb = name::pascal(snake.split('_').next().unwrap_or_default());
    // As progenitor names a function after a keyword.
    let send = name::snake(id).to_string();
    let end = if syn::parse_str::<syn::Ident>(&send).is_ok() { "" } else { "_" };
    let about = summary.as_ref().unwrap_or(id);
    Ok(Some(json!({
        "id": id, "method": method, "type": format!("{verb}{}", name::pascal(operation.prefix())), "send": send + end,
        "name": name::pascal(operation.prefix()).to_string(), "path": path,
        "item": item,
        "description": description.as_ref().unwrap_or(about), "about": about, "long_about": description.as_ref().map(|text| format!("{about}\n\n{}", text.trim())),
        "inputs": inputs,
        "body": operation.body.as_ref().and_then(|body| body.schema.name.as_deref()).map(|name| name::pascal(name).to_string()),
    })))
}

/// The members of the response that lead to its list of named objects, and one of these.
fn list(operation: &Operation) -> Option<(Vec<String>, &Schema)> {
    fn part<'a>(schema: &'a Schema, name: &str) -> Option<&'a Schema> {
        schema.properties.iter().find(|property| property.name == name).map(|property| &property.schema)
    }
    let data = part(operation.success.json()?, "data")?;
    let (path, list) =
        part(data, "items").map_or((vec!["data"], data), |items| (vec!["data", "items"], items));
    let item = list.items.as_deref().filter(|item| item.name.is_some())?;
    Some((path.into_iter().map(|name| name::snake(name).to_string()).collect(), item))
}

/// What a call sends beside the token: parameters, and the properties of the body; `None` where one of them is an object.
fn inputs(operation: &Operation) -> Option<Vec<Value>> {
    let parameters =
        operation.distinct_parameters().map(|one| (&one.schema, json!(one), one.pointer.clone(), false));
    let properties = operation.body.iter().flat_map(|body| {
        let at = join(&body.schema.pointer, "properties");
        let properties = body.schema.properties.iter();
        properties.map(move |one| (&one.schema, json!(one), join(&at, &one.name), true))
    });
    let inputs = parameters.chain(properties).map(|(schema, mut input, at, in_body)| {
        let has_type =
            |one: &Schema| one.kind != Kind::Object && (one.variants.is_none() || one.name.is_some());
        (input["at"], input["in_body"]) = (at.into(), in_body.into());
        schema.all().into_iter().all(has_type).then_some(input)
    });
    inputs.collect()
}
