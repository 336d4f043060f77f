use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::Instance;
use super::values::instant;
use crate::contract::{Clause, Search};
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    pub(crate) const SHOWN: [Self; 6] =
        [Self::Group, Self::Country, Self::City, Self::Status, Self::ActivatedFrom, Self::ActivatedTo];

    /// The clause that defines which instances it admits.
    pub(crate) fn clause(self) -> Clause {
        match self {
            Self::Order => Clause::SearchOrderNumber,
            Self::Group => Clause::SearchGroup,
            Self::Country => Clause::SearchCountry,
            Self::City => Clause::SearchCity,
            Self::Status => Clause::SearchStatus,
            Self::ActivatedFrom | Self::ActivatedTo => Clause::SearchActivatedRange,
        }
    }

    /// The value of an instance, for messages.
    pub(crate) fn shown_by(self, instance: &Instance) -> String {
        let Instance { group, country, city, status, activated, .. } = instance;
        match self {
            Self::Order => "an order that it does not show".to_owned(),
            Self::Group => group.map_or_else(|| "no group".to_owned(), |group| format!("group {group}")),
            Self::Country => format!("country {country}"),
            Self::City => format!("city {city}"),
            Self::Status => format!("status {status}"),
            Self::ActivatedFrom | Self::ActivatedTo => activated
                .map_or_else(|| "no activation time".to_owned(), |time| format!("activation time {time}")),
        }
    }

    pub(crate) fn field(self, search: &Search) -> &str {
        let property = match self {
            Self::Order => &search.order_no,
            Self::Group => &search.group_id,
            Self::Country => &search.country_code,
            Self::City => &search.city_code,
            Self::Status => &search.status,
            Self::ActivatedFrom => &search.activated_from,
            Self::ActivatedTo => &search.activated_to,
        };
        &property.name
    }
}

impl Filter {
    /// The filter of one kind with the value of an instance; `None` when it has no value, or one that may be equal to another
    /// one for the service. `among` are the instances that the filter has to distinguish.
    pub(crate) fn matching(
        kind: FilterKind,
        instance: &Instance,
        among: &BTreeMap<i64, Instance>,
        orders: &BTreeMap<String, BTreeSet<i64>>,
    ) -> Option<Self> {
        Some(match kind {
            FilterKind::Order => {
                Self::Order(orders.iter().find(|(_, held)| held.contains(&instance.id))?.0.clone())
            }
            FilterKind::Group => Self::Group(instance.group),
            FilterKind::Country => {
                Self::Country(Some(&instance.country).filter(|code| has_one_spelling(code, among))?.clone())
            }
            FilterKind::City => Self::City(instance.city.clone()),
            FilterKind::Status => Self::Status(instance.status.clone()),
            FilterKind::ActivatedFrom => Self::ActivatedFrom(instance.activation()?),
            FilterKind::ActivatedTo => Self::ActivatedTo(instance.activation()?),
        })
    }

    /// The filter of one kind in the body of a request; `None` when it is absent or its meaning is unspecified.
    pub(crate) fn read(kind: FilterKind, search: &Search, sent: &Map<String, Value>) -> Option<Self> {
        let value = sent.get(kind.field(search))?;
        let text = || value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let time = || instant(value.as_str()?);
        Some(match kind {
            FilterKind::Order => Self::Order(text()?),
            FilterKind::Group => Self::Group(Some(value.as_i64()?).filter(|group| *group != 0)),
            FilterKind::Country => Self::Country(text()?),
            FilterKind::City => Self::City(text()?),
            FilterKind::Status => Self::Status(text()?),
            FilterKind::ActivatedFrom => Self::ActivatedFrom(time()?),
            FilterKind::ActivatedTo => Self::ActivatedTo(time()?),
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

    pub(crate) fn on(&self, search: &Search, request: Request) -> Request {
        match self {
            Self::Order(number) => request.field(&search.order_no.name, number.as_str()),
            Self::Group(group) => request.field(&search.group_id.name, group.unwrap_or(0)),
            Self::Country(code) => request.field(&search.country_code.name, code.as_str()),
            Self::City(code) => request.field(&search.city_code.name, code.as_str()),
            Self::Status(status) => request.field(&search.status.name, status.as_str()),
            Self::ActivatedFrom(time) => request.field(&search.activated_from.name, time.to_string()),
            Self::ActivatedTo(time) => request.field(&search.activated_to.name, time.to_string()),
        }
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

    /// The filter, for messages.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Order(number) => format!("orderNo={number}"),
            Self::Group(group) => format!("groupId={}", group.unwrap_or(0)),
            Self::Country(code) => format!("countryCode={code}"),
            Self::City(code) => format!("cityCode={code}"),
            Self::Status(status) => format!("status={status}"),
            Self::ActivatedFrom(time) => format!("activatedFrom={time}"),
            Self::ActivatedTo(time) => format!("activatedTo={time}"),
        }
    }

    /// Several filters, for messages.
    pub(crate) fn describe_all(filters: &[Self]) -> String {
        filters.iter().map(Self::describe).collect::<Vec<_>>().join(" & ")
    }
}

/// Whether no instance has the same country code in another letter case: whether one spelling finds the other is unspecified.
pub(super) fn has_one_spelling(code: &str, among: &BTreeMap<i64, Instance>) -> bool {
    among.values().all(|instance| instance.country == code || !instance.country.eq_ignore_ascii_case(code))
}

pub(crate) fn apply(search: &Search, request: Request, filters: &[Filter]) -> Request {
    filters.iter().fold(request, |request, filter| filter.on(search, request))
}
