use std::ops::Deref;

use jiff::tz::{Offset, TimeZone};
use serde_json::Map;

use super::values::{instant, nanosecond};
use super::*;
use crate::contract::{Contract, Kind};

/// A filter of the document.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterKind(pub(crate) &'static SearchFilter);

impl Deref for FilterKind {
    type Target = SearchFilter;

    fn deref(&self) -> &SearchFilter {
        self.0
    }
}

/// One filter of a search, with its value.
#[derive(Debug, Clone)]
pub(crate) struct Filter {
    pub(crate) kind: FilterKind,
    pub(crate) value: FieldValue,
}

/// The value of a filter, and that of the field of an instance which it is compared with.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FieldValue {
    Null,
    Number(i64),
    Text(String),
    Time(Timestamp),
    List(Vec<Self>),
    /// One of another JSON type than the filter has, as JSON. No instance has it.
    Other(String),
}

/// Every filter of the document.
pub(crate) fn kinds() -> impl DoubleEndedIterator<Item = FilterKind> + ExactSizeIterator + Clone {
    let filters = Contract::embedded().map(|contract| contract.search.filters.as_slice()).unwrap_or_default();
    filters.iter().map(FilterKind)
}

/// The filters whose value is a field of every instance.
pub(crate) fn shown_kinds() -> impl Iterator<Item = FilterKind> + Clone {
    kinds().filter(|kind| kind.field.is_some())
}

/// The filter of a property.
pub(crate) fn kind_of(property: &str) -> Option<FilterKind> {
    kinds().find(|kind| kind.property.name == property)
}

impl FilterKind {
    /// The properties of several filters, in labels.
    pub(crate) fn names(kinds: &[FilterKind]) -> String {
        kinds.iter().map(|kind| kind.property.name.as_str()).collect::<Vec<_>>().join(" & ")
    }

    /// Its name in labels, such as `country` for `countryCode`.
    pub(crate) fn label(&self) -> String {
        let name = self.property.name.as_str();
        let word = ["No", "Id", "Code"].iter().find_map(|end| name.strip_suffix(end));
        word.unwrap_or(name).to_lowercase()
    }

    /// Its value in words, for labels.
    pub(crate) fn phrase(&self) -> String {
        match self.matching {
            Match::AtLeast => "a lower bound".to_owned(),
            Match::AtMost => "an upper bound".to_owned(),
            Match::Equal | Match::Contains => {
                let label = self.property.name.strip_suffix("No");
                let label = label.map_or_else(|| self.label(), |of| format!("{of} number"));
                let article = if label.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
                format!("{article} {label}")
            }
        }
    }

    /// Whether it is a bound on values that have an order.
    pub(crate) fn is_bound(&self) -> bool {
        matches!(self.matching, Match::AtLeast | Match::AtMost)
    }

    /// Whether its values are texts that the document does not list.
    pub(crate) fn is_free_text(&self) -> bool {
        self.property.schema.kind == Kind::String && !self.is_time() && self.property.schema.values.is_empty()
    }

    /// Whether its values are times.
    pub(crate) fn is_time(&self) -> bool {
        self.property.schema.format.as_deref() == Some("date-time")
    }

    /// The filter with each value that the document lists; none where it lists none.
    pub(crate) fn listed(self) -> Vec<Filter> {
        let listed = self.property.schema.values.iter().filter_map(Value::as_str);
        listed.map(|value| self.with(FieldValue::Text(value.to_owned()))).collect()
    }

    pub(crate) fn with(self, value: FieldValue) -> Filter {
        Filter { kind: self, value }
    }

    pub(crate) fn text(self, text: impl Into<String>) -> Filter {
        self.with(FieldValue::Text(text.into()))
    }

    /// The field of an instance, for messages.
    pub(crate) fn shown_by(&self, instance: &Instance) -> String {
        let field = self.field.as_deref().unwrap_or_default();
        instance.field(field).map_or_else(|| format!("no {field}"), |value| format!("{field} {value}"))
    }

    /// The value that an instance shows. A bound has no null, and no time finer than a nanosecond.
    pub(crate) fn shown(&self, instance: &Instance) -> Option<FieldValue> {
        match instance.value(*self) {
            _ if self.field.is_none() => None,
            FieldValue::Null if self.null.is_none() => None,
            FieldValue::Time(_) if !instance.is_exact => None,
            FieldValue::List(elements) => elements.first().cloned(),
            value => Some(value.clone()),
        }
    }

    /// The value of the field of an item, in whole nanoseconds; none when the item lacks it or has one of another type.
    pub(super) fn field_of(&self, item: &Value) -> Option<FieldValue> {
        let Some(field) = &self.field else { return Some(FieldValue::Null) };
        match item.get(field)? {
            Value::Null => self.is_nullable.then_some(FieldValue::Null),
            Value::Array(elements) if self.matching == Match::Contains => {
                elements.iter().map(|element| self.read(element)).collect::<Option<_>>().map(FieldValue::List)
            }
            value => self.read(value),
        }
    }

    fn read(&self, value: &Value) -> Option<FieldValue> {
        Some(match self.property.schema.kind {
            // The schema check reports a number in a string; the comparisons still read it.
            Kind::Integer => {
                let number = value.as_i64().or_else(|| value.as_str()?.parse().ok())?;
                if self.null == Some(number) { FieldValue::Null } else { FieldValue::Number(number) }
            }
            _ if self.is_time() => FieldValue::Time(nanosecond(value.as_str()?)?.0),
            _ => FieldValue::Text(value.as_str()?.to_owned()),
        })
    }
}

impl Filter {
    /// The filter of one kind in the body of a request; `None` when it is absent or its meaning is unspecified.
    pub(crate) fn read(kind: FilterKind, sent: &Map<String, Value>) -> Option<Self> {
        let value = sent.get(&kind.property.name)?;
        let is_clear = match kind.property.schema.kind {
            Kind::Integer => value.is_i64(),
            _ if kind.is_time() => value.as_str().and_then(instant).is_some(),
            _ => value.as_str().is_some_and(|text| !text.is_empty()),
        };
        Some(kind.with(kind.read(value).filter(|_| is_clear)?))
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let FieldValue::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Its value in the body of a request. A time has this offset, in minutes east of UTC, or `Z`.
    pub(super) fn sent(&self, offset: Option<i32>) -> Value {
        match &self.value {
            FieldValue::Text(text) => text.as_str().into(),
            FieldValue::Number(number) => (*number).into(),
            FieldValue::Null | FieldValue::List(_) => self.kind.null.into(),
            FieldValue::Other(json) => serde_json::from_str(json).unwrap_or_default(),
            FieldValue::Time(time) => {
                match offset.and_then(|minutes| Offset::from_seconds(minutes.saturating_mul(60)).ok()) {
                    Some(offset) => {
                        let zoned = time.to_zoned_datetime(TimeZone::fixed(offset));
                        zoned.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string().into()
                    }
                    None => time.to_string().into(),
                }
            }
        }
    }

    /// Whether an instance passes. `orders` has the instances that each value finds where instances do not show it.
    pub(crate) fn admits(&self, instance: &Instance, orders: &BTreeMap<String, BTreeSet<i64>>) -> bool {
        if self.kind.field.is_none() {
            let held = self.as_text().and_then(|number| orders.get(number));
            return held.is_some_and(|held| held.contains(&instance.id));
        }
        match (self.kind.matching, instance.value(self.kind)) {
            (Match::Equal, FieldValue::Text(shown)) if self.kind.has_open_case => {
                self.as_text().is_some_and(|text| text.eq_ignore_ascii_case(shown))
            }
            (Match::Equal, shown) => *shown == self.value,
            (Match::Contains, FieldValue::List(shown)) => shown.contains(&self.value),
            (Match::Contains, _) | (_, FieldValue::Null) => false,
            (Match::AtLeast, shown) => *shown >= self.value,
            (Match::AtMost, shown) => *shown < self.value || (*shown == self.value && instance.is_exact),
        }
    }

    /// Whether an instance may pass: it does not show its order, which is a text, and only some orders are known.
    pub(super) fn may_admit(&self, instance: &Instance, orders: &BTreeMap<String, BTreeSet<i64>>) -> bool {
        let is_of_another = || orders.values().any(|held| held.contains(&instance.id));
        self.admits(instance, orders)
            || (self.kind.field.is_none() && self.as_text().is_some() && !is_of_another())
    }

    /// Whether no instance has the same value in another letter case, if it is unspecified whether one spelling finds the other.
    pub(super) fn has_one_spelling(&self, among: &BTreeMap<i64, Instance>) -> bool {
        let (true, Some(own)) = (self.kind.has_open_case, self.as_text()) else { return true };
        let is_other = |shown: &FieldValue| matches!(shown, FieldValue::Text(other) if other != own && other.eq_ignore_ascii_case(own));
        !among.values().any(|instance| is_other(instance.value(self.kind)))
    }

    /// Whether no upper bound is before a lower one, which a service rejects.
    pub(crate) fn are_in_order(filters: &[Self]) -> bool {
        let of = |matching| filters.iter().filter(move |filter| filter.kind.matching == matching);
        let is_after =
            |lower: &Self, upper: &Self| lower.kind.field == upper.kind.field && upper.value < lower.value;
        !of(Match::AtLeast).any(|lower| of(Match::AtMost).any(|upper| is_after(lower, upper)))
    }

    /// The filter, for messages.
    pub(crate) fn describe(&self, offset: Option<i32>) -> String {
        let value = self.sent(offset);
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{}={value}", self.kind.property.name)
    }
}
