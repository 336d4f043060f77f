//! Values at a path of a response, in which `*` is every element of a list and `-` the last one.

use serde_json::Value;

/// Calls `found` with each value at a path; an empty path is the body itself.
pub(crate) fn visit(body: &mut Value, path: &str, found: &mut dyn FnMut(&mut Value)) {
    let Some(path) = path.strip_prefix('/') else { return found(body) };
    let (name, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    match body {
        Value::Object(object) => {
            if let Some(value) = object.get_mut(name) {
                visit(value, rest, found);
            }
        }
        Value::Array(items) => visit_items(items, name, &mut |item| visit(item, rest, found)),
        _ => {}
    }
}

/// Calls `found` with each value, those within another before it.
pub(crate) fn visit_all(value: &mut Value, found: &mut dyn FnMut(&mut Value)) {
    match value {
        Value::Object(object) => object.values_mut().for_each(|value| visit_all(value, found)),
        Value::Array(items) => items.iter_mut().for_each(|value| visit_all(value, found)),
        _ => {}
    }
    found(value);
}

fn visit_items(items: &mut [Value], name: &str, found: &mut dyn FnMut(&mut Value)) {
    match name {
        "*" => items.iter_mut().for_each(found),
        "-" => items.last_mut().into_iter().for_each(found),
        index => {
            let index = index.parse().ok().and_then(|index: usize| items.get_mut(index));
            index.into_iter().for_each(found);
        }
    }
}
