//! Edits the contract into a document that progenitor can generate from.
//!
//! progenitor drops parts of the contract, generates others incorrectly or panics on them. Each edit works around one such
//! problem, gives the reason in its doc comment, and has a test. What an edit removes is done by the client when it sends, or by
//! the validation of `emit/client`.

mod request;
mod response;
mod schema;
mod walk;

use serde_json::Value;

use crate::document::Document;

pub(crate) use response::{builder_ids, opened_enums};
pub(crate) use schema::{endpoint_schemas, reachable_from_responses};

/// The edits in order; the earlier ones read what the later ones remove.
const EDITS: [fn(&mut Value); 13] = [
    response::merge_rejections,
    response::keep_only_success,
    response::split_text,
    response::open_enums,
    response::open_formats,
    response::relax_envelopes,
    request::drop_credentials,
    request::drop_aliases,
    request::drop_fallback_headers,
    request::inline_strings,
    schema::inline_integers,
    schema::drop_bounds_and_defaults,
    schema::strip_extensions,
];

/// The document for progenitor.
pub(crate) fn lower(document: &Document) -> Value {
    let mut root = document.root().clone();
    for edit in EDITS {
        edit(&mut root);
    }
    root
}
