//! What a schema cannot express, as the rows of `rules.yaml`: references, clauses, names that collide, limits that contradict each other.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use minijinja::{
    Environment, Error, Expression, UndefinedBehavior,
    value::{Rest, Serde, Value, ValueKind},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::Lint;
use crate::{
    document::{Document, join},
    model::{Citation, Contract, Kind, Schema},
    problem::suggestion,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// Id of the rule; several rows may be one rule.
    pub(super) rule: String,
    /// Names, and a list that each of them goes through: `name in list`, or `one, other in list of pairs`.
    r#for: Vec<String>,
    when: String,
    at: String,
    pub(super) message: String,
    help: String,
}

#[expect(clippy::expect_used, reason = "a part of this program, which every test of the lint reads")]
pub(super) static ROWS: LazyLock<Vec<Row>> =
    LazyLock::new(|| serde_saphyr::from_str(include_str!("rules.yaml")).expect("the rules of the lint"));

/// The names that a row has given so far.
type Known = BTreeMap<&'static str, Value>;

/// Reports what breaks a rule. `contract` is the document, where it can be read: other rules report why it cannot.
pub(super) fn run(lint: &mut Lint<'_>, contract: Option<&Contract>) {
    let words = words(lint, contract);
    for row in ROWS.iter() {
        lint.rule = &row.rule;
        if let Err(error) = row.run(&words, lint)
            // A value of another kind than expected is reported already.
            && !lint.is_invalid
        {
            let message = format!("cannot judge {:?}: {error}", row.message);
            lint.report("", message, "correct xtask/src/lint/rules.yaml");
        }
    }
}

impl Row {
    fn run(&'static self, words: &Environment<'_>, lint: &mut Lint<'_>) -> Result<(), Error> {
        let compiled = |list: &'static str| {
            let (names, list) = list.split_once(" in ").unwrap_or_default();
            Ok((names, words.compile_expression(list)?))
        };
        let lists = self.r#for.iter().map(|list| compiled(list)).collect::<Result<Vec<_>, Error>>()?;
        let when = words.compile_expression(&self.when)?;
        each(&lists, &mut Known::new(), &mut |known| {
            if when.eval(known)?.is_true() {
                let at = words.compile_expression(&self.at)?.eval(known)?.to_string();
                let [message, help] = [&self.message, &self.help].map(|text| words.render_str(text, known));
                lint.report(at, message?, help?);
            }
            Ok(())
        })
    }
}

/// Calls a function with the names of each combination of what the lists hold. A combination that cannot be evaluated does not keep
/// the others from it; the first error is returned in the end.
fn each(
    lists: &[(&'static str, Expression<'_, '_>)],
    known: &mut Known,
    found: &mut impl FnMut(&Known) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(((names, list), others)) = lists.split_first() else { return found(known) };
    let mut all = Ok(());
    for value in list.eval(&*known)?.try_iter()? {
        let named = names.split(", ").enumerate().try_for_each(|(index, name)| {
            let is_one = name.len() == names.len();
            known.insert(name, if is_one { value.clone() } else { value.get_item_by_index(index)? });
            Ok(())
        });
        all = all.and(named.and_then(|()| each(others, known, found)));
    }
    all
}

/// What the expressions know, beside the words of MiniJinja. What is absent has no members and no items.
fn words(lint: &Lint<'_>, contract: Option<&Contract>) -> Environment<'static> {
    let document = Arc::new(lint.document.clone());
    let mut words = Environment::new();
    words.set_undefined_behavior(UndefinedBehavior::Chainable);

    // Each mapping that has a keyword, as `at` and `value`; operations with their references followed.
    let found = nodes(&document, "");
    words.add_global("cited", found.iter().flat_map(|(_, node)| cited(node)).collect::<Vec<_>>());
    let operations = found.iter().filter(|(_, node)| node["operationId"].is_string());
    let operations: Vec<_> = operations.map(|(at, node)| operation(&document, at, node)).collect();
    let is_search = |operation: &&Json| {
        let has = |keyword| !operation["value"][keyword].is_null();
        contract.is_some() && (has("x-page") || has("x-filter"))
    };
    words.add_global("searches", value(&operations.iter().filter(is_search).collect::<Vec<_>>()));
    words.add_global("operations", value(&operations));
    let found: Vec<_> = found.into_iter().map(|(at, _)| at).collect();
    let own = Arc::clone(&document);
    words.add_function("nodes", move |keyword: &str| {
        let found = found.iter().filter_map(|at| Some((at, own.get(at)?)));
        let having = found.filter(|(_, node)| node.get(keyword).is_some());
        having.map(|(at, node)| value(&json!({ "at": at, "value": node }))).collect::<Vec<_>>()
    });
    let ids = |list| {
        let items = document.items(list).into_iter();
        value(&items.map(|(at, _)| document.text(&at, "id")).collect::<Vec<_>>())
    };
    words.add_global("clause_ids", ids("/x-clauses"));
    words.add_global("open_ids", ids("/x-unspecified"));
    words.add_global("clauses", value(&document.get("/x-clauses")));
    words.add_global("is_invalid", lint.is_invalid);
    let [requested, answered] = objects(&document, contract);
    words.add_global("requested", value(&requested));
    words.add_global("answered", value(&answered));

    words.add_filter("at", |node: Value, steps: Rest<Value>| {
        let own = if node.as_str().is_some() { node } else { member(&node, "at") };
        steps.iter().fold(own.to_string(), |at, step| join(&at, &step.to_string()))
    });
    let places = Arc::clone(&document);
    words.add_filter("line", move |at: &str| places.place(at).line);
    words.add_test("property", |at: &str| at.rsplit('/').nth(1) == Some("properties"));
    words.add_test("component", |at: &str| {
        at.starts_with("/components/schemas/") && at.matches('/').count() == 3
    });
    words.add_test("success", |status: &str| status.starts_with('2'));
    words.add_test("alike", |one: Value, other: Value| {
        ["type", "format"].iter().all(|keyword| member(&one, keyword) == member(&other, keyword))
    });
    words.add_filter("json", |text: &str| format!("{text:?}"));
    words.add_filter("indexed", |list: Value| {
        let items = list.try_iter().ok().filter(|_| list.kind() == ValueKind::Seq);
        let items = (0_usize..).zip(items.into_iter().flatten());
        items.map(|(index, item)| vec![index.into(), item]).collect::<Vec<_>>()
    });
    words.add_filter("pairs", |map: Value| {
        let names = map.try_iter().ok().filter(|_| map.kind() == ValueKind::Map).into_iter().flatten();
        names.map(|name| vec![name.clone(), map.get_item(&name).unwrap_or_default()]).collect::<Vec<_>>()
    });
    words.add_filter("resolve", move |part: Value| {
        let target =
            member(&part, "$ref").as_str().and_then(|target| document.get(target.strip_prefix('#')?));
        target.map_or(part, |target| value(document.resolve(target)))
    });
    words.add_filter("follow", |schema: Value, path: &str| {
        path.split('.').fold(schema, |schema, name| member(&member(&schema, "properties"), name))
    });
    words.add_filter("parameter", |operation: Value, place: Value, name: Value| {
        let all = member(&member(&operation, "value"), "parameters");
        let is_it = |one: &Value| member(one, "in") == place && member(one, "name") == name;
        all.try_iter().into_iter().flatten().find(is_it).unwrap_or_default()
    });
    words.add_filter("citations", |node: Value| {
        let part = Json::deserialize(member(&node, "value")).unwrap_or_default();
        let Citation { any, by_keyword } = Citation::read(&part);
        value(&by_keyword.into_iter().chain([("any".to_owned(), any)]).collect::<Vec<_>>())
    });
    words.add_filter("suggest", |word: &str, names: Value, otherwise: Option<String>| {
        let names: Vec<_> = names.try_iter().into_iter().flatten().map(|name| name.to_string()).collect();
        let otherwise = otherwise.unwrap_or_else(|| format!("expected one of: {}", names.join(", ")));
        suggestion(word, names.iter().map(String::as_str), &otherwise)
    });
    words
}

fn value(value: &impl Serialize) -> Value {
    Value::from(Serde(value))
}

fn member(value: &Value, name: &str) -> Value {
    value.get_attr(name).unwrap_or_default()
}

/// An operation with its references followed.
fn operation(document: &Document, at: &str, node: &Json) -> Json {
    const SCHEMA: &str = "/content/application~1json/schema";
    let whole = followed(document, node, &mut Vec::new());
    let responses = whole["responses"].as_object().into_iter().flatten();
    let (successes, errors): (Vec<_>, Vec<_>) = responses.partition(|(status, _)| status.starts_with('2'));
    let errors =
        errors.into_iter().filter_map(|(status, error)| Some(json!([status, error.pointer(SCHEMA)?])));
    let answer = successes.first().and_then(|(_, response)| response.pointer(SCHEMA)).unwrap_or(&Json::Null);
    let path = whole["x-page"]["items"].as_str().unwrap_or("data.items");
    let items = path.split('.').fold(answer, |schema, name| &schema["properties"][name]);
    let names = whole["security"].as_array().into_iter().flatten().filter_map(Json::as_object).flatten();
    let schemes = names.filter_map(|(name, _)| document.get(&join("/components/securitySchemes", name)));
    json!({
        "at": at,
        "body": whole["requestBody"].pointer(SCHEMA),
        "answer": answer,
        "fields": items["items"]["properties"].as_object().cloned().unwrap_or_default(),
        "errors": errors.collect::<Vec<_>>(),
        "schemes": schemes.collect::<Vec<_>>(),
        "value": whole,
    })
}

/// A value with the definitions beside its references. `open` are the references around it, which form a circle otherwise.
fn followed<'a>(document: &'a Document, value: &'a Json, open: &mut Vec<&'a str>) -> Json {
    match value {
        Json::Object(members) => {
            let target = members.get("$ref").and_then(Json::as_str).filter(|target| !open.contains(target));
            let definition = target.and_then(|_| document.resolve(value).as_object()).into_iter().flatten();
            open.extend(target);
            let all = members.iter().chain(definition);
            let whole = all.map(|(name, value)| (name.clone(), followed(document, value, open))).collect();
            open.truncate(open.len() - usize::from(target.is_some()));
            whole
        }
        Json::Array(items) => items.iter().map(|item| followed(document, item, open)).collect(),
        _ => value.clone(),
    }
}

/// Every mapping inside of what stands at `at`, itself first, without examples, defaults and citations.
fn nodes<'a>(document: &'a Document, at: &str) -> Vec<(String, &'a Json)> {
    let own = document.get(at).filter(|value| value.is_object()).map(|value| (at.to_owned(), value));
    let around = at.rsplit('/').next().unwrap_or_default();
    let has_names = matches!(around, "headers" | "parameters" | "properties" | "responses" | "x-filter");
    let is_value = |key: &str| !has_names && matches!(key, "default" | "enum" | "example" | "x-clause");
    let members = document.members(at).into_iter().filter(|(key, ..)| !is_value(key)).map(|(_, at, _)| at);
    let inner = members.chain(document.items(at).into_iter().map(|(at, _)| at));
    own.into_iter().chain(inner.flat_map(|at| nodes(document, &at))).collect()
}

/// The clauses that a part names.
fn cited(part: &Json) -> Vec<String> {
    let named = ["x-credentials-agree", "x-aliases-agree", "clause"].map(|keyword| part[keyword].as_str());
    Citation::read(part).all().chain(named.into_iter().flatten()).map(str::to_owned).collect()
}

/// The objects of requests, and those of responses.
fn objects(document: &Document, contract: Option<&Contract>) -> [Vec<Json>; 2] {
    let [mut requested, mut answered] = [Vec::new(), Vec::new()];
    let is_object = |schema: &&Schema| schema.kind == Kind::Object;
    let object = |schema: &Schema, operation: &str| {
        let is_closed = document.get(&join(&schema.pointer, "additionalProperties")).is_some();
        json!({ "at": schema.pointer, "name": schema.name, "operation": operation, "is_closed": is_closed })
    };
    for operation in contract.iter().flat_map(|contract| &contract.operations) {
        let bodies = operation.body.iter().flat_map(|body| body.schema.all());
        requested.extend(bodies.filter(is_object).map(|schema| object(schema, &operation.id)));
        let contents = operation.responses().flat_map(|response| &response.content);
        let schemas = contents.flat_map(|media| media.schema.all());
        answered.extend(schemas.filter(is_object).map(|schema| object(schema, &operation.id)));
    }
    [requested, answered]
}
