//! Keywords of OpenAPI that a generator drops, panics on or does not enforce.

use super::{Lint, Part, Rule};
use crate::lower::reachable_from_responses;

pub(super) const RULE: Rule = Rule {
    id: "unsupported-keyword",
    rejects: "a keyword of OpenAPI that a generator drops, panics on or does not enforce",
    run,
};

fn run(lint: &mut Lint<'_>) {
    let in_responses = reachable_from_responses(lint.document.root());
    for node in lint.nodes.clone() {
        for (keyword, _) in node.members() {
            let Some((why, instead)) = advice(node.part, keyword) else { continue };
            // Beside our own format it is for other people's tools; the format decides.
            if keyword == "pattern" && node.value.get("x-format").is_some() {
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
pub(super) fn advice(part: Part, keyword: &str) -> Option<(&'static str, &'static str)> {
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
