//! Values at a path of a response, in which `*` is every element of a list and `-` the last one.

use serde_json::Value;

/// The values at a path; an empty path is the body itself.
pub(crate) fn places<'b>(body: &'b mut Value, path: &str) -> Vec<&'b mut Value> {
    let Some(path) = path.strip_prefix('/') else { return vec![body] };
    let (name, rest) = path.split_at(path.find('/').unwrap_or(path.len()));
    match body {
        Value::Object(object) => object.get_mut(name).map_or_else(Vec::new, |value| places(value, rest)),
        Value::Array(items) => {
            let length = items.len();
            let chosen = match name {
                "*" => 0..length,
                "-" => length.saturating_sub(1)..length,
                index => index.parse().map_or(0..0, |index: usize| index..index.saturating_add(1)),
            };
            items.get_mut(chosen).into_iter().flatten().flat_map(|item| places(item, rest)).collect()
        }
        _ => Vec::new(),
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
