//! Schemas, with every constraint that the document can put on a value.

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value};

use super::{Citation, Kind, field::Doc};

/// What a value must be. A keyword that is not a field is a problem, so that none is dropped.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all(deserialize = "camelCase"), deny_unknown_fields)]
pub(crate) struct Schema {
    /// Pointer of the definition, after following `$ref`.
    #[serde(rename(deserialize = "$at"))]
    pub(crate) pointer: String,
    /// Name under `components/schemas`, when the definition has one.
    #[serde(rename(deserialize = "$name"))]
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(rename(deserialize = "type"))]
    pub(crate) kind: Kind,
    /// Whether JSON `null` is a value as well.
    #[serde(default)]
    pub(crate) nullable: bool,
    /// The value that an absent one means.
    pub(crate) default: Option<Value>,
    /// The only values allowed, when the document lists them.
    #[serde(rename(deserialize = "enum"))]
    pub(crate) variants: Option<Vec<Value>>,
    pub(crate) example: Option<Value>,
    /// The clauses behind the constraints, those of the surrounding part included.
    #[serde(rename(deserialize = "x-clause"), default)]
    pub(crate) citation: Citation,
    pub(crate) format: Option<Format>,
    /// Those of an address (`x-format: ip-endpoint`): `IPv4`, `IPv6`, `IPv4:port` or `[IPv6]:port`.
    #[serde(rename(deserialize = "x-port"))]
    pub(crate) ports: Option<Ports>,
    /// What the document says of a value, without what is inside of it.
    #[serde(rename(deserialize = "$keywords"), default)]
    pub(crate) keywords: Map<String, Value>,
    /// The text that a value of an enum stands for. One without comes from the parameter that a `required-when` rule names.
    #[serde(rename(deserialize = "x-separators"))]
    pub(crate) separators: Option<Map<String, Value>>,
    pub(crate) items: Option<Box<Schema>>,
    /// In the document's order.
    #[serde(default)]
    pub(crate) properties: Vec<Property>,
    /// Read by the lint, or said of each property.
    #[serde(rename = "x-format", skip_serializing)]
    _format: Option<IgnoredAny>,
    #[serde(rename = "additionalProperties", skip_serializing)]
    _additional: Option<IgnoredAny>,
    #[serde(rename = "required", skip_serializing)]
    _required: Option<IgnoredAny>,
    #[serde(rename = "pattern", skip_serializing)]
    _pattern: Option<IgnoredAny>,
}

/// A form of a value that has its own reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Format {
    /// RFC 3339 with a time zone.
    DateTime,
    /// Dotted quad.
    Ipv4,
    Int64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct Ports {
    minimum: u16,
    maximum: u16,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
    #[serde(skip_deserializing)]
    pub(crate) doc: Doc,
}

impl Schema {
    /// Adds the general clauses of the surrounding part to this schema, its items and properties, where they have none, and documents the
    /// properties by them.
    pub(crate) fn inherit(&mut self, outer: &Citation) {
        self.citation = std::mem::take(&mut self.citation).or_any(outer);
        if let Some(items) = &mut self.items {
            items.inherit(&self.citation);
        }
        for property in &mut self.properties {
            property.schema.inherit(&self.citation);
            property.doc = Doc::of_property(property);
        }
    }

    /// This schema and every one inside of it, outer ones first.
    pub(crate) fn all(&self) -> Vec<&Schema> {
        let properties = self.properties.iter().map(|property| &property.schema);
        let inner = self.items.as_deref().into_iter().chain(properties).flat_map(Schema::all);
        std::iter::once(self).chain(inner).collect()
    }

    /// The values of a string enum, as text.
    pub(crate) fn text_variants(&self) -> Option<Vec<&str>> {
        self.variants.as_ref()?.iter().map(Value::as_str).collect()
    }
}
