use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};
use serde_json::{Map, Value};

use super::Instance;
use super::values::instant;
use crate::contract::{Clause, Property, Search};
use crate::wire::Request;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FilterKind {
    Order,
    Group,
    Country,
    City,
    Status,
    ActivatedFrom,
    ActivatedTo,
}

/// One filter of a search, with its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Filter {
    Order(String),
    /// None for ungrouped instances.
    Group(Option<i64>),
    Country(String),
    City(String),
    Status(String),
    ActivatedFrom(Timestamp),
    ActivatedTo(Timestamp),
}

/// The property of a search, the field of an instance that it is compared with, and the clause that defines the comparison. The
/// only place that says which property filters which field.
type FilterRule = (fn(&Search) -> &Property, Option<&'static str>, Clause);

impl FilterKind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Order,
        Self::Group,
        Self::Country,
        Self::City,
        Self::Status,
        Self::ActivatedFrom,
        Self::ActivatedTo,
    ];

    /// The kinds whose value is a field of every instance.
    pub(crate) const SHOWN: &'static [Self] = Self::ALL.split_at(1).1;

    fn rule(self) -> FilterRule {
        match self {
            Self::Order => (|search| &search.order_no, None, Clause::SearchOrderNumber),
            Self::Group => (|search| &search.group_id, Some("groupId"), Clause::SearchGroup),
            Self::Country => (|search| &search.country_code, Some("countryCode"), Clause::SearchCountry),
            Self::City => (|search| &search.city_code, Some("cityCode"), Clause::SearchCity),
            Self::Status => (|search| &search.status, Some("status"), Clause::SearchStatus),
            Self::ActivatedFrom => {
                (|search| &search.activated_from, Some("activatedAt"), Clause::SearchActivatedRange)
            }
            Self::ActivatedTo => {
                (|search| &search.activated_to, Some("activatedAt"), Clause::SearchActivatedRange)
            }
        }
    }

    /// The clause that defines which instances it admits.
    pub(crate) fn clause(self) -> Clause {
        self.rule().2
    }

    /// The name of its property in a search.
    pub(crate) fn field(self, search: &Search) -> &str {
        &self.rule().0(search).name
    }

    /// The properties of several kinds, in labels.
    pub(crate) fn fields(kinds: &[Self], search: &Search) -> String {
        kinds.iter().map(|kind| kind.field(search)).collect::<Vec<_>>().join(" & ")
    }

    /// The value of an instance, for messages.
    pub(crate) fn shown_by(self, instance: &Instance) -> String {
        let field = self.rule().1.unwrap_or_default();
        instance.field(field).map_or_else(|| format!("no {field}"), |value| format!("{field} {value}"))
    }

    /// Its name in labels.
    pub(crate) fn label(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    /// The filter with this text as its value; none for a kind whose values are no texts.
    pub(crate) fn of_text(self, text: String) -> Option<Filter> {
        Some(match self {
            Self::Order => Filter::Order(text),
            Self::Country => Filter::Country(text),
            Self::City => Filter::City(text),
            Self::Status => Filter::Status(text),
            Self::Group | Self::ActivatedFrom | Self::ActivatedTo => return None,
        })
    }

    /// The filter with the value that an instance shows.
    pub(crate) fn shown(self, instance: &Instance) -> Option<Filter> {
        Some(match self {
            Self::Order => return None,
            Self::Group => Filter::Group(instance.group),
            Self::Country => Filter::Country(instance.country.clone()),
            Self::City => Filter::City(instance.city.clone()),
            Self::Status => Filter::Status(instance.status.clone()),
            Self::ActivatedFrom => Filter::ActivatedFrom(instance.activation()?),
            Self::ActivatedTo => Filter::ActivatedTo(instance.activation()?),
        })
    }
}

impl Filter {
    /// The filter of one kind in the body of a request; `None` when it is absent or its meaning is unspecified.
    pub(crate) fn read(kind: FilterKind, search: &Search, sent: &Map<String, Value>) -> Option<Self> {
        let value = sent.get(kind.field(search))?;
        let time = || instant(value.as_str()?);
        Some(match kind {
            FilterKind::Group => Self::Group(Some(value.as_i64()?).filter(|group| *group != 0)),
            FilterKind::ActivatedFrom => Self::ActivatedFrom(time()?),
            FilterKind::ActivatedTo => Self::ActivatedTo(time()?),
            kind => kind.of_text(value.as_str().filter(|text| !text.is_empty())?.to_owned())?,
        })
    }

    pub(crate) fn kind(&self) -> FilterKind {
        match self {
            Self::Order(_) => FilterKind::Order,
            Self::Group(_) => FilterKind::Group,
            Self::Country(_) => FilterKind::Country,
            Self::City(_) => FilterKind::City,
            Self::Status(_) => FilterKind::Status,
            Self::ActivatedFrom(_) => FilterKind::ActivatedFrom,
            Self::ActivatedTo(_) => FilterKind::ActivatedTo,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::Order(text) | Self::Country(text) | Self::City(text) | Self::Status(text) => Some(text),
            Self::Group(_) | Self::ActivatedFrom(_) | Self::ActivatedTo(_) => None,
        }
    }

    /// Its value in the body of a request. A time has this offset, in minutes east of UTC, or `Z`.
    pub(super) fn value(&self, offset: Option<i32>) -> Value {
        match self {
            Self::Order(text) | Self::Country(text) | Self::City(text) | Self::Status(text) => {
                text.as_str().into()
            }
            Self::Group(group) => group.unwrap_or(0).into(),
            Self::ActivatedFrom(time) | Self::ActivatedTo(time) => {
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

    pub(crate) fn on(&self, search: &Search, request: Request) -> Request {
        request.field(self.kind().field(search), self.value(None))
    }

    /// Whether an instance passes. `orders` has the instances of each order, since an instance has no field for its order.
    pub(crate) fn admits(&self, instance: &Instance, orders: &BTreeMap<String, BTreeSet<i64>>) -> bool {
        match self {
            Self::Order(number) => orders.get(number).is_some_and(|held| held.contains(&instance.id)),
            Self::Group(group) => instance.group.unwrap_or(0) == group.unwrap_or(0),
            // The letter case of a code is unspecified.
            Self::Country(code) => instance.country.eq_ignore_ascii_case(code),
            Self::City(code) => instance.city == *code,
            Self::Status(status) => instance.status == *status,
            Self::ActivatedFrom(time) => instance.activated.is_some_and(|activated| activated >= *time),
            Self::ActivatedTo(time) => instance
                .activated
                .is_some_and(|activated| activated < *time || (activated == *time && instance.is_exact)),
        }
    }

    /// Whether an instance may pass: it does not show its order, and only some orders are known.
    pub(super) fn may_admit(&self, instance: &Instance, orders: &BTreeMap<String, BTreeSet<i64>>) -> bool {
        let is_of_another = || orders.values().any(|held| held.contains(&instance.id));
        self.admits(instance, orders) || (self.kind() == FilterKind::Order && !is_of_another())
    }

    /// Whether no instance has the same country code in another letter case: whether one spelling finds the other is unspecified.
    pub(super) fn has_one_spelling(&self, among: &BTreeMap<i64, Instance>) -> bool {
        let Self::Country(code) = self else { return true };
        let is_other = |other: &String| other != code && other.eq_ignore_ascii_case(code);
        !among.values().any(|instance| is_other(&instance.country))
    }

    /// Whether no upper bound is before a lower one, which a service rejects.
    pub(crate) fn are_in_order(filters: &[Self]) -> bool {
        let mut pairs = filters.iter().flat_map(|one| filters.iter().map(move |other| (one, other)));
        !pairs.any(|pair| matches!(pair, (Self::ActivatedFrom(from), Self::ActivatedTo(to)) if to < from))
    }

    /// The filter, for messages.
    pub(crate) fn describe(&self, search: &Search) -> String {
        let value = self.value(None);
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        format!("{}={value}", self.kind().field(search))
    }
}

pub(crate) fn apply(search: &Search, request: Request, filters: &[Filter]) -> Request {
    filters.iter().fold(request, |request, filter| filter.on(search, request))
}
