use std::ops::RangeInclusive;

use serde_json::Value;

use super::source::{ContractError, Node};
use super::{Clause, Unspecified};

/// What a value must be, as far as checks derive cases from it. Responses are judged by JSON Schema instead.
#[derive(Debug, Clone)]
pub struct Schema {
    /// The JSON type.
    pub kind: Kind,
    /// Smallest and largest integer.
    pub minimum: Option<i64>,
    /// Largest integer.
    pub maximum: Option<i64>,
    /// Fewest items.
    pub min_items: Option<usize>,
    /// Most items.
    pub max_items: Option<usize>,
    /// Most characters.
    pub max_length: Option<usize>,
    /// Most bytes of UTF-8 (`x-max-utf8-bytes`).
    pub max_utf8_bytes: Option<usize>,
    /// The closed list of values; empty when there is none.
    pub values: Vec<Value>,
    /// `format`, for instance `date-time`.
    pub format: Option<String>,
    /// What an absent value stands for.
    pub default: Option<Value>,
    /// A value that shows what is meant.
    pub example: Option<Value>,
    /// Whether null is a value of it.
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
    /// Its name.
    pub name: String,
    /// Whether it must be sent.
    pub required: bool,
    /// What it must be.
    pub schema: Schema,
    /// Which clause each of its constraints comes from.
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
        let values = node.find("enum").map(|values| values.items()).transpose()?.unwrap_or_default();
        Ok(Self {
            kind,
            minimum: integer(node, "minimum")?,
            maximum: integer(node, "maximum")?,
            min_items: count(node, "minItems")?,
            max_items: count(node, "maxItems")?,
            max_length: count(node, "maxLength")?,
            max_utf8_bytes: count(node, "x-max-utf8-bytes")?,
            values: values.iter().map(|value| value.value.clone()).collect(),
            format: node.find("format").map(|format| format.string().map(str::to_owned)).transpose()?,
            default: node.find("default").map(|default| default.value.clone()),
            example: node.find("example").map(|example| example.value.clone()),
            nullable: node.find("nullable").map(|nullable| nullable.boolean()).transpose()?.unwrap_or(false),
            pointer: node.pointer.clone(),
        })
    }

    /// Both integer bounds.
    pub(super) fn range(&self) -> Result<RangeInclusive<i64>, ContractError> {
        match (self.minimum, self.maximum) {
            (Some(minimum), Some(maximum)) => Ok(minimum..=maximum),
            _ => Err(ContractError::new(&self.pointer, "expected minimum and maximum")),
        }
    }

    /// Both bounds on the number of items.
    pub(super) fn item_range(&self) -> Result<RangeInclusive<usize>, ContractError> {
        match (self.min_items, self.max_items) {
            (Some(minimum), Some(maximum)) => Ok(minimum..=maximum),
            _ => Err(ContractError::new(&self.pointer, "expected minItems and maxItems")),
        }
    }

    /// The closed list as strings.
    pub(super) fn strings(&self) -> Result<Vec<String>, ContractError> {
        let strings: Option<Vec<String>> =
            self.values.iter().map(|v| v.as_str().map(str::to_owned)).collect();
        strings
            .filter(|strings| !strings.is_empty())
            .ok_or_else(|| ContractError::new(&self.pointer, "expected an enum of strings"))
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

    /// The clause of a keyword, else the one that stands for all others.
    #[must_use]
    pub fn clause(&self, keyword: &str) -> Option<Clause> {
        let own = self.by_keyword.iter().find(|(name, _)| name == keyword).map(|(_, clause)| *clause);
        own.unwrap_or_else(|| self.any.first().copied())
    }

    /// Whether some constraint comes from the clause.
    #[must_use]
    pub fn cites(&self, clause: Clause) -> bool {
        self.by_keyword.iter().any(|(_, own)| *own == Some(clause)) || self.any.contains(&clause)
    }

    /// Every clause that some constraint comes from.
    pub fn all(&self) -> impl Iterator<Item = Clause> {
        self.any.iter().copied().chain(self.by_keyword.iter().filter_map(|(_, clause)| *clause))
    }

    /// These, with the general clauses of what is around where they have none.
    pub(super) fn or_any(mut self, outer: &Self) -> Self {
        if self.any.is_empty() {
            self.any.clone_from(&outer.any);
        }
        self
    }

    pub(super) fn or(self, fallback: Self) -> Self {
        if self.any.is_empty() && self.by_keyword.is_empty() { fallback } else { self }
    }
}

/// The clause that a part of the document cites; none when it cites what is unspecified.
fn clause(node: &Node<'_>) -> Result<Option<Clause>, ContractError> {
    let id = node.string()?;
    let clause = Clause::from_id(id);
    if clause.is_none() && Unspecified::from_id(id).is_none() {
        return Err(node.wrong(&format!("unknown clause `{id}`")));
    }
    Ok(clause)
}

fn integer(node: &Node<'_>, key: &str) -> Result<Option<i64>, ContractError> {
    node.find(key).map(|number| number.integer()).transpose()
}

fn count(node: &Node<'_>, key: &str) -> Result<Option<usize>, ContractError> {
    let Some(number) = node.find(key) else { return Ok(None) };
    usize::try_from(number.integer()?).map(Some).map_err(|_| number.wrong("expected a count from 0"))
}
