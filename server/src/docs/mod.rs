//! The contract as one HTML page: the document of `sallyport-contract`, and the error codes of this server. The page needs no other
//! file, no script and no network.

mod curl;
#[cfg(test)]
mod tests;
mod words;

use std::{
    collections::BTreeSet,
    sync::{Arc, LazyLock},
};

use minijinja::{Environment, HtmlEscape, Value as Shown, context, syntax::SyntaxConfig, value::Serde};
use serde::Serialize;
use serde_json::{Value, json};

use crate::edge::responding::error_code::ErrorCode;

/// Lets the page load and run nothing; only a header can keep it out of frames.
pub(crate) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; \
                                 form-action 'none'; frame-ancestors 'none'";

/// The OpenAPI document of the contract, with its clauses.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
        let file = serde_json::from_str::<Value>(sallyport_contract::JSON);
        file.map(|mut file| file["document"].take()).unwrap_or_default()
    });
    &DOCUMENT
}

/// The page, with examples that call the server that the document names.
pub(crate) fn page() -> &'static str {
    #[expect(clippy::expect_used, reason = "a test renders the page of the same document")]
    static PAGE: LazyLock<String> = LazyLock::new(|| render(document()).expect("a page of the document"));
    &PAGE
}

/// The page with examples that call `base_url`.
pub(crate) fn page_at(base_url: &str) -> String {
    page().replace(&escaped(&named_base_url(document())), &escaped(base_url))
}

/// Text between tags or in an attribute.
fn escaped(text: &str) -> String {
    HtmlEscape(text).to_string()
}

fn render(document: &Value) -> Result<String, minijinja::Error> {
    let root = Arc::new(document.clone());
    let mut page = Environment::new();
    page.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    page.add_filter("prose", |text: &str| Shown::from_safe_string(words::paragraphs(text)));
    page.add_filter("line", |text: &str| Shown::from_safe_string(words::line(text)));
    page.add_filter("shown", |value: Shown| words::value(&json_of(&value)));
    page.add_filter("pretty", |value: Shown| match json_of(&value) {
        Value::String(text) => text,
        other => format!("{other:#}"),
    });
    let add = |page: &mut Environment<'_>, name: &'static str, read: fn(&Value, &Value) -> Value| {
        let root = Arc::clone(&root);
        page.add_filter(name, move |value: Shown| shown(read(&root, &json_of(&value))));
    };
    add(&mut page, "resolve", |root, value| resolved(root, value).clone());
    add(&mut page, "kind", kind);
    add(&mut page, "curl", |root, operation| curl::command(root, &named_base_url(root), operation).into());
    page.add_function("cites", |own: Shown, around: Shown| shown(cites(&json_of(&own), &json_of(&around))));
    page.add_function("rules_of", |operation: Shown, name: &str| {
        let rules = json_of(&operation)["x-rules"].as_array().cloned().unwrap_or_default();
        let binds = |rule: &&Value| rule["parameter"] == name || rule["property"] == name;
        shown(rules.iter().filter(binds).collect::<Vec<_>>())
    });
    page.add_filter("json", |value: Shown| json_of(&value).to_string());
    // The name ends in .html, so everything that is put in is escaped.
    page.add_template("page.html", include_str!("page.html"))?;
    page.get_template("page.html")?.render(context! {
        document => shown(document),
        operations => shown(operations(document)),
        clauses => shown(clauses(document)),
        errors => shown(errors()),
        style => Shown::from_safe_string(include_str!("style.css").to_owned()),
    })
}

fn shown(value: impl Serialize) -> Shown {
    Shown::from(Serde(value))
}

fn json_of(value: &Shown) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// The definition behind a `$ref`, or the value itself.
fn resolved<'a>(root: &'a Value, value: &'a Value) -> &'a Value {
    let target = value["$ref"].as_str().and_then(|target| root.pointer(target.strip_prefix('#')?));
    target.unwrap_or(value)
}

/// The first server's URL with the defaults of its variables.
fn named_base_url(root: &Value) -> String {
    let server = &root["servers"][0];
    let variables = server["variables"].as_object().into_iter().flatten();
    variables.fold(server["url"].as_str().unwrap_or_default().to_owned(), |url, (name, variable)| {
        url.replace(&format!("{{{name}}}"), variable["default"].as_str().unwrap_or_default())
    })
}

/// Every operation, with its path and method.
fn operations(root: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for (path, methods) in root["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            let mut operation = operation.clone();
            operation["path"] = json!(path);
            operation["method"] = json!(method.to_uppercase());
            found.push(operation);
        }
    }
    found
}

/// Every clause, with its group, which is the first word of its id.
fn clauses(root: &Value) -> Vec<Value> {
    let clauses = root["x-clauses"].as_array().into_iter().flatten();
    clauses
        .map(|clause| {
            let mut clause = clause.clone();
            clause["group"] = json!(clause["id"].as_str().unwrap_or_default().split('.').next());
            clause
        })
        .collect()
}

/// The clauses of an `x-clause`: one id, a list, or a map from keyword to either, whose general ones (`any`) come first. Where it has
/// no general ones, those of the part `around` it hold.
fn cites(own: &Value, around: &Value) -> Vec<String> {
    fn ids(cited: &Value) -> Vec<String> {
        let listed = cited.as_array().map_or(std::slice::from_ref(cited), Vec::as_slice);
        listed.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect()
    }
    let general = |cited: &Value| ids(cited.get("any").unwrap_or(cited));
    let mut found = general(own);
    if found.is_empty() {
        found = general(around);
    }
    let by_keyword = own.as_object().into_iter().flatten().filter(|(keyword, _)| *keyword != "any");
    found.extend(by_keyword.flat_map(|(_, cited)| ids(cited)));
    let mut seen = BTreeSet::new();
    found.retain(|id| seen.insert(id.clone()));
    found
}

/// The type of a value: `around` it once `array of ` for each array, then a named schema or a word.
fn kind(root: &Value, value: &Value) -> Value {
    let (mut around, mut inner) = (String::new(), value);
    while inner["$ref"].is_null() && inner["type"] == "array" {
        around.push_str("array of ");
        inner = &inner["items"];
    }
    let name = inner["$ref"].as_str().and_then(|target| target.rsplit('/').next());
    json!({
        "around": around,
        "schema": name,
        "word": resolved(root, inner)["type"],
        "nullable": resolved(root, value)["nullable"] == true,
    })
}

fn errors() -> Vec<Value> {
    let row = |code: &ErrorCode| json!({ "number": code.number(), "status": code.status().to_string(), "when": code.description() });
    ErrorCode::ALL.iter().map(row).collect()
}
