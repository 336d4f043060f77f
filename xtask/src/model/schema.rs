//! Schemas, with every constraint that the document can put on a value.

use serde_json::Value;

use super::Citation;

/// What a value must be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Schema {
    /// Pointer of the definition, after following `$ref`.
    pub(crate) pointer: String,
    /// Name under `components/schemas`, when the definition has one.
    pub(crate) name: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) kind: Kind,
    /// Whether JSON `null` is a value as well.
    pub(crate) nullable: bool,
    /// The value that an absent one means.
    pub(crate) default: Option<Value>,
    /// The only values allowed, when the document lists them.
    pub(crate) variants: Option<Vec<Value>>,
    pub(crate) example: Option<Value>,
    /// The clauses behind the constraints, those of the surrounding part included.
    pub(crate) citation: Citation,
}

/// The type of a value, with the constraints that only that type has.
#[derive(Clone, Debug, PartialEq, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub(crate) enum Kind {
    String {
        format: Option<Format>,
        /// Characters.
        min_length: Option<u64>,
        /// Characters.
        max_length: Option<u64>,
        /// Bytes of UTF-8 (`x-max-utf8-bytes`).
        max_utf8_bytes: Option<u64>,
        /// What each value of an enum stands for (`x-separators`), in the order of the enum.
        separators: Option<Vec<Separator>>,
    },
    Integer {
        /// Whether `format: int64` is written out. Without it the width is 64 bits all the same.
        int64: bool,
        minimum: Option<i64>,
        maximum: Option<i64>,
    },
    Boolean,
    Array {
        items: Box<Schema>,
        min_items: Option<u64>,
        max_items: Option<u64>,
        /// Items that may remain after de-duplication (`x-max-distinct`).
        max_distinct: Option<u64>,
    },
    Object {
        /// In the document's order.
        properties: Vec<Property>,
    },
}

/// A form of string that has its own reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// RFC 3339 with a time zone (`format: date-time`).
    DateTime,
    /// Dotted quad (`format: ipv4`).
    Ipv4,
    /// `IPv4`, `IPv6`, `IPv4:port` or `[IPv6]:port` (`x-format: ip-endpoint`).
    IpEndpoint {
        /// Lowest and highest port (`x-port`).
        port: (u16, u16),
    },
}

/// A value of an enum and the text that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Separator {
    pub(crate) value: String,
    /// `None` where the text comes from the parameter that a `required-when` rule names.
    pub(crate) text: Option<String>,
}

/// A member of an object.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) required: bool,
    pub(crate) schema: Schema,
}

impl Schema {
    /// Adds the general clauses of the surrounding part to this schema, its items and properties, where they have none.
    pub(crate) fn inherit(&mut self, outer: &Citation) {
        self.citation = std::mem::take(&mut self.citation).or_any(outer);
        match &mut self.kind {
            Kind::Array { items, .. } => items.inherit(&self.citation),
            Kind::Object { properties } => {
                properties.iter_mut().for_each(|property| property.schema.inherit(&self.citation));
            }
            Kind::String { .. } | Kind::Integer { .. } | Kind::Boolean => {}
        }
    }

    /// The properties of an object; none for any other kind.
    pub(crate) fn properties(&self) -> &[Property] {
        match &self.kind {
            Kind::Object { properties } => properties,
            _ => &[],
        }
    }

    /// The schema of the items of an array; none for any other kind.
    pub(crate) fn items(&self) -> Option<&Schema> {
        match &self.kind {
            Kind::Array { items, .. } => Some(items),
            _ => None,
        }
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
}
