use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use fastrand::Rng;
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp};

use crate::check::Probe;
use crate::checks::Requests as _;
use crate::checks::relation::{Filter, FilterKind, Instance, Survey};
use crate::contract::{Clause, Search};
use crate::wire::Request;

/// A search with random items and filters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) items: Vec<Item>,
    pub(super) filters: Vec<QueryFilter>,
    /// Number of pages into which a relation splits the result.
    pub(super) pages: usize,
}

/// An item of `ips`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Item {
    ip: IpAddr,
    port: Option<u16>,
}

/// A filter, with the spelling of its time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueryFilter {
    filter: Filter,
    /// Minutes east of UTC; none for `Z`.
    offset: Option<i32>,
}

impl Query {
    /// Draws a query. Most items and values are those of instances, since others find nothing.
    pub(super) fn draw(rng: &mut Rng, survey: &Survey, search: &Search) -> Self {
        const COUNTS: [usize; 8] = [1, 2, 3, 5, 8, 13, 30, 64];
        const MAX_FILTERS: usize = 4;
        let instances: Vec<&Instance> = survey.instances.values().collect();
        let count = COUNTS[rng.usize(..COUNTS.len())];
        let items = (0..count).filter_map(|_| draw_item(rng, &instances, search)).collect();
        let mut kinds: Vec<FilterKind> = FilterKind::ALL.into();
        rng.shuffle(&mut kinds);
        let kinds = kinds.into_iter().take(rng.usize(..=MAX_FILTERS));
        let mut filters: Vec<QueryFilter> =
            kinds.filter_map(|kind| draw_filter(rng, kind, survey, &instances, search)).collect();
        order_bounds(&mut filters);
        Self { items, filters, pages: rng.usize(2..=4) }
    }

    /// The request. If `reversed`, items and members are in the opposite order.
    pub(super) fn request(&self, probe: &Probe<'_>, survey: &Survey, reversed: bool) -> Request {
        let search = &probe.contract().search;
        let mut items: Vec<String> = self.items.iter().map(|item| item.text(survey)).collect();
        if !reversed {
            let request = probe.search(items);
            return self.filters.iter().fold(request, |request, wanted| wanted.on(search, request));
        }
        items.reverse();
        let bare = probe.search(Vec::<String>::new()).without_field(&search.ips.name);
        let filtered = self.filters.iter().rev().fold(bare, |request, wanted| wanted.on(search, request));
        filtered.field(&search.ips.name, items)
    }

    /// The request with an additional item: another spelling of one of its IPv6 addresses. None without an IPv6 address.
    pub(super) fn respelt(&self, probe: &Probe<'_>, survey: &Survey) -> Option<Request> {
        let search = &probe.contract().search;
        let again = self.items.iter().find_map(|item| item.respelt())?;
        let items = self.items.iter().map(|item| item.text(survey)).chain([again]);
        let request = probe.search(items.collect::<Vec<_>>());
        Some(self.filters.iter().fold(request, |request, wanted| wanted.on(search, request)))
    }

    /// The surveyed instances that it should find.
    pub(super) fn expected(&self, survey: &Survey) -> BTreeSet<i64> {
        survey.ids_where(|instance| {
            self.items.iter().any(|item| item.matches(instance))
                && self.filters.iter().all(|wanted| wanted.filter.admits(instance, &survey.orders))
        })
    }

    /// The clause that is violated if it finds something else.
    pub(super) fn clause(&self) -> Clause {
        match self.filters.as_slice() {
            [] => self.match_clause(),
            [only] => only.filter.kind().clause(),
            _ => Clause::SearchIntersection,
        }
    }

    /// The clause that defines what its items match.
    pub(super) fn match_clause(&self) -> Clause {
        match self.items.iter().any(|item| item.port.is_some()) {
            true => Clause::SearchMatchPort,
            false => Clause::SearchMatchAnyPort,
        }
    }

    pub(super) fn with_items(&self, items: &[Item]) -> Self {
        Self { items: items.to_vec(), ..self.clone() }
    }

    pub(super) fn with_filters(&self, filters: &[QueryFilter]) -> Self {
        Self { filters: filters.to_vec(), ..self.clone() }
    }

    /// The query for one status, instead of any other.
    pub(super) fn with_status(&self, status: &str) -> Self {
        let mut with = self.without_status();
        with.filters.push(QueryFilter { filter: Filter::Status(status.to_owned()), offset: None });
        with
    }

    /// The query for every status.
    pub(super) fn without_status(&self) -> Self {
        let mut without = self.clone();
        without.filters.retain(|wanted| wanted.filter.kind() != FilterKind::Status);
        without
    }

    /// Simpler queries, the simplest first.
    pub(super) fn simpler(&self) -> Vec<Self> {
        let mut simpler = Vec::new();
        // First half of the items, then all but a quarter, all but an eighth and so on.
        let mut part = self.items.len();
        while part > 1 {
            part = part.div_ceil(2);
            for begin in (0..self.items.len()).step_by(part) {
                let end = (begin + part).min(self.items.len());
                simpler.push(self.with_items(&[&self.items[..begin], &self.items[end..]].concat()));
            }
        }
        simpler.extend((0..self.filters.len()).map(|left_out| {
            let mut fewer = self.clone();
            fewer.filters.remove(left_out);
            fewer
        }));
        if self.filters.iter().any(|wanted| wanted.offset.is_some()) {
            let mut plain = self.clone();
            plain.filters.iter_mut().for_each(|wanted| wanted.offset = None);
            simpler.push(plain);
        }
        simpler
    }

    pub(super) fn describe(&self, survey: &Survey) -> String {
        const MAX: usize = 4;
        let items: Vec<String> = self.items.iter().take(MAX).map(|item| item.text(survey)).collect();
        let more = match self.items.len().saturating_sub(MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let filters = self.filters.iter().map(|wanted| format!(" & {}", wanted.filter.describe()));
        format!("{}{more}{}", items.join(", "), filters.collect::<String>())
    }
}

impl Item {
    fn text(self, survey: &Survey) -> String {
        match self.port {
            Some(port) => survey.spelt_with(self.ip, port),
            None => survey.spelt(self.ip),
        }
    }

    fn matches(self, instance: &Instance) -> bool {
        self.ip == instance.ip && self.port.is_none_or(|port| i64::from(port) == instance.port)
    }

    /// The item with its IPv6 address in full and in upper case.
    fn respelt(self) -> Option<String> {
        let IpAddr::V6(ip) = self.ip else { return None };
        let segments = |ip: Ipv6Addr| ip.segments().map(|segment| format!("{segment:04X}")).join(":");
        Some(match self.port {
            Some(port) => format!("[{}]:{port}", segments(ip)),
            None => segments(ip),
        })
    }
}

impl QueryFilter {
    fn on(&self, search: &Search, request: Request) -> Request {
        let written = |time: &Timestamp| {
            let offset = self.offset.and_then(|minutes| Offset::from_seconds(minutes * 60).ok());
            match offset {
                Some(offset) => {
                    let zoned = time.to_zoned_datetime(TimeZone::fixed(offset));
                    zoned.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string()
                }
                None => time.to_string(),
            }
        };
        match &self.filter {
            Filter::ActivatedFrom(time) => request.field(&search.activated_from.name, written(time)),
            Filter::ActivatedTo(time) => request.field(&search.activated_to.name, written(time)),
            filter => filter.on(search, request),
        }
    }
}

/// An item of an instance with or without its port, and sometimes with another port.
fn draw_item(rng: &mut Rng, instances: &[&Instance], search: &Search) -> Option<Item> {
    const ANOTHER_PORT: u8 = 12;
    let instance = instances.get(rng.usize(..instances.len().max(1)))?;
    let own = Some(instance.port).filter(|port| search.ports.contains(port));
    let own = own.and_then(|port| u16::try_from(port).ok());
    let port = match (rng.u8(..ANOTHER_PORT), rng.bool()) {
        (0, _) => Some(rng.u16(1..)),
        (_, true) => own,
        (_, false) => None,
    };
    Some(Item { ip: instance.ip, port })
}

fn draw_filter(
    rng: &mut Rng,
    kind: FilterKind,
    survey: &Survey,
    instances: &[&Instance],
    search: &Search,
) -> Option<QueryFilter> {
    const OFFSETS: [Option<i32>; 5] = [None, None, Some(0), Some(330), Some(-600)];
    let instance = instances.get(rng.usize(..instances.len().max(1)))?;
    let filter = match kind {
        FilterKind::Status => {
            Filter::Status(search.statuses.get(rng.usize(..search.statuses.len()))?.clone())
        }
        kind => Filter::matching(kind, instance, &survey.instances, &survey.orders)?,
    };
    let shift = SignedDuration::from_secs(rng.i64(-1..=1));
    let shifted = |time: Timestamp| time.checked_add(shift).unwrap_or(time);
    let filter = match filter {
        Filter::ActivatedFrom(time) => Filter::ActivatedFrom(shifted(time)),
        Filter::ActivatedTo(time) => Filter::ActivatedTo(shifted(time)),
        filter => filter,
    };
    Some(QueryFilter { filter, offset: OFFSETS[rng.usize(..OFFSETS.len())] })
}

/// Swaps the bounds of times if the upper one is before the lower one, which would be rejected.
fn order_bounds(filters: &mut [QueryFilter]) {
    let from = filters.iter().position(|wanted| wanted.filter.kind() == FilterKind::ActivatedFrom);
    let to = filters.iter().position(|wanted| wanted.filter.kind() == FilterKind::ActivatedTo);
    let (Some(from), Some(to)) = (from, to) else { return };
    if let (Filter::ActivatedFrom(lower), Filter::ActivatedTo(upper)) =
        (&filters[from].filter, &filters[to].filter)
        && upper < lower
    {
        let (lower, upper) = (*upper, *lower);
        filters[from].filter = Filter::ActivatedFrom(lower);
        filters[to].filter = Filter::ActivatedTo(upper);
    }
}
