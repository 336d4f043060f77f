//! The document's own fragments as schemas, so that Dropshot emits what the document says.

use dropshot::{ExtensionMode, ExtractorMetadata};
use schemars::schema::Schema;

/// Reads a fragment of the document.
#[must_use]
#[expect(clippy::expect_used, reason = "the generator reads every fragment as this type before it writes it")]
pub fn fragment(json: &str) -> Schema {
    serde_json::from_str(json).expect("a fragment that the generator has read before")
}

/// The parameters of several extractors as those of one.
#[must_use]
pub fn joined(parts: impl IntoIterator<Item = ExtractorMetadata>) -> ExtractorMetadata {
    let parameters = parts.into_iter().flat_map(|part| part.parameters).collect();
    ExtractorMetadata { extension_mode: ExtensionMode::None, parameters }
}

/// Gives a type the schema that the document has for it: its name, its text, and the types that the text refers to.
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
