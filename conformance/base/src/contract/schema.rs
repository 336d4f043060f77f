use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use sallyport_contract::citation::Citation;
pub use sallyport_contract::table::Type as Kind;
use serde::Deserialize;
use serde_json::Value;

use super::{Clause, Unspecified};

/// The constraints of a value from which checks derive cases. Responses are validated with JSON Schema instead.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the document's keywords")]
pub struct Schema {
    #[serde(rename = "type")]
    pub kind: Kind,
    pub minimum: Option<i64>,
    pub maximum: Option<i64>,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub max_length: Option<usize>,
    #[serde(rename = "x-max-utf8-bytes")]
    pub max_utf8_bytes: Option<usize>,
    /// The values of an enum; empty without one.
    #[serde(rename = "enum", default)]
    pub values: Vec<Value>,
    /// The texts of `x-separators`, by their values.
    #[serde(rename = "x-separators", default)]
    pub(super) separators: BTreeMap<String, String>,
    pub format: Option<String>,
    pub default: Option<Value>,
    pub example: Option<Value>,
}

/// `x-clause`. A limit that the contract leaves open has no clause.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(try_from = "Citation")]
pub struct Citations(Citation);

impl TryFrom<Citation> for Citations {
    type Error = String;

    fn try_from(citation: Citation) -> Result<Self, String> {
        let is_known = |id: &str| Clause::from_id(id).is_some() || Unspecified::from_id(id).is_some();
        if let Some(id) = citation.all().find(|id| !is_known(id)) {
            return Err(format!("`x-clause` has `{id}`, which the suite does not know"));
        }
        Ok(Self(citation))
    }
}

impl Schema {
    pub(super) fn range(&self) -> Option<RangeInclusive<i64>> {
        Some(self.minimum?..=self.maximum?)
    }

    /// The values of an enum of strings.
    pub(super) fn strings(&self) -> Option<Vec<String>> {
        let strings: Option<Vec<_>> = self.values.iter().map(|v| v.as_str().map(str::to_owned)).collect();
        strings.filter(|strings| !strings.is_empty())
    }
}

impl Citations {
    /// The clause of a keyword, or the general one.
    pub fn clause(&self, keyword: &str) -> Option<Clause> {
        self.0.clauses_for(keyword).iter().find_map(|id| Clause::from_id(id))
    }

    /// Every clause that a constraint cites.
    pub(super) fn clauses(&self) -> impl Iterator<Item = Clause> {
        self.0.all().filter_map(Clause::from_id)
    }

    /// Whether a constraint cites the clause.
    pub fn cites(&self, clause: Clause) -> bool {
        self.clauses().any(|cited| cited == clause)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.clauses().next().is_none() && self.0.by_keyword.is_empty()
    }
}
