//! Emits what callers need no hand-written code for: a call of `Client` and a command of its program for each operation that returns a
//! list, and for the search what it can be narrowed by (`x-filter`).

use heck::ToSnakeCase;
use serde_json::{Value, json};

use crate::{
    artifact::Artifact,
    document::{Document, join},
    emit::{name, rust_text},
    lower,
    model::{Contract, Filter, Format, Kind, Limit, Match, Operation, Property, Schema, Side, field},
    problem::Problem,
    template::fill,
};

/// The hand-written methods of `Client`.
const CLIENT: &str = include_str!("../../../../client/src/client.rs");

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
const ARGUMENTS: &str = include_str!("../../../../client/src/bin/sallyport/args.rs");

/// The calls and the setters of the client, and the flags and commands of its program.
pub(super) fn emit(document: &Document, contract: &Contract) -> Result<Vec<Artifact>, Vec<Problem>> {
    let mut calls: Vec<Value> = Vec::new();
    for operation in &contract.operations {
        calls.extend(
            call(operation, &calls, contract)
                .map_err(|(at, message, help)| vec![document.problem(at, message, help)])?,
        );
    }
    let mut searches = contract.operations.iter().filter(|operation| !operation.filters.is_empty());
    let known = json!({ "calls": calls, "search": searches.next().map(|search| narrowed(search, contract)) });
    let files = [
        ("client/src/plain/generated.rs", include_str!("calls.rs.jinja")),
        ("client/src/search/generated.rs", include_str!("search.rs.jinja")),
        ("client/src/bin/sallyport/generated.rs", include_str!("program.rs.jinja")),
    ];
    files.into_iter().map(|(path, template)| rust_text(document, path, &fill(template, &known))).collect()
}

/// The call of an operation that returns a list; `None` where it is written by hand, or where a caller must build an object for it.
///
/// Fails with what is wrong with an operation whose name cannot be used, or that sends nothing and returns no list.
fn call(
    operation: &Operation,
    others: &[Value],
    contract: &Contract,
) -> Result<Option<Value>, (String, String, &'static str)> {
    let Operation { id, description, summary, .. } = operation;
    let (inputs, method) = (inputs(operation, contract), name::snake(operation.prefix()).to_string());
    let is_written = ["(", "<"].iter().any(|end| CLIENT.contains(&format!("fn {method}{end}")));
    let list = list(operation).zip(inputs);
    let ((path, item), inputs) = match list {
        Some(_) if is_written && !operation.is_plain() => return Ok(None),
        Some(list) => list,
        None if !operation.is_plain() => return Ok(None),
        None => {
            let message = "the client cannot list what this operation returns".to_owned();
            let help = "return `data` or `data.items`, a list of objects with a name of their own, or teach this emitter \
                        (xtask/src/emit/client/calls.rs)";
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
    let mut named = inputs.iter().filter_map(|input| Some((input["field"].as_str()?, input["at"].as_str()?)));
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
        "item": item.name.as_deref().map(|name| name::pascal(name).to_string()), "columns": columns(item),
        "doc": format!("{} Await the result to send the request.", name::sentence(description.as_ref().unwrap_or(about)).trim()),
        "about": about, "long_about": description.as_ref().map(|text| format!("{about}\n\n{}", text.trim())),
        "inputs": inputs,
        "body": operation.body.as_ref().and_then(|body| body.schema.name.as_deref()).map(|name| name::pascal(name).to_string()),
    })))
}

/// The members of the response that lead to its list of named objects, and one of these.
fn list(operation: &Operation) -> Option<(Vec<String>, &Schema)> {
    fn part<'a>(schema: &'a Schema, name: &str) -> Option<&'a Schema> {
        schema.properties().iter().find(|property| property.name == name).map(|property| &property.schema)
    }
    let data = part(operation.success.json()?, "data")?;
    let (path, list) =
        part(data, "items").map_or((vec!["data"], data), |items| (vec!["data", "items"], items));
    let item = list.items().filter(|item| item.name.is_some())?;
    Some((path.into_iter().map(|name| name::snake(name).to_string()).collect(), item))
}

/// The columns of a table, each with its member of an item.
fn columns(item: &Schema) -> Vec<(String, &str)> {
    let columns = item.properties().iter().enumerate().map(|(index, Property { name, .. })| {
        let is_identity = index == 0 && name.ends_with("Id");
        let word = if is_identity { "id" } else { name.strip_suffix("At").unwrap_or(name) };
        (name::constant(word).to_string(), name.as_str())
    });
    columns.collect()
}

/// What a call sends beside the token: parameters, and the properties of the body; `None` where one of them is an object.
fn inputs(operation: &Operation, contract: &Contract) -> Option<Vec<Value>> {
    let parameters = operation
        .distinct_parameters()
        .map(|one| (one.pointer.clone(), &one.name, one.required, &one.schema, field::parameter(one), false));
    let properties = operation.body.iter().flat_map(|body| {
        let at = join(&body.schema.pointer, "properties");
        body.schema.properties().iter().map(move |one| {
            let doc = field::property(one, Side::Request);
            (join(&at, &one.name), &one.name, one.required, &one.schema, doc, true)
        })
    });
    let inputs = parameters.chain(properties).map(|(at, name, required, schema, doc, in_body)| {
        let sent = Sent::new(schema, in_body, contract)?;
        let about = doc.first().map_or("", |line| line.trim_end_matches('.'));
        let help = format!("{about}{}", example(schema));
        Some(json!({
            "at": at, "field": name::snake(name).to_string(), "required": required, "doc": doc.join("\n"), "in_body": in_body,
            "type": sent.ty, "argument": sent.argument, "value": sent.value,
            "flag": { "type": sent.flag, "parser": sent.parser, "help": help },
        }))
    });
    inputs.collect()
}

/// The types of a value that is sent.
struct Sent {
    /// As progenitor has it.
    ty: String,
    /// What a setter takes, and the expression of what it sends.
    argument: String,
    value: String,
    /// The type of a flag of the program, and how its value is read.
    flag: String,
    parser: String,
}

impl Sent {
    /// `None` for an object.
    fn new(schema: &Schema, in_body: bool, contract: &Contract) -> Option<Sent> {
        let generated =
            |module: &str| Some(format!("crate::{module}::{}", name::pascal(schema.name.as_deref()?)));
        let is_open = || lower::opened_enums(contract).iter().any(|name| schema.name.as_ref() == Some(name));
        let sent = |ty: &str, argument: &str, value: &str, parser: &str| {
            let [ty, argument, value, parser] = [ty, argument, value, parser].map(str::to_owned);
            let flag =
                ty.replace("crate::", "sallyport_client::").replace("jiff::", "sallyport_client::jiff::");
            Some(Sent { ty, argument, value, flag, parser })
        };
        if let Some(items) = schema.items() {
            let item = Sent::new(items, in_body, contract)?;
            let (ty, argument) =
                (format!("Vec<{}>", item.ty), format!("impl IntoIterator<Item = {}>", item.ty));
            return sent(
                &ty,
                &argument,
                "$.into_iter().collect()",
                &(item.parser + "value_delimiter = ',', "),
            );
        }
        match schema.kind {
            Kind::String if schema.variants.is_some() => {
                let ty = generated(if is_open() { "contract" } else { "generated::types" })?;
                let known = ty.replace("crate::", "sallyport_client::");
                sent(
                    &ty,
                    &ty,
                    "$",
                    &format!("value_parser = crate::parse::one_of::<{known}>({known}::KNOWN), "),
                )
            }
            Kind::String if schema.endpoint_ports().is_some() => {
                sent("crate::Address", "crate::Address", "$", "")
            }
            Kind::String if schema.format == Some(Format::DateTime) => {
                sent("jiff::Timestamp", "jiff::Timestamp", "$", "")
            }
            Kind::String => {
                let text =
                    sent("String", "impl Into<String>", "$.into()", "value_parser = crate::parse::text, ")?;
                // A named text of a body is a type of its own.
                let Some(ty) = generated("generated::types").filter(|_| in_body) else { return Some(text) };
                Some(Sent { value: format!("{ty}::from($.into())"), ty, ..text })
            }
            Kind::Integer => {
                let limit = |keyword, otherwise| schema.limit(keyword).unwrap_or(otherwise);
                let (least, most) = (limit(Limit::Minimum, i64::MIN), limit(Limit::Maximum, i64::MAX));
                let range = format!("clap::value_parser!(i64).range({least}i64..={most}i64)");
                let parser = format!("value_parser = {range}, allow_negative_numbers = true, ");
                sent("i64", "impl TryInto<i64>", "crate::integer::to_i64($)", &parser)
            }
            Kind::Boolean => sent("bool", "bool", "$", "action = clap::ArgAction::Set, "),
            Kind::Array | Kind::Object => None,
        }
    }
}

/// What a search can be narrowed by, and the request that it begins with. A filter that finds null has a type and a setter of its own.
fn narrowed(search: &Operation, contract: &Contract) -> Value {
    let body = search.body.as_ref().map(|body| &body.schema);
    let properties = body.map(Schema::properties).unwrap_or_default();
    let identity = search.page.as_ref().map_or("itemId", |page| &page.identity);
    let items = format!("{}s", name::noun(identity).to_string().replace('_', " "));
    let declared = search.filters.iter().filter(|filter| filter.r#match != Match::Address);
    let filters = declared.filter_map(|declared| {
        let property = properties.iter().find(|property| property.name == declared.name)?;
        let sent = Sent::new(&property.schema, true, contract)?;
        let (flag, condition) = (name::noun(&property.name).to_string(), condition(declared, &property.schema));
        let setter = match property.name.strip_suffix("No") {
            Some(noun) => name::snake(&format!("{noun}-number")).to_string(),
            None => flag.clone(),
        };
        let doc = [format!("Only {items} {condition}."), String::new()].into_iter();
        let doc: Vec<_> = doc.chain(field::property(property, Side::Request)).collect();
        let case = declared.letter_case.as_ref().map_or("", |_| ", which is sent in upper case");
        let is_own = declared.finds_null.is_some();
        let end = if is_own { ", or `none` for those without".to_owned() } else { example(&property.schema) };
        let (ty, parser) = if is_own {
            let parser = format!("value_parser = crate::parse::{flag}, allow_negative_numbers = true, ");
            (format!("sallyport_client::{}Filter", name::pascal(&flag)), parser)
        } else {
            (sent.flag, sent.parser.replace("parse::text", if case.is_empty() { "parse::text" } else { "parse::upper_case" }))
        };
        Some(json!({
            "field": name::snake(&property.name).to_string(), "setter": setter, "doc": doc.join("\n"), "is_own": is_own,
            "argument": sent.argument, "value": sent.value, "option": flag,
            "flag": { "type": ty, "parser": parser, "help": format!("Include only {items} {condition}{case}{end}") },
        }))
    });
    json!({
        "filters": filters.collect::<Vec<_>>(),
        "request": body.and_then(|body| body.name.as_deref()).map(|name| name::pascal(name).to_string()),
        "fields": properties.iter().map(|one| json!({ "name": one.name, "required": one.required })).collect::<Vec<_>>(),
    })
}

/// What holds for the items that a filter finds.
fn condition(filter: &Filter, schema: &Schema) -> String {
    let field = filter.field.as_deref().unwrap_or_default();
    let is_time = schema.format == Some(Format::DateTime);
    let (this, more, less) =
        if is_time { ("this time", "later", "earlier") } else { ("this number", "more", "less") };
    match filter.r#match {
        Match::Contains => format!("whose `{field}` contain this one"),
        Match::AtLeast => format!("whose `{field}` is {this} or {more}"),
        Match::AtMost => format!("whose `{field}` is {this} or {less}"),
        Match::Equal | Match::Address => format!("with this `{}`", filter.name),
    }
}

/// The end of the help of a flag.
fn example(schema: &Schema) -> String {
    match &schema.example {
        Some(Value::String(text)) => format!(", such as {text}"),
        Some(other) => format!(", such as {other}"),
        None => String::new(),
    }
}
