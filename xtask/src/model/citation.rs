//! Which clause a constraint comes from (`x-clause`).

use std::collections::BTreeMap;

use serde_json::Value;

/// The clauses that one part of the document cites, by keyword.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Citation {
    /// Clauses for every keyword that `by_keyword` does not name.
    pub(crate) any: Vec<String>,
    /// Clauses for single keywords, such as `required` or `x-max-distinct`.
    pub(crate) by_keyword: BTreeMap<String, Vec<String>>,
}

impl Citation {
    /// Reads the `x-clause` of `value`: one id, a list of ids, or a map from keyword to either, with `any` for the rest.
    ///
    /// An absent `x-clause` cites nothing; one of another shape is `None`.
    pub(crate) fn read(value: &Value) -> Option<Citation> {
        let Some(cited) = value.get("x-clause") else { return Some(Citation::default()) };
        let Value::Object(map) = cited else {
            return Some(Citation { any: ids(cited)?, by_keyword: BTreeMap::new() });
        };
        let mut citation = Citation::default();
        for (keyword, cited) in map {
            let ids = ids(cited)?;
            if keyword == "any" {
                citation.any = ids;
            } else {
                citation.by_keyword.insert(keyword.clone(), ids);
            }
        }
        Some(citation)
    }

    /// The clauses that `keyword` comes from; empty when the document names none.
    pub(crate) fn clauses_for(&self, keyword: &str) -> &[String] {
        self.by_keyword.get(keyword).unwrap_or(&self.any)
    }

    /// Every clause cited here.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.any.iter().chain(self.by_keyword.values().flatten()).map(String::as_str)
    }

    /// This citation, with missing entries taken from `outer`: a parameter around its schema.
    pub(crate) fn or(mut self, outer: &Citation) -> Citation {
        if self.any.is_empty() {
            self.any.clone_from(&outer.any);
            for (keyword, ids) in &outer.by_keyword {
                self.by_keyword.entry(keyword.clone()).or_insert_with(|| ids.clone());
            }
        }
        self
    }

    /// This citation, with the general clauses of `outer` if it has none: an object around its properties.
    pub(crate) fn or_any(mut self, outer: &Citation) -> Citation {
        if self.any.is_empty() {
            self.any.clone_from(&outer.any);
        }
        self
    }
}

fn ids(cited: &Value) -> Option<Vec<String>> {
    match cited {
        Value::String(id) => Some(vec![id.clone()]),
        Value::Array(list) => list.iter().map(|id| id.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}
