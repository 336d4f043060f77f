//! Lists of bounded length, with or without duplicates.

use std::{collections::HashSet, hash::Hash};

use crate::edge::types::{
    json::Json,
    request_error::{Excerpt, Input, Part, RequestError},
    value::FromJson,
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
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self, RequestError> {
        let Json::Array(items) = value else {
            return Err(input.invalid("type", "a list", value.excerpt()));
        };
        let found = || Excerpt::describe(counted(items.len()));
        if items.len() < MIN {
            return Err(input.invalid("minItems", format!("at least {}", counted(MIN)), found()));
        }
        if items.len() > MAX {
            return Err(input.invalid("maxItems", format!("at most {}", counted(MAX)), found()));
        }
        let name = match input.part {
            Part::Field(name) => name,
            _ => "",
        };
        let read = |(index, item)| T::from_json(item, Input::new(Part::Item(name, index), input.items));
        items.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }
}

fn counted(items: usize) -> String {
    format!("{items} item{}", if items == 1 { "" } else { "s" })
}

/// A list of `MIN` to `MAX` items of which at most `DISTINCT` differ; it keeps the first of equal items.
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
    fn from_json(value: &Json<'_>, input: Input<'_>) -> Result<Self, RequestError> {
        let mut items = List::<T, MIN, MAX>::from_json(value, input)?.into_vec();
        // Enough for a valid list; an invalid one may take longer.
        let mut seen = HashSet::with_capacity(DISTINCT.min(items.len()));
        items.retain(|item| seen.insert(item.clone()));
        if items.len() > DISTINCT {
            let found = Excerpt::describe(format!("{} distinct ones", items.len()));
            return Err(input.invalid("x-max-distinct", format!("at most {DISTINCT} distinct items"), found));
        }
        Ok(Self(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::types::integer::BoundedInteger;

    #[test]
    fn raw_and_distinct_items_are_counted_apart() {
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
