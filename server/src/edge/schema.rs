//! Uses fragments of the document as schemas, so that Dropshot emits the same schemas.

use dropshot::{ExtensionMode, ExtractorMetadata};
use schemars::schema::Schema;

/// Parses a fragment of the document.
#[must_use]
#[expect(clippy::expect_used, reason = "the generator has parsed every fragment as this type")]
pub fn fragment(json: &str) -> Schema {
    serde_json::from_str(json).expect("a fragment that the generator has parsed")
}

/// Joins the parameters of several extractors.
#[must_use]
pub fn joined(parts: impl IntoIterator<Item = ExtractorMetadata>) -> ExtractorMetadata {
    let parameters = parts.into_iter().flat_map(|part| part.parameters).collect();
    ExtractorMetadata { extension_mode: ExtensionMode::None, parameters }
}

/// Implements `JsonSchema` with a fragment of the document: its name, its JSON, and the types that it refers to.
#[doc(hidden)]
#[macro_export]
macro_rules! described {
    ($type:ty, $name:literal, $json:literal, [$($referred:ty),* $(,)?]) => {
        impl ::schemars::JsonSchema for $type {
            fn schema_name() -> String {
                $name.to_owned()
            }

            fn json_schema(generator: &mut ::schemars::r#gen::SchemaGenerator) -> ::schemars::schema::Schema {
                let _ = &generator;
                $(let _ = generator.subschema_for::<$referred>();)*
                $crate::edge::schema::fragment($json)
            }
        }
    };
}
pub use described;
