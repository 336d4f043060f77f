//! What a search finds, and how its pages work.

use serde::{Deserialize, Serialize};

/// What a property of a search finds (`x-filter`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "kebab-case"))]
pub(crate) struct Filter {
    /// The property.
    #[serde(rename(deserialize = "$key"))]
    pub(crate) name: String,
    pub(crate) r#match: Match,
    /// The field of an item; none where items do not show it.
    pub(crate) field: Option<String>,
    /// The number that finds items whose field is null.
    pub(crate) finds_null: Option<i64>,
    /// The unspecified behaviour that leaves letter case open.
    pub(crate) letter_case: Option<String>,
}

/// How a value is compared with the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Match {
    Equal,
    Contains,
    AtLeast,
    AtMost,
    /// The value is an address, perhaps with a port.
    Address,
}

/// How the result is divided into pages (`x-page`); the lint reads the rest of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Page {
    /// The field that tells items apart.
    pub(crate) identity: String,
}
