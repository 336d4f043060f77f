//! Schemas, with every constraint that the document can put on a value.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Map, Value};

use super::{Citation, Kind, Limit};

/// What a value must be. A keyword that is not a field is a problem, so that none is dropped.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Schema {
    /// Pointer of the definition, after following `$ref`.
    #[serde(rename = "$at")]
    pub(crate) pointer: String,
    /// Name under `components/schemas`, when the definition has one.
    #[serde(rename = "$name")]
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(rename = "type")]
    pub(crate) kind: Kind,
    /// Whether JSON `null` is a value as well.
    #[serde(default)]
    pub(crate) nullable: bool,
    /// The value that an absent one means.
    pub(crate) default: Option<Value>,
    /// The only values allowed, when the document lists them.
    #[serde(rename = "enum")]
    pub(crate) variants: Option<Vec<Value>>,
    pub(crate) example: Option<Value>,
    /// The clauses behind the constraints, those of the surrounding part included.
    #[serde(rename = "x-clause", default)]
    pub(crate) citation: Citation,
    pub(crate) format: Option<Format>,
    /// Those of an address (`x-format: ip-endpoint`).
    #[serde(rename = "x-port")]
    ports: Option<Ports>,
    /// What the document says of a value, without what is inside of it.
    #[serde(rename = "$keywords", default)]
    pub(crate) keywords: Map<String, Value>,
    /// The text that a value of an enum stands for. One without comes from the parameter that a `required-when` rule names.
    #[serde(rename = "x-separators")]
    pub(crate) separators: Option<Map<String, Value>>,
    items: Option<Box<Schema>>,
    #[serde(default)]
    properties: Vec<Property>,
    /// Read by the lint, or said of each property.
    #[serde(rename = "x-format")]
    _format: Option<IgnoredAny>,
    #[serde(rename = "additionalProperties")]
    _additional: Option<IgnoredAny>,
    #[serde(rename = "required")]
    _required: Option<IgnoredAny>,
    #[serde(rename = "pattern")]
    _pattern: Option<IgnoredAny>,
}

/// A form of a value that has its own reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Format {
    /// RFC 3339 with a time zone.
    DateTime,
    /// Dotted quad.
    Ipv4,
    Int64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
struct Ports {
    minimum: u16,
    maximum: u16,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
}

impl Schema {
    /// Adds the general clauses of the surrounding part to this schema, its items and properties, where they have none.
    pub(crate) fn inherit(&mut self, outer: &Citation) {
        self.citation = std::mem::take(&mut self.citation).or_any(outer);
        let properties = self.properties.iter_mut().map(|property| &mut property.schema);
        for inner in self.items.as_deref_mut().into_iter().chain(properties) {
            inner.inherit(&self.citation);
        }
    }

    /// The properties of an object, in the document's order; none for any other kind.
    pub(crate) fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// The schema of the items of an array; none for any other kind.
    pub(crate) fn items(&self) -> Option<&Schema> {
        self.items.as_deref()
    }

    /// This schema and every one inside of it, outer ones first.
    pub(crate) fn all(&self) -> Vec<&Schema> {
        let properties = self.properties().iter().map(|property| &property.schema);
        let inner = self.items().into_iter().chain(properties).flat_map(Schema::all);
        std::iter::once(self).chain(inner).collect()
    }

    /// The values of a string enum, as text.
    pub(crate) fn text_variants(&self) -> Option<Vec<&str>> {
        self.variants.as_ref()?.iter().map(Value::as_str).collect()
    }

    /// Lowest and highest port of an address (`x-format: ip-endpoint`): `IPv4`, `IPv6`, `IPv4:port` or `[IPv6]:port`.
    pub(crate) fn endpoint_ports(&self) -> Option<(u16, u16)> {
        self.ports.map(|Ports { minimum, maximum }| (minimum, maximum))
    }

    /// The bounds of a value, of its length or of its number of items, by keyword.
    pub(crate) fn limits(&self) -> impl Iterator<Item = (Limit, &str, i64)> {
        let keywords = self.keywords.iter();
        keywords
            .filter_map(|(keyword, bound)| Some((Limit::named(keyword)?, keyword.as_str(), bound.as_i64()?)))
    }

    /// One of them.
    pub(crate) fn limit(&self, keyword: Limit) -> Option<i64> {
        self.limits().find(|(limit, ..)| *limit == keyword).map(|(.., bound)| bound)
    }
}
