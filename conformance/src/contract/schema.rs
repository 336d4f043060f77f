use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::Deserialize;
use serde_json::Value;

use super::source::{ContractError, Node};
use super::{Clause, Unspecified};

/// The constraints of a value from which checks derive cases. Responses are validated with JSON Schema instead.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Schema {
    /// The JSON type.
    #[serde(rename = "type")]
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
    /// Maximum number of bytes of UTF-8.
    #[serde(rename = "x-max-utf8-bytes")]
    pub max_utf8_bytes: Option<usize>,
    /// The values of an enum; empty without one.
    #[serde(rename = "enum", default)]
    pub values: Vec<Value>,
    /// `format`, for instance `date-time`.
    pub format: Option<String>,
    /// Default.
    pub default: Option<Value>,
    /// Example.
    pub example: Option<Value>,
    /// Whether null is allowed.
    #[serde(default)]
    pub nullable: bool,
    #[serde(skip)]
    pointer: String,
}

/// The JSON types that the document uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
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
    /// Schema of its value.
    pub schema: Schema,
    /// The clauses of its constraints.
    pub citations: Citations,
    /// Whether it must be sent.
    pub is_required: bool,
}

/// `x-clause`. A limit that the contract leaves open has no clause.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Cited")]
pub struct Citations {
    by_keyword: BTreeMap<String, Option<Clause>>,
    any: Vec<Clause>,
}

/// One id, several, or one for each keyword.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cited {
    One(CitedId),
    Several(Vec<CitedId>),
    ByKeyword(BTreeMap<String, CitedId>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum CitedId {
    Clause(Clause),
    Unspecified(#[expect(dead_code, reason = "it must be known")] Unspecified),
}

impl Schema {
    pub(super) fn read(node: &Node<'_>) -> Result<Self, ContractError> {
        Ok(Self { pointer: node.pointer.clone(), ..node.read()? })
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
        Ok(node.optional("x-clause")?.unwrap_or_default())
    }

    /// The clause of a keyword, or the general one.
    pub fn clause(&self, keyword: &str) -> Option<Clause> {
        self.by_keyword.get(keyword).copied().unwrap_or_else(|| self.any.first().copied())
    }

    /// Every clause that a constraint cites.
    pub(super) fn clauses(&self) -> impl Iterator<Item = Clause> {
        self.by_keyword.values().flatten().chain(&self.any).copied()
    }

    /// Whether a constraint cites the clause.
    pub fn cites(&self, clause: Clause) -> bool {
        self.clauses().any(|cited| cited == clause)
    }

    pub(super) fn or(self, fallback: Self) -> Self {
        if self.any.is_empty() && self.by_keyword.is_empty() { fallback } else { self }
    }
}

impl From<Cited> for Citations {
    fn from(cited: Cited) -> Self {
        let clause = |id| if let CitedId::Clause(clause) = id { Some(clause) } else { None };
        let (any, by_keyword) = match cited {
            Cited::One(id) => (vec![id], BTreeMap::new()),
            Cited::Several(ids) => (ids, BTreeMap::new()),
            Cited::ByKeyword(mut ids) => (ids.remove("any").into_iter().collect(), ids),
        };
        Self {
            any: any.into_iter().filter_map(clause).collect(),
            by_keyword: by_keyword.into_iter().map(|(keyword, id)| (keyword, clause(id))).collect(),
        }
    }
}
