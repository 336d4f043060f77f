//! Lists of bounded length, with or without duplicates.

use std::{collections::HashSet, hash::Hash};

use crate::edge::types::{
    json::Json,
    request_error::{Excerpt, Input, Part, Result},
    value::{FromJson, FromText},
};

/// A list of `MIN` to `MAX` items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> List<T, MIN, MAX> {
    /// Minimum number of items.
    pub const MIN_ITEMS: usize = MIN;
    /// Maximum number of items.
    pub const MAX_ITEMS: usize = MAX;

    /// The items.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T: FromJson, const MIN: usize, const MAX: usize> FromJson for List<T, MIN, MAX> {
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self> {
        let Json::Array(items) = value else {
            return Err(input.invalid("type", "a list", value.excerpt()));
        };
        check_length(items.len(), MIN, MAX, input)?;
        let name = match input.part {
            Part::Field(name) => name,
            _ => "",
        };
        let read = |(index, item)| T::from_json(item, Input::new(Part::Item(name, index), input.items));
        items.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }
}

/// A list that can be parsed from the values of a repeated query parameter.
pub trait FromTexts: Sized {
    /// Reads the values, of which there is at least one.
    ///
    /// # Errors
    /// There are too few or too many of them, or one is invalid for its type.
    fn from_texts(texts: &[&str], input: Input<'_>) -> Result<Self>;
}

impl<T: FromText, const MIN: usize, const MAX: usize> FromTexts for List<T, MIN, MAX> {
    fn from_texts(texts: &[&str], input: Input<'_>) -> Result<Self> {
        check_length(texts.len(), MIN, MAX, input)?;
        let name = match input.part {
            Part::Parameter(name) => name,
            _ => "",
        };
        let read = |(index, text): (usize, &&str)| {
            let input = Input::new(Part::Value(name, index + 1), input.items);
            if text.is_empty() { Err(input.empty()) } else { T::from_text(text, input) }
        };
        texts.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }
}

fn check_length(length: usize, min: usize, max: usize, input: Input<'_>) -> Result<()> {
    let found = || Excerpt::describe(counted(length));
    if length < min {
        return Err(input.invalid("minItems", format!("at least {}", counted(min)), found()));
    }
    if length > max {
        return Err(input.invalid("maxItems", format!("at most {}", counted(max)), found()));
    }
    Ok(())
}

fn counted(items: usize) -> String {
    crate::printable::counted(items, "item")
}

/// A list of `MIN` to `MAX` items with at most `DISTINCT` distinct ones. Duplicates are removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistinctList<T, const MIN: usize, const MAX: usize, const DISTINCT: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize, const DISTINCT: usize> DistinctList<T, MIN, MAX, DISTINCT> {
    /// Minimum number of items.
    pub const MIN_ITEMS: usize = MIN;
    /// Maximum number of items.
    pub const MAX_ITEMS: usize = MAX;
    /// Maximum number of distinct items.
    pub const MAX_DISTINCT: usize = DISTINCT;

    /// The items, each once, in order of first occurrence.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T: FromJson + Clone + Eq + Hash, const MIN: usize, const MAX: usize, const DISTINCT: usize> FromJson
    for DistinctList<T, MIN, MAX, DISTINCT>
{
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self> {
        distinct(List::<T, MIN, MAX>::from_json(value, input)?, DISTINCT, input).map(Self)
    }
}

impl<T: FromText + Clone + Eq + Hash, const MIN: usize, const MAX: usize, const DISTINCT: usize> FromTexts
    for DistinctList<T, MIN, MAX, DISTINCT>
{
    fn from_texts(texts: &[&str], input: Input<'_>) -> Result<Self> {
        distinct(List::<T, MIN, MAX>::from_texts(texts, input)?, DISTINCT, input).map(Self)
    }
}

fn distinct<T: Clone + Eq + Hash, const MIN: usize, const MAX: usize>(
    list: List<T, MIN, MAX>,
    max: usize,
    input: Input<'_>,
) -> Result<Vec<T>> {
    let mut items = list.into_vec();
    // Sufficient for a valid list.
    let mut seen = HashSet::with_capacity(max.min(items.len()));
    items.retain(|item| seen.insert(item.clone()));
    if items.len() > max {
        let found = Excerpt::describe(format!("{} distinct ones", items.len()));
        return Err(input.invalid("x-max-distinct", format!("at most {max} distinct items"), found));
    }
    Ok(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::types::integer::BoundedInteger;

    #[test]
    fn raw_and_distinct_items_have_separate_limits() {
        let input = Input::new(Part::Field("ips"), &[("x-max-distinct", "distinct"), ("any", "raw")])
            .with_items(&[("any", "item")]);
        let read = |json: &str| {
            DistinctList::<BoundedInteger<0, 9>, 1, 4, 2>::from_json(
                &Json::parse(json.as_bytes()).unwrap(),
                input,
            )
            .map(|list| list.into_vec().into_iter().map(BoundedInteger::get).collect::<Vec<_>>())
            .map_err(|error| (error.part, error.clause))
        };
        let field = Some("body field `ips`".to_owned());
        assert_eq!(read("[2,1,2,1]"), Ok(vec![2, 1]));
        assert_eq!(read("[1,2,3]"), Err((field.clone(), Some("distinct"))));
        assert_eq!(read("[1,1,1,1,1]"), Err((field.clone(), Some("raw"))));
        assert_eq!(read("[]"), Err((field.clone(), Some("raw"))));
        assert_eq!(read("{}"), Err((field, Some("raw"))));
        assert_eq!(read("[1,10]"), Err((Some("body item `ips[1]`".to_owned()), Some("item"))));
    }
}
