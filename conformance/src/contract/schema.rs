use std::ops::RangeInclusive;

use serde_json::Value;

use super::source::{ContractError, Node};
use super::{Clause, Unspecified};

/// The constraints of a value from which checks derive cases. Responses are validated with JSON Schema instead.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The JSON type.
    pub kind: Kind,
    /// Minimum of an integer.
    pub minimum: Option<i64>,
    /// Maximum of an integer.
    pub maximum: Option<i64>,
    /// Minimum number of items.
    pub min_items: Option<usize>,
    /// Maximum number of items.
    pub max_items: Option<usize>,
    /// Maximum number of characters.
    pub max_length: Option<usize>,
    /// Maximum number of bytes of UTF-8 (`x-max-utf8-bytes`).
    pub max_utf8_bytes: Option<usize>,
    /// The values of an enum; empty without one.
    pub values: Vec<Value>,
    /// `format`, for instance `date-time`.
    pub format: Option<String>,
    /// Default.
    pub default: Option<Value>,
    /// Example.
    pub example: Option<Value>,
    /// Whether null is allowed.
    pub nullable: bool,
    pointer: String,
}

/// The JSON types that the document uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A string.
    String,
    /// true or false.
    Boolean,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// A member of the request body.
#[derive(Debug, Clone)]
pub struct Property {
    /// Name.
    pub name: String,
    /// Whether it is required.
    pub required: bool,
    /// Schema of its value.
    pub schema: Schema,
    /// The clauses of its constraints.
    pub citations: Citations,
}

/// `x-clause`: one clause, several, or one for each keyword. A limit that the contract leaves open has no clause.
#[derive(Debug, Clone, Default)]
pub struct Citations {
    by_keyword: Vec<(String, Option<Clause>)>,
    any: Vec<Clause>,
}

impl Schema {
    pub(super) fn read(node: &Node<'_>) -> Result<Self, ContractError> {
        let kind = match node.get("type")?.string()? {
            "integer" => Kind::Integer,
            "string" => Kind::String,
            "boolean" => Kind::Boolean,
            "array" => Kind::Array,
            "object" => Kind::Object,
            other => return Err(node.wrong(&format!("unknown type `{other}`"))),
        };
        let values = node.optional("enum", Node::items)?.unwrap_or_default();
        Ok(Self {
            kind,
            minimum: node.optional("minimum", Node::integer)?,
            maximum: node.optional("maximum", Node::integer)?,
            min_items: count(node, "minItems")?,
            max_items: count(node, "maxItems")?,
            max_length: count(node, "maxLength")?,
            max_utf8_bytes: count(node, "x-max-utf8-bytes")?,
            values: values.iter().map(|value| value.value.clone()).collect(),
            format: node.optional("format", Node::text)?,
            default: node.find("default").map(|default| default.value.clone()),
            example: node.find("example").map(|example| example.value.clone()),
            nullable: node.optional("nullable", Node::boolean)?.unwrap_or(false),
            pointer: node.pointer.clone(),
        })
    }

    pub(super) fn range(&self) -> Result<RangeInclusive<i64>, ContractError> {
        match (self.minimum, self.maximum) {
            (Some(minimum), Some(maximum)) => Ok(minimum..=maximum),
            _ => Err(ContractError::new(&self.pointer, "expected minimum and maximum")),
        }
    }

    pub(super) fn item_range(&self) -> Result<RangeInclusive<usize>, ContractError> {
        match (self.min_items, self.max_items) {
            (Some(minimum), Some(maximum)) => Ok(minimum..=maximum),
            _ => Err(ContractError::new(&self.pointer, "expected minItems and maxItems")),
        }
    }

    /// The values of an enum of strings.
    pub(super) fn strings(&self) -> Result<Vec<String>, ContractError> {
        let strings: Option<Vec<_>> = self.values.iter().map(|v| v.as_str().map(str::to_owned)).collect();
        let strings = strings.filter(|strings| !strings.is_empty());
        strings.ok_or_else(|| ContractError::new(&self.pointer, "expected an enum of strings"))
    }
}

impl Citations {
    pub(super) fn read(node: &Node<'_>) -> Result<Self, ContractError> {
        let Some(cited) = node.find("x-clause") else { return Ok(Self::default()) };
        let mut citations = Self::default();
        match cited.value {
            Value::String(_) => citations.any.extend(clause(&cited)?),
            Value::Array(_) => {
                for id in cited.items()? {
                    citations.any.extend(clause(&id)?);
                }
            }
            _ => {
                for (keyword, id) in cited.members()? {
                    match keyword {
                        "any" => citations.any.extend(clause(&id)?),
                        _ => citations.by_keyword.push((keyword.to_owned(), clause(&id)?)),
                    }
                }
            }
        }
        Ok(citations)
    }

    /// The clause of a keyword, or the general one.
    pub fn clause(&self, keyword: &str) -> Option<Clause> {
        let own = self.by_keyword.iter().find(|(name, _)| name == keyword).map(|(_, clause)| *clause);
        own.unwrap_or_else(|| self.any.first().copied())
    }

    /// Whether a constraint cites the clause.
    pub fn cites(&self, clause: Clause) -> bool {
        self.by_keyword.iter().any(|(_, own)| *own == Some(clause)) || self.any.contains(&clause)
    }

    /// Every cited clause.
    pub fn all(&self) -> impl Iterator<Item = Clause> {
        self.any.iter().copied().chain(self.by_keyword.iter().filter_map(|(_, clause)| *clause))
    }

    pub(super) fn or(self, fallback: Self) -> Self {
        if self.any.is_empty() && self.by_keyword.is_empty() { fallback } else { self }
    }
}

/// The clause that a part of the document cites; none if it cites unspecified behaviour.
fn clause(node: &Node<'_>) -> Result<Option<Clause>, ContractError> {
    let id = node.string()?;
    let clause = Clause::from_id(id);
    if clause.is_none() && Unspecified::from_id(id).is_none() {
        return Err(node.wrong(&format!("unknown clause `{id}`")));
    }
    Ok(clause)
}

fn count(node: &Node<'_>, key: &str) -> Result<Option<usize>, ContractError> {
    node.optional(key, |number| {
        usize::try_from(number.integer()?).map_err(|_| number.wrong("expected a count from 0"))
    })
}
