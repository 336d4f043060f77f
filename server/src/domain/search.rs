//! Search: addresses and filters, and the page of instances that they select.

use std::borrow::Cow;

use jiff::Timestamp;

use super::{DateTime, StaticInstance, address::Address};

/// A search request.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// Addresses to look for, in any order; duplicates count once.
    pub addresses: Vec<Address>,
    /// Conditions on the matches.
    pub filters: Filters,
    /// Page to return, counted from 1 (`search.page`).
    pub page: u32,
    /// Maximum number of instances on a page (`search.page-size`).
    pub page_size: u32,
}

impl SearchQuery {
    /// The addresses, ascending and disjoint, so that no instance matches twice and neighbours in an index are looked up together.
    pub(crate) fn disjoint_addresses(&self) -> Vec<Address> {
        let mut addresses = self.addresses.clone();
        // An address without a port is right before the same address with a port, which it includes.
        addresses.sort_unstable();
        addresses
            .dedup_by(|next, kept| next.ip == kept.ip && (kept.port.is_none() || next.port == kept.port));
        addresses
    }

    /// Number of matches on earlier pages.
    pub(crate) fn offset(&self) -> u64 {
        u64::from(self.page.saturating_sub(1)) * u64::from(self.page_size)
    }
}

/// Conditions on instances, all of which must hold (`search.intersection`): the filters that a request sets, with their values.
pub type Filters = Vec<(&'static Filter, FilterValue)>;

/// What a property of a search finds, by `x-filter` of the document. Every constant is generated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// Name of the property.
    pub property: &'static str,
    /// Name of the field of instances that it is compared with. Texts are case-sensitive.
    pub field: &'static str,
    /// How it is compared.
    pub condition: Condition,
}

/// How the field of an instance is compared with the value of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// It equals the value.
    Equal,
    /// The same, and this value finds instances whose field is null.
    EqualOrNull(i64),
    /// It is a list that has the value.
    Contains,
    /// It is the value or more; null is neither.
    AtLeast,
    /// It is the value or less; null is neither.
    AtMost,
}

#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is a type of the document")]
pub enum FilterValue {
    Text(Cow<'static, str>),
    Number(i64),
    Flag(bool),
    Time(Timestamp),
}

macro_rules! filter_values {
    ($($ty:ty: $value:ident => $filter:expr),+ $(,)?) => {
        $(impl From<$ty> for FilterValue {
            fn from($value: $ty) -> Self {
                $filter
            }
        })+
    };
}

filter_values! {
    String: text => Self::Text(text.into()),
    &'static str: text => Self::Text(text.into()),
    i64: number => Self::Number(number),
    u32: number => Self::Number(number.into()),
    bool: flag => Self::Flag(flag),
    DateTime: time => Self::Time(time.0),
}

/// One page of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchPage {
    /// The instances, ascending by id; none past the last page.
    pub items: Vec<StaticInstance>,
    /// Instances on all pages together (`search.total`).
    pub total: i64,
}
