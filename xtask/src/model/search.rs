//! What a search finds, and how its pages work.

use serde::Deserialize;

/// What a property of a search finds (`x-filter`).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Filter {
    /// The property.
    #[serde(rename = "$key")]
    pub(crate) name: String,
    #[serde(rename = "$at")]
    pub(crate) pointer: String,
    pub(crate) r#match: Match,
    /// The field of an item; none where items do not show it.
    pub(crate) field: Option<String>,
    /// The field that the port of an address is compared with.
    pub(crate) port: Option<String>,
    /// The number that finds items whose field is null.
    pub(crate) finds_null: Option<i64>,
    pub(crate) when_null: Option<String>,
    /// The unspecified behaviour that leaves letter case open.
    pub(crate) letter_case: Option<String>,
}

/// How a value is compared with the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Match {
    Equal,
    Contains,
    AtLeast,
    AtMost,
    /// The value is an address, perhaps with a port.
    Address,
}

/// How the result is divided into pages (`x-page`): properties of the body, and paths of the response.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Page {
    #[serde(rename = "$at")]
    pub(crate) pointer: String,
    pub(crate) number: String,
    pub(crate) size: String,
    pub(crate) items: String,
    pub(crate) total: String,
    pub(crate) echo: Echo,
    /// The field that tells items apart.
    pub(crate) identity: String,
}

/// Where a response repeats what was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Echo {
    pub(crate) number: String,
    pub(crate) size: String,
}
