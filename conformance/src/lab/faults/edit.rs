//! Small changes of responses, for the tables of faults. In a path, `*` is every element of a list and
//! `-` the last one.

use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;

use super::row::{OnBody, OnReply};

/// Sets the value at a path whose parent exists.
pub(crate) fn set(path: &'static str, value: impl Into<Value>) -> impl OnBody {
    let value = value.into();
    move |_, body| put_at(body, path, &value)
}

/// Changes the value at a path.
pub(crate) fn change(path: &'static str, how: impl Fn(&mut Value) + Send + Sync) -> impl OnBody {
    move |_, body| visit(body, path, &mut |value| how(value))
}

/// Sets the value at a path whose parent exists.
pub(crate) fn put_at(body: &mut Value, path: &str, value: &Value) {
    let (parent, name) = path.rsplit_once('/').unwrap_or_default();
    visit(body, parent, &mut |found| match found {
        Value::Object(object) => {
            object.insert(name.to_owned(), value.clone());
        }
        Value::Array(items) => visit_items(items, name, &mut |item| *item = value.clone()),
        _ => {}
    });
}

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

/// Removes a header of the response.
pub(crate) fn without_header(name: &'static str) -> impl OnReply {
    move |_, reply| {
        reply.headers.remove(name);
    }
}

/// Sets a header of the response.
pub(crate) fn with_header(name: &'static str, value: &'static str) -> impl OnReply {
    move |_, reply| {
        reply.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

/// Changes the JSON body of the response.
pub(crate) fn body(change: impl OnBody) -> impl OnReply {
    move |call, reply| reply.edit(|body| change(call, body))
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
