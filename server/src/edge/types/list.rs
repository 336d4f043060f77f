//! Lists of bounded length, with or without duplicates.

use std::{collections::HashSet, hash::Hash};

use super::{
    fault::{At, Came, Fault, Spot},
    json::Json,
    value::FromJson,
};

/// A list of `MIN` to `MAX` items. No other list can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List<T, const MIN: usize, const MAX: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize> List<T, MIN, MAX> {
    /// Fewest items.
    pub const MIN_ITEMS: usize = MIN;
    /// Most items.
    pub const MAX_ITEMS: usize = MAX;

    /// The items.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T: FromJson, const MIN: usize, const MAX: usize> FromJson for List<T, MIN, MAX> {
    fn from_json(value: &Json<'_>, spot: Spot<'_>) -> Result<Self, Fault> {
        let Json::Array(items) = value else {
            return Err(spot.invalid("type", "be a list", value.came()));
        };
        let came = || Came::words(counted(items.len()));
        if items.len() < MIN {
            return Err(spot.invalid("minItems", format!("have at least {}", counted(MIN)), came()));
        }
        if items.len() > MAX {
            return Err(spot.invalid("maxItems", format!("have at most {}", counted(MAX)), came()));
        }
        let name = match spot.at {
            At::Field(name) => name,
            _ => "",
        };
        let read = |(index, item)| T::from_json(item, Spot::new(At::Item(name, index), spot.items));
        items.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }
}

fn counted(items: usize) -> String {
    format!("{items} item{}", if items == 1 { "" } else { "s" })
}

/// A list of `MIN` to `MAX` items of which at most `DISTINCT` differ; it keeps the first of equal items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distinct<T, const MIN: usize, const MAX: usize, const DISTINCT: usize>(Vec<T>);

impl<T, const MIN: usize, const MAX: usize, const DISTINCT: usize> Distinct<T, MIN, MAX, DISTINCT> {
    /// Fewest items.
    pub const MIN_ITEMS: usize = MIN;
    /// Most items.
    pub const MAX_ITEMS: usize = MAX;
    /// Most items that differ.
    pub const MAX_DISTINCT: usize = DISTINCT;

    /// The items, each once, in the order in which they first came.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T: FromJson + Clone + Eq + Hash, const MIN: usize, const MAX: usize, const DISTINCT: usize> FromJson
    for Distinct<T, MIN, MAX, DISTINCT>
{
    fn from_json(value: &Json<'_>, spot: Spot<'_>) -> Result<Self, Fault> {
        let mut items = List::<T, MIN, MAX>::from_json(value, spot)?.into_vec();
        // Room for a list that is taken; one with more is refused and may take longer.
        let mut seen = HashSet::with_capacity(DISTINCT.min(items.len()));
        items.retain(|item| seen.insert(item.clone()));
        if items.len() > DISTINCT {
            let came = Came::words(format!("{} distinct ones", items.len()));
            return Err(spot.invalid(
                "x-max-distinct",
                format!("have at most {DISTINCT} distinct items"),
                came,
            ));
        }
        Ok(Self(items))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge::integer::Within;

    #[test]
    fn raw_and_distinct_items_are_counted_apart() {
        let spot = Spot::new(At::Field("ips"), &[("x-max-distinct", "distinct"), ("any", "raw")])
            .with_items(&[("any", "item")]);
        let read = |json: &str| {
            Distinct::<Within<0, 9>, 1, 4, 2>::from_json(&Json::parse(json.as_bytes()).unwrap(), spot)
                .map(|list| list.into_vec().into_iter().map(Within::get).collect::<Vec<_>>())
                .map_err(|fault| (fault.place, fault.clause))
        };
        let field = "body field `ips`".to_owned();
        assert_eq!(read("[2,1,2,1]"), Ok(vec![2, 1]));
        assert_eq!(read("[1,2,3]"), Err((field.clone(), Some("distinct"))));
        assert_eq!(read("[1,1,1,1,1]"), Err((field.clone(), Some("raw"))));
        assert_eq!(read("[]"), Err((field.clone(), Some("raw"))));
        assert_eq!(read("{}"), Err((field, Some("raw"))));
        assert_eq!(read("[1,10]"), Err(("body item `ips[1]`".to_owned(), Some("item"))));
    }
}
