use serde_json::Map;

use super::*;
use crate::checks::requests;
use crate::contract::part::{IPS, PAGE, PAGE_SIZE};

/// A search as a value: what it asks for, and how that is written.
#[derive(Debug, Clone, Default)]
pub(crate) struct Query {
    /// Items of `ips`, in the spelling in which they are sent.
    pub(crate) items: Vec<String>,
    pub(crate) filters: Vec<Filter>,
    pub(crate) page: Option<i64>,
    pub(crate) size: Option<i64>,
    pub(crate) writing: Writing,
    /// Offset of the bounds on times, in minutes east of UTC; none for `Z`.
    pub(crate) offset: Option<i32>,
    /// The token of another account.
    pub(crate) token: Option<String>,
    /// Names the items in messages, where they are many.
    pub(crate) name: Option<&'static str>,
    /// The clause that a wrong result violates, if it is not the one that the items and filters show.
    pub(crate) cites: Option<Clause>,
    /// Whether the contract lets a service reject it, since no instance is known to have one of its values.
    pub(crate) is_open: bool,
}

/// The order in which items and members are sent, and what is sent beside them. None of it changes the meaning.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Writing {
    #[default]
    Plain,
    /// `ips` after all other members.
    ItemsLast,
    /// Items and members in the opposite order.
    Reversed,
    /// A filter is null, which finds what its absence finds.
    NullFilter,
}

impl Query {
    pub(crate) fn new(items: impl IntoIterator<Item = String>) -> Self {
        Self { items: items.into_iter().collect(), ..Self::default() }
    }

    pub(crate) fn filtered(mut self, filters: impl IntoIterator<Item = Filter>) -> Self {
        self.filters.extend(filters);
        self
    }

    /// What the body of a request asks for, as far as the contract defines it.
    pub(crate) fn read(sent: &Map<String, Value>) -> Self {
        let items = sent.get(IPS).and_then(Value::as_array).into_iter().flatten();
        let number = |name: &str| sent.get(name).and_then(Value::as_i64);
        Self {
            // What is no text is no address either.
            items: items.map(|item| item.as_str().map_or_else(|| item.to_string(), str::to_owned)).collect(),
            filters: kinds().filter_map(|kind| Filter::read(kind, sent)).collect(),
            page: number(PAGE),
            size: number(PAGE_SIZE),
            ..Self::default()
        }
    }

    pub(crate) fn request(&self, probe: &Probe<'_>) -> Request {
        let token = self.token.as_deref().unwrap_or_else(|| probe.token().expose());
        self.request_with(&probe.contract().search, token)
    }

    pub(crate) fn request_with(&self, search: &Search, token: &str) -> Request {
        let (mut items, mut filters) = (self.items.clone(), self.filters.iter().collect::<Vec<_>>());
        if self.writing == Writing::Reversed {
            items.reverse();
            filters.reverse();
        }
        let mut request = requests::search(search, token, items.iter().cloned().map(Value::from).collect());
        for filter in filters {
            request = request.field(&filter.kind.property.name, filter.sent(self.offset));
        }
        match self.writing {
            Writing::Plain => {}
            Writing::NullFilter => {
                request = null_kinds()
                    .fold(request, |request, kind| request.field(&kind.property.name, Value::Null));
            }
            Writing::ItemsLast | Writing::Reversed => {
                request = request.without_field(IPS).field(IPS, items);
            }
        }
        let paging = [(PAGE, self.page), (PAGE_SIZE, self.size)].into_iter();
        let paging = paging.filter_map(|(name, value)| Some((name, value?)));
        paging.fold(request, |request, (name, value)| request.field(name, value))
    }

    /// The page and its size, as requested or by default.
    pub(super) fn page_or_default(&self, search: &Search) -> (i64, i64) {
        (self.page.unwrap_or(search.default_page), self.size.unwrap_or(search.default_page_size))
    }

    /// The surveyed instances that it should find on all of its pages.
    pub(crate) fn expected(&self, survey: &Survey) -> BTreeSet<i64> {
        survey.found_by(&self.items).intersection(&survey.admitted(&self.filters)).copied().collect()
    }

    /// The clause that is violated if it finds something else.
    pub(crate) fn clause(&self) -> Clause {
        match (self.cites, self.filters.as_slice()) {
            (Some(clause), _) => clause,
            (None, []) => self.match_clause(),
            (None, [only]) => only.kind.clause,
            (None, _) => SearchIntersection,
        }
    }

    /// The clause that defines what its items match.
    pub(crate) fn match_clause(&self) -> Clause {
        let has_port = |item: &String| item.parse::<IpAddr>().is_err();
        if self.items.iter().all(has_port) { SearchMatchPort } else { SearchMatchAnyPort }
    }

    pub(crate) fn describe(&self) -> String {
        const MAX: usize = 4;
        let listed = || match self.items.len().saturating_sub(MAX) {
            0 => self.items.join(" and "),
            more => format!("{} and {more} more", self.items[..MAX].join(", ")),
        };
        let items = self.name.map_or_else(listed, str::to_owned);
        let mut filters: Vec<_> = self.filters.iter().map(|filter| filter.describe(self.offset)).collect();
        if self.writing == Writing::NullFilter {
            filters.extend(null_kinds().map(|kind| format!("{}=null", kind.property.name)));
        }
        let found = if filters.is_empty() { items } else { format!("{} among {items}", filters.join(" & ")) };
        let paging = [(PAGE, self.page), (PAGE_SIZE, self.size)].into_iter();
        let paging = paging.filter_map(|(name, value)| Some(format!(", {name}={}", value?)));
        found + &paging.collect::<String>()
    }
}

/// The filters for which null is a value.
fn null_kinds() -> impl Iterator<Item = FilterKind> {
    kinds().filter(|kind| kind.null_means_all)
}

/// The addresses and ports of items; none when one of them is no address.
pub(crate) struct Items(BTreeSet<(IpAddr, Option<i64>)>);

impl Items {
    pub(crate) fn read(items: &[String]) -> Option<Self> {
        items.iter().map(|item| address_of(item)).collect::<Option<_>>().map(Self)
    }

    pub(crate) fn have_address(&self, ip: IpAddr) -> bool {
        self.0.range((ip, None)..).next().is_some_and(|(known, _)| *known == ip)
    }

    pub(crate) fn find(&self, instance: &Instance) -> bool {
        self.0.contains(&(instance.ip, None)) || self.0.contains(&(instance.ip, Some(instance.port)))
    }
}
