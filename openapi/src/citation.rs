//! Which clause a constraint comes from (`x-clause`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The clauses that one part of the document cites, by keyword.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Value")]
pub struct Citation {
    /// Clauses for every keyword that `by_keyword` does not name.
    pub any: Vec<String>,
    /// Clauses for single keywords, such as `required` or `x-max-distinct`.
    pub by_keyword: BTreeMap<String, Vec<String>>,
}

/// One id, a list of ids, or a map from keyword to either, with `any` for the rest.
impl TryFrom<Value> for Citation {
    type Error = serde_json::Error;

    fn try_from(source: Value) -> Result<Self, Self::Error> {
        let ids = |cited: Value| match cited {
            Value::String(id) => Ok(vec![id]),
            list => Vec::<String>::deserialize(list),
        };
        let Value::Object(map) = source else { return Ok(Self { any: ids(source)?, ..Self::default() }) };
        let by_keyword = map.into_iter().map(|(keyword, cited)| Ok((keyword, ids(cited)?)));
        let mut by_keyword = by_keyword.collect::<Result<BTreeMap<_, _>, Self::Error>>()?;
        Ok(Self { any: by_keyword.remove("any").unwrap_or_default(), by_keyword })
    }
}

impl Citation {
    /// The `x-clause` of a part; empty where it has none, or one of another form, which the schema of the subset reports.
    #[must_use]
    pub fn read(part: &Value) -> Self {
        part.get("x-clause").and_then(|cited| Self::deserialize(cited).ok()).unwrap_or_default()
    }

    /// The clauses that `keyword` comes from; empty when the document names none.
    #[must_use]
    pub fn clauses_for(&self, keyword: &str) -> &[String] {
        self.by_keyword.get(keyword).unwrap_or(&self.any)
    }

    /// The same as one text, separated by commas.
    #[must_use]
    pub fn clauses(&self, keyword: &str) -> String {
        self.clauses_for(keyword).join(", ")
    }

    /// Every clause cited here.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.any.iter().chain(self.by_keyword.values().flatten()).map(String::as_str)
    }

    /// This citation, with missing entries taken from `outer`: a parameter around its schema.
    #[must_use]
    pub fn or(mut self, outer: &Self) -> Self {
        if self.any.is_empty() {
            for (keyword, ids) in &outer.by_keyword {
                self.by_keyword.entry(keyword.clone()).or_insert_with(|| ids.clone());
            }
        }
        self.or_any(outer)
    }

    /// This citation, with the general clauses of `outer` if it has none: an object around its properties.
    #[must_use]
    pub fn or_any(mut self, outer: &Self) -> Self {
        if self.any.is_empty() {
            self.any.clone_from(&outer.any);
        }
        self
    }
}
