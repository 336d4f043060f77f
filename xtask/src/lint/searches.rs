//! Rules about searches: what `x-filter` and `x-page` name exists, has a type that fits, and says something of every property.

use serde_json::json;

use super::Lint;
use crate::{
    document::join,
    model::{Contract, Filter, Format, Kind, Match, Property, Schema},
    problem::suggestion,
};

/// Each name in `x-page` and `x-filter` is that of a property or a field of a fitting type, and each property of the body has a
/// meaning.
pub(super) fn searches(lint: &mut Lint<'_>) {
    // Other rules report a document that cannot be read as a contract.
    let Ok(contract) = Contract::read(lint.document) else { return };
    let open: Vec<&str> = contract.unspecified.iter().map(|open| open.id.as_str()).collect();
    for operation in &contract.operations {
        let Some(page) = &operation.page else { continue };
        let body = operation.body.as_ref().map(|body| body.schema.properties()).unwrap_or_default();
        let response = |path: &str| {
            path.split('.')
                .try_fold(operation.success.json()?, |schema, name| find(schema.properties(), name))
        };
        let fields =
            response(&page.items).and_then(Schema::items).map(Schema::properties).unwrap_or_default();
        for (keyword, path, kind) in [
            ("items", &page.items, "array"),
            ("total", &page.total, "integer"),
            ("echo/number", &page.echo.number, "integer"),
            ("echo/size", &page.echo.size, "integer"),
        ] {
            if response(path).is_none_or(|schema| json!(schema.kind) != kind) {
                let message = format!("the response has no {kind} `{path}`");
                let help = "write a path of the response, such as `data.total`";
                lint.report(format!("{}/{keyword}", page.pointer), message, help);
            }
        }
        for (keyword, what, name, known) in [
            ("number", "integer property of the body", &page.number, body),
            ("size", "integer property of the body", &page.size, body),
            ("identity", "integer field of an item", &page.identity, fields),
        ] {
            if find(known, name).is_none_or(|schema| schema.kind != Kind::Integer) {
                unknown(lint, join(&page.pointer, keyword), what, name, known);
            }
        }
        for one in &operation.filters {
            match find(body, &one.name) {
                Some(property) => filter(lint, one, property, fields),
                None => unknown(lint, one.pointer.clone(), "property of the body", &one.name, body),
            }
            if let Some(id) = one.letter_case.as_deref().filter(|id| !open.contains(id)) {
                let help = suggestion(id, open.iter().copied(), "name an id of `x-unspecified`");
                lint.report(&one.pointer, format!("unknown unspecified behaviour `{id}`"), help);
            }
        }
        let has_meaning = |name: &str| {
            operation.filters.iter().any(|one| one.name == name)
                || [&page.number, &page.size].iter().any(|one| *one == name)
        };
        for Property { name, .. } in body.iter().filter(|property| !has_meaning(&property.name)) {
            let message = format!("nothing says what `{name}` of the body finds");
            let help = format!(
                "add `{name}: {{ match: equal, field: … }}`, or `{name}: {{ match: equal, hidden: true }}`"
            );
            lint.report(join(&operation.pointer, "x-filter"), message, help);
        }
    }
}

fn find<'a>(properties: &'a [Property], name: &str) -> Option<&'a Schema> {
    properties.iter().find(|property| property.name == name).map(|property| &property.schema)
}

/// A filter of a property, which is compared with one of the fields.
fn filter(lint: &mut Lint<'_>, filter: &Filter, property: &Schema, fields: &[Property]) {
    let Filter { pointer: at, field, port, r#match, .. } = filter;
    for (keyword, name) in [("field", field), ("port", port)] {
        if let Some(name) = name.as_ref().filter(|name| find(fields, name).is_none()) {
            unknown(lint, join(at, keyword), "field of an item", name, fields);
        }
    }
    let Some((name, field)) = field.as_ref().and_then(|name| Some((name, find(fields, name)?))) else {
        return;
    };
    let is_same = |other: &Schema| (property.kind, property.format) == (other.kind, other.format);
    let is_address = |schema: &Schema| schema.endpoint_ports().is_some();
    let is_ordered = field.kind == Kind::Integer || field.format == Some(Format::DateTime);
    let fits = match r#match {
        Match::Equal => property.kind == field.kind,
        Match::Contains => field.items().is_some_and(is_same),
        Match::AtLeast | Match::AtMost => is_ordered && is_same(field),
        Match::Address => is_address(property) || property.items().is_some_and(is_address),
    };
    if !fits {
        let message = format!("the property cannot be compared with `{name}` in this way");
        lint.report(join(at, "match"), message, "name a field of the same type, or another `match`");
    }
    for (keyword, is_there, schema, what) in [
        ("finds-null", filter.finds_null.is_some(), field, "the field is never null"),
        ("when-null", filter.when_null.is_some(), property, "the property is never null"),
    ] {
        if is_there && !schema.nullable {
            lint.report(join(at, keyword), format!("`{keyword}` has no effect: {what}"), "remove it");
        }
    }
    if property.nullable && filter.when_null.is_none() {
        lint.report(at, "nothing says what null finds", "add `when-null: all`, or remove `nullable`");
    }
}

fn unknown(lint: &mut Lint<'_>, at: String, what: &str, name: &str, known: &[Property]) {
    let names: Vec<&str> = known.iter().map(|property| property.name.as_str()).collect();
    let help = suggestion(name, names.iter().copied(), &format!("expected one of: {}", names.join(", ")));
    lint.report(at, format!("unknown {what} `{name}`"), help);
}
