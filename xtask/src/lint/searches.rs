//! Rules about searches: what `x-filter` and `x-page` name exists, has a type that fits, and says something of every property.

use serde_json::{Map, Value};

use super::{Lint, Node, Part, subset::suggestion};
use crate::document::{Document, join};

/// Each name in `x-page` and `x-filter` is that of a property or a field of a fitting type, and each property of the body has a
/// meaning.
pub(super) fn searches(lint: &mut Lint<'_>) {
    let open: Vec<&str> = lint.parts(Part::Unspecified).iter().filter_map(|node| node.text("id")).collect();
    for operation in lint.parts(Part::Operation).into_iter().filter(|operation| operation.has("x-page")) {
        let search = Search::read(lint.document, &operation);
        search.page(lint, &operation);
        for (name, filter) in operation.entries("x-filter") {
            let at = join(&operation.at("x-filter"), name);
            match search.properties.get(name) {
                Some(property) => search.filter(lint, &at, property, filter),
                None => unknown(lint, at.clone(), "property of the body", name, &search.properties),
            }
            if let Some(id) = filter["letter-case"].as_str().filter(|id| !open.contains(id)) {
                let help = suggestion(id, open.iter().copied(), "name an id of `x-unspecified`");
                lint.report(at, format!("unknown unspecified behaviour `{id}`"), help);
            }
        }
        let (page, filters) = (&operation.value["x-page"], &operation.value["x-filter"]);
        let has_meaning =
            |name: &str| filters.get(name).is_some() || page["number"] == name || page["size"] == name;
        for (name, _) in search.properties.iter().filter(|(name, _)| !has_meaning(name)) {
            let message = format!("nothing says what `{name}` of the body finds");
            let help = format!(
                "add `{name}: {{ match: equal, field: … }}`, or `{name}: {{ match: equal, hidden: true }}`"
            );
            lint.report(operation.at("x-filter"), message, help);
        }
    }
}

/// The schemas that a search names parts of.
struct Search<'a> {
    document: &'a Document,
    properties: Map<String, Value>,
    /// Of an item of the result.
    fields: Map<String, Value>,
    /// Of the response.
    body: Value,
}

impl<'a> Search<'a> {
    fn read(document: &'a Document, operation: &Node<'_>) -> Self {
        const JSON: &str = "/content/application~1json/schema";
        let resolved =
            |value: Option<&Value>| value.map(|value| document.resolve(value)).cloned().unwrap_or_default();
        let properties = |schema: &Value| {
            let properties = schema["properties"].as_object().into_iter().flatten();
            properties.map(|(name, schema)| (name.clone(), document.resolve(schema).clone())).collect()
        };
        let request = resolved(operation.value.get("requestBody"));
        let response = resolved(operation.value.pointer("/responses/200"));
        let mut search = Self {
            document,
            properties: properties(&resolved(request.pointer(JSON))),
            fields: Map::new(),
            body: resolved(response.pointer(JSON)),
        };
        let items = search.at(operation.value["x-page"]["items"].as_str().unwrap_or_default());
        search.fields = properties(&resolved(items.as_ref().and_then(|items| items.get("items"))));
        search
    }

    /// The schema of a value of the response, such as `data.total`.
    fn at(&self, path: &str) -> Option<Value> {
        path.split('.').try_fold(self.body.clone(), |schema, name| {
            Some(self.document.resolve(schema.get("properties")?.get(name)?).clone())
        })
    }

    fn page(&self, lint: &mut Lint<'_>, operation: &Node<'_>) {
        let (at, page) = (operation.at("x-page"), &operation.value["x-page"]);
        let text = |pointer: &str| page.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        for (pointer, kind) in [
            ("/items", "array"),
            ("/total", "integer"),
            ("/echo/number", "integer"),
            ("/echo/size", "integer"),
        ] {
            if self.at(text(pointer)).is_none_or(|schema| schema["type"] != kind) {
                let message = format!("the response has no {kind} `{}`", text(pointer));
                lint.report(
                    format!("{at}{pointer}"),
                    message,
                    "write a path of the response, such as `data.total`",
                );
            }
        }
        for (pointer, what, known) in [
            ("/number", "property of the body", &self.properties),
            ("/size", "property of the body", &self.properties),
            ("/identity", "field of an item", &self.fields),
        ] {
            if known.get(text(pointer)).is_none_or(|schema| schema["type"] != "integer") {
                unknown(lint, format!("{at}{pointer}"), &format!("integer {what}"), text(pointer), known);
            }
        }
    }

    fn filter(&self, lint: &mut Lint<'_>, at: &str, property: &Value, filter: &Value) {
        for keyword in ["field", "port"] {
            if let Some(name) = filter[keyword].as_str().filter(|name| !self.fields.contains_key(*name)) {
                unknown(lint, join(at, keyword), "field of an item", name, &self.fields);
            }
        }
        let name = filter["field"].as_str().unwrap_or_default();
        let Some(field) = self.fields.get(name) else { return };
        let inner = |schema: &Value| self.document.resolve(&schema["items"]).clone();
        let is_same =
            |one: &Value, other: &Value| one["type"] == other["type"] && one["format"] == other["format"];
        let is_address = |schema: &Value| schema["x-format"] == "ip-endpoint";
        let is_ordered = field["type"] == "integer" || field["format"] == "date-time";
        let fits = match filter["match"].as_str() {
            Some("equal") => property["type"] == field["type"],
            Some("contains") => field["type"] == "array" && is_same(property, &inner(field)),
            Some("at-least" | "at-most") => is_ordered && is_same(property, field),
            Some("address") => is_address(property) || is_address(&inner(property)),
            _ => true,
        };
        if !fits {
            let message = format!("the property cannot be compared with `{name}` in this way");
            lint.report(join(at, "match"), message, "name a field of the same type, or another `match`");
        }
        for (keyword, schema, what) in [
            ("finds-null", field, "the field is never null"),
            ("when-null", property, "the property is never null"),
        ] {
            if filter.get(keyword).is_some() && schema["nullable"] != true {
                lint.report(join(at, keyword), format!("`{keyword}` has no effect: {what}"), "remove it");
            }
        }
        if property["nullable"] == true && filter.get("when-null").is_none() {
            lint.report(at, "nothing says what null finds", "add `when-null: all`, or remove `nullable`");
        }
    }
}

fn unknown(lint: &mut Lint<'_>, at: String, what: &str, name: &str, known: &Map<String, Value>) {
    let names: Vec<&str> = known.keys().map(String::as_str).collect();
    let help = suggestion(name, names.iter().copied(), &format!("expected one of: {}", names.join(", ")));
    lint.report(at, format!("unknown {what} `{name}`"), help);
}
