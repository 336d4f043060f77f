//! The edits between the contract and what progenitor is given.
//!
//! The contract stays faithful to the service; progenitor drops, half-keeps or panics on parts of it. Each edit below
//! mends one such thing, says why in its first sentence, and has its test beside it. What an edit takes away is either
//! done by the client's hooks or enforced by the checks of `emit/client`.

mod answer;
mod request;
mod schema;
mod walk;

use serde_json::Value;

use crate::document::Document;

pub(crate) use answer::{opened_enums, text_operation_id};
pub(crate) use schema::{endpoint_schemas, reachable_from_answers};

/// In the order in which they run: the earlier ones read what the later ones take away.
const EDITS: [fn(&mut Value); 12] = [
    answer::merge_rejections,
    answer::keep_only_success,
    answer::split_text,
    answer::open_constants,
    answer::open_inline_enums,
    answer::open_formats,
    request::drop_credentials,
    request::drop_aliases,
    request::drop_fallback_headers,
    request::inline_strings,
    schema::drop_bounds_and_defaults,
    schema::strip_extensions,
];

/// The document as progenitor is to see it.
pub(crate) fn lower(document: &Document) -> Value {
    let mut root = document.root().clone();
    for edit in EDITS {
        edit(&mut root);
    }
    root
}
