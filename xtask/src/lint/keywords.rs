//! Rules about keywords: missing, unknown and unsupported ones, and types of their values.

use serde_json::Value;

use super::{Lint, Part, grammar::Shape};
use crate::lower::reachable_from_responses;

pub(super) fn missing(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if !node.value.is_object() || node.has("$ref") {
            continue;
        }
        let unobservable = node.value.get("observable") == Some(&Value::Bool(false));
        let reason = unobservable.then_some(&"reason");
        for keyword in node.part.needed().iter().chain(reason).filter(|keyword| !node.has(keyword)) {
            let message = format!("missing `{keyword}`");
            lint.report(&node, node.pointer.clone(), message, format!("add `{keyword}: …`"));
        }
    }
}

pub(super) fn openapi_version(lint: &mut Lint<'_>) {
    for node in lint.parts(Part::Document) {
        let Some(version) = node.text("openapi") else { continue };
        if version.strip_prefix("3.0.").is_some_and(|patch| patch.parse::<u8>().is_ok()) {
            continue;
        }
        let help = "write `openapi: 3.0.3`; in place of keywords of 3.1, write `nullable: true` instead of a type `null`, \
                    `enum` with one value instead of `const`, and `example` instead of `examples`";
        let message = format!("unsupported version of OpenAPI `{version}`: the generators read OpenAPI 3.0");
        lint.report(&node, node.at("openapi"), message, help);
    }
}

/// Keywords that every generator would ignore, such as misspelt ones.
pub(super) fn unknown(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if node.has("$ref") {
            continue;
        }
        let known = node.part.keywords();
        for (keyword, _) in node.members() {
            let is_unsupported = advice(node.part, keyword).is_some();
            if is_unsupported || known.iter().any(|(name, _)| *name == keyword) {
                continue;
            }
            let kind = if keyword.starts_with("x-") { "extension" } else { "keyword" };
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            let expected = format!("remove it; expected one of: {}", names.join(", "));
            let help = suggestion(keyword, names.into_iter(), &expected);
            lint.report(&node, node.at(keyword), format!("unknown {kind} `{keyword}`"), help);
        }
    }
}

/// What to do about an unknown word: the name that is meant, or `otherwise` where none is similar.
pub(super) fn suggestion<'n>(word: &str, names: impl Iterator<Item = &'n str>, otherwise: &str) -> String {
    nearest(word, names).map_or_else(|| otherwise.to_owned(), |name| format!("did you mean `{name}`?"))
}

/// The most similar name; `None` when more than a third of it differs.
fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let lower = word.to_lowercase();
    names
        .map(|name| (strsim::levenshtein(&lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance * 3 <= name.len().max(3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Keywords of OpenAPI that a generator drops, panics on or does not enforce.
pub(super) fn unsupported(lint: &mut Lint<'_>) {
    let in_responses = reachable_from_responses(lint.document.root());
    for node in lint.nodes.clone() {
        for (keyword, _) in node.members() {
            let Some((why, instead)) = advice(node.part, keyword) else { continue };
            // Beside our own format it is for other people's tools; the format decides.
            if keyword == "pattern" && node.has("x-format") {
                continue;
            }
            // The server rejects unknown fields anyway; the keyword says so to other people's tools.
            let name = node.pointer.strip_prefix("/components/schemas/").filter(|name| !name.contains('/'));
            if keyword == "additionalProperties"
                && node.value[keyword] == false
                && name.is_some_and(|name| !in_responses.contains(name))
            {
                continue;
            }
            lint.report(&node, node.at(keyword), format!("`{keyword}` is not supported: {why}"), instead);
        }
    }
}

/// Why a keyword is rejected, and what to write instead.
fn advice(part: Part, keyword: &str) -> Option<(&'static str, &'static str)> {
    const UNENFORCED: &str = "it is not enforced by the server generator";
    const DOCUMENTARY: &str = "no generator uses it";
    Some(match (part, keyword) {
        (Part::Schema, "const") => ("the server's document would lose it", "write `enum` with one value"),
        (Part::Schema, "oneOf" | "anyOf" | "allOf" | "not") => (
            "generators disagree on composed schemas, and some panic",
            "write one schema, with `nullable` for null",
        ),
        (Part::Schema, "discriminator") => ("the server's document would lose it", "write one object schema"),
        (Part::Schema, "exclusiveMinimum" | "exclusiveMaximum") => {
            (UNENFORCED, "express it as `minimum` or `maximum` with the next whole number")
        }
        (Part::Schema, "multipleOf") => {
            (UNENFORCED, "express it as an `enum`, or add it to the generators first")
        }
        (Part::Schema, "pattern") => (
            UNENFORCED,
            "express it as an `enum`, a `format`, or an `x-format`, beside which it may stand for other tools",
        ),
        (Part::Schema, "uniqueItems") => {
            (UNENFORCED, "express it as `x-max-distinct`, or leave duplicates allowed")
        }
        (Part::Schema, "minProperties" | "maxProperties") => {
            (UNENFORCED, "express it as `required` properties")
        }
        (Part::Schema, "additionalProperties" | "patternProperties") => (
            UNENFORCED,
            "name every property; unknown ones are rejected in requests, whose schema may say `additionalProperties: false`, and allowed \
             in responses",
        ),
        (Part::Schema, "readOnly" | "writeOnly") => {
            (UNENFORCED, "write one schema for requests and one for responses")
        }
        (Part::Schema, "title" | "externalDocs" | "xml") => (DOCUMENTARY, "write it in `description`"),
        (Part::PathItem, "options" | "head" | "trace") => {
            ("the generators do not support this method", "use get, put, post, delete or patch")
        }
        (Part::PathItem, "parameters") => (DOCUMENTARY, "write the parameters in each operation"),
        (Part::PathItem, "$ref" | "summary" | "description" | "servers") => {
            (DOCUMENTARY, "write it in the operation")
        }
        (Part::Operation, "callbacks" | "servers") => (DOCUMENTARY, "remove it"),
        (Part::Operation, "externalDocs") => (DOCUMENTARY, "write it in `description`"),
        (
            Part::Parameter | Part::Header,
            "style" | "explode" | "allowReserved" | "allowEmptyValue" | "content",
        ) => (
            UNENFORCED,
            "remove it: an array in a query is sent as one pair per item, all else as plain text",
        ),
        (Part::Header, "deprecated") => (DOCUMENTARY, "write it in `description`"),
        (Part::Parameter | Part::Header | Part::Media, "examples") => (DOCUMENTARY, "write one `example`"),
        (Part::Media, "encoding") => (DOCUMENTARY, "remove it"),
        (Part::Response, "links") => (DOCUMENTARY, "remove it"),
        (Part::Document, "security") => (UNENFORCED, "write `security` in each operation"),
        (Part::Document | Part::Tag, "externalDocs") => (DOCUMENTARY, "write it in `description`"),
        (Part::Components, "links" | "callbacks" | "examples") => (DOCUMENTARY, "remove it"),
        (Part::SecurityScheme, "bearerFormat" | "flows" | "openIdConnectUrl") => {
            (UNENFORCED, "use an apiKey in query or header, or http bearer")
        }
        _ => return None,
    })
}

/// Values of another type, such as `required: "true"`.
pub(super) fn values(lint: &mut Lint<'_>) {
    for node in lint.nodes.clone() {
        if !node.value.is_object() {
            let help = "write keywords and their values";
            lint.report(&node, node.pointer.clone(), "expected a mapping here", help);
            continue;
        }
        for (keyword, shape) in node.part.keywords() {
            let Some(value) = node.value.get(*keyword) else { continue };
            let Some(expected) = expected(*shape, value) else { continue };
            let message = format!("`{keyword}`: expected {expected}, found `{value}`");
            lint.report(&node, node.at(keyword), message, format!("write {expected}"));
        }
    }
}

/// What the shape expects; `None` when `value` matches it.
fn expected(shape: Shape, value: &Value) -> Option<&'static str> {
    let (fits, expected) = match shape {
        Shape::Text => (value.is_string(), "a string, quoted where YAML needs it"),
        Shape::Flag => (value.is_boolean(), "true or false, without quotes"),
        Shape::Number => (value.is_number(), "a number, without quotes"),
        Shape::Count => (value.is_u64(), "a non-negative integer, without quotes"),
        Shape::Texts => {
            (value.as_array().is_some_and(|list| list.iter().all(Value::is_string)), "a list of strings")
        }
        Shape::TextMap => (
            value.as_object().is_some_and(|map| map.values().all(Value::is_string)),
            "a mapping from string to string",
        ),
        Shape::One(_) | Shape::Map(_) => (value.is_object(), "a mapping"),
        Shape::List(_) => (value.is_array(), "a list"),
        Shape::Any => (true, ""),
    };
    (!fits).then_some(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_similar_name_is_suggested() {
        assert_eq!(nearest("minimun", ["minimum", "maximum"].into_iter()), Some("minimum"));
        assert_eq!(nearest("xyz", ["minimum", "type"].into_iter()), None);
    }
}
