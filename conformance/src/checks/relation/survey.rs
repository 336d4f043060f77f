use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::OnceCell;

use super::*;
use crate::checks::State;

/// The instances at the surveyed addresses, read once in a run and shared by its checks.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Its number among the surveys that the checks of a run share.
    generation: Option<usize>,
    /// The search that read it.
    pub(crate) request: Request,
    pub(crate) addresses: Vec<IpAddr>,
    /// The tester's spellings: a service may know an address only by its stored spelling.
    spellings: BTreeMap<IpAddr, String>,
    /// Created on first use.
    pub(super) batches: OnceLock<Vec<Query>>,
    pub(crate) instances: BTreeMap<i64, Instance>,
    /// Ids of the instances of some of the orders that the tester supplied.
    pub(crate) orders: BTreeMap<String, BTreeSet<i64>>,
}

/// The surveys of a run: one, and another one whenever the data has changed, up to a small limit.
#[derive(Debug, Default)]
pub(crate) struct Surveys {
    generations: [OnceCell<Survey>; 4],
    current: AtomicUsize,
}

/// The batches of [`Survey::batches`].
pub(crate) const BATCHES: [&str; 5] = [
    "addresses",
    "addresses with ports",
    "IPv6 addresses with ports",
    "addresses with and without ports",
    "IPv4 addresses with ports",
];

/// The survey of this run, which the first caller reads. The case is skipped when none of the searched addresses has an instance.
pub(crate) async fn survey<'a>(probe: &Probe<'a>) -> Result<&'a Survey, Stop> {
    let Surveys { generations, current } = &probe.state::<State>()?.surveys;
    let generation = current.load(Ordering::Relaxed);
    let read = || probe.as_control(Survey::CONTROL, Survey::read(probe, generation));
    let survey = generations[generation].get_or_try_init(read).await?;
    if survey.instances.is_empty() {
        let lacks = "none of the searched addresses has an instance";
        return Err(lacks_addresses(probe, lacks, "addresses of instances"));
    }
    Ok(survey)
}

impl Survey {
    /// The label of its requests as a shared control.
    pub(crate) const CONTROL: &'static str = "survey";

    /// Maximum number of surveyed addresses: enough to see every kind of instance, few enough for one page.
    const MAX_ADDRESSES: usize = 64;
    /// Maximum number of surveyed orders.
    const MAX_ORDERS: usize = 3;
    /// Addresses of each order that are always surveyed.
    const OF_EACH_ORDER: usize = 8;
    /// Maximum number of filters of each kind that combinations use.
    const MAX_CANDIDATES: usize = 4;

    async fn read(probe: &Probe<'_>, generation: usize) -> Result<Self, Stop> {
        let search = &probe.contract().search;
        let facts = probe.facts();
        let ip = |item: &str| Some((address_of(item)?.0, without_port(item).to_owned()));
        let chosen = facts.orders.iter().take(Self::MAX_ORDERS);
        let of_orders = chosen.clone().flat_map(|order| order.addresses.iter().take(Self::OF_EACH_ORDER));
        let of_orders: Vec<_> = of_orders.map(String::as_str).collect();
        let spread = probe.own_addresses(Self::MAX_ADDRESSES - of_orders.len());
        let mut spellings = BTreeMap::new();
        let mut addresses = Vec::new();
        for (ip, spelling) in spread.into_iter().chain(of_orders).filter_map(ip) {
            if addresses.len() < search.distinct_items && !spellings.contains_key(&ip) {
                spellings.insert(ip, spelling);
                addresses.push(ip);
            }
        }
        if addresses.is_empty() {
            let lacks = "no supplied address can be parsed";
            return Err(lacks_addresses(probe, lacks, "IPv4 or IPv6 addresses"));
        }
        let request = probe.search(addresses.iter().filter_map(|ip| spellings.get(ip)).map(String::as_str));
        let instances = read(probe, &request).await?.instances;
        let mut orders = BTreeMap::new();
        for order in chosen {
            let asked = kinds().filter(|kind| kind.field.is_none()).fold(request.clone(), |request, kind| {
                request.field(&kind.property.name, order.number.as_str())
            });
            // Any check may survey, so `search.order-number.held` reports a wrong or missing order.
            if let Ok(held) = read_if_accepted(probe, &asked).await? {
                orders.insert(order.number.clone(), held.ids());
            }
        }
        let (generation, batches) = (Some(generation), OnceLock::new());
        Ok(Self { generation, request, addresses, spellings, batches, instances, orders })
    }

    /// A survey of its own, which only one case uses.
    pub(crate) async fn alone(probe: &Probe<'_>, query: &Query) -> Result<Self, Stop> {
        let request = query.request(probe);
        let instances = read(probe, &request).await?.instances;
        let addresses = query.items.iter().filter_map(|item| Some(address_of(item)?.0)).collect();
        let (spellings, batches, orders) = (BTreeMap::new(), OnceLock::new(), BTreeMap::new());
        Ok(Self { generation: None, request, addresses, spellings, batches, instances, orders })
    }

    /// The search that reads all of it.
    pub(crate) fn query(&self) -> Query {
        Query { name: Some("the searched addresses"), ..Query::new(self.items()) }
    }

    /// Every address as an item.
    pub(crate) fn items(&self) -> Vec<String> {
        self.addresses.iter().map(|ip| self.spelt(*ip)).collect()
    }

    /// An address in the tester's spelling.
    pub(crate) fn spelt(&self, ip: IpAddr) -> String {
        self.spellings.get(&ip).cloned().unwrap_or_else(|| ip.to_string())
    }

    /// The same item in another spelling: that of an IPv6 address in full and in upper case, or the tester's.
    pub(crate) fn respelt(&self, item: &str) -> Option<String> {
        let known = || match address_of(item)? {
            (ip, Some(port)) => Some(self.spelt_with(ip, u16::try_from(port).ok()?)),
            (ip, None) => Some(self.spelt(ip)),
        };
        respell(item).filter(|other| other != item).or_else(known).filter(|other| other != item)
    }

    /// An address and a port as an item of `ips`.
    pub(crate) fn spelt_with(&self, ip: IpAddr, port: u16) -> String {
        let spelling = self.spelt(ip);
        // An IPv4-mapped address counts as IPv4 and may be spelled as IPv6.
        if spelling.contains(':') { format!("[{spelling}]:{port}") } else { format!("{spelling}:{port}") }
    }

    /// An instance as an item of `ips` with its port; `None` for a port outside the range of items.
    pub(crate) fn item(&self, search: &Search, instance: &Instance) -> Option<String> {
        let port = Some(instance.port).filter(|port| search.ports.contains(port))?;
        Some(self.spelt_with(instance.ip, u16::try_from(port).ok()?))
    }

    /// Reads the addresses again, and returns what shows that they have the same instances as before. None when they have others.
    pub(crate) async fn confirm(&self, probe: &Probe<'_>) -> Result<Option<Vec<Exchange>>, Stop> {
        let again = read(probe, &self.request).await?;
        if again.instances == self.instances {
            return Ok(Some(again.exchanges));
        }
        if let Some(generation) = self.generation {
            // Once for all checks that found it stale. The last one stays.
            let Surveys { generations, current } = &probe.state::<State>()?.surveys;
            current.fetch_max((generation + 1).min(generations.len() - 1), Ordering::Relaxed);
            probe.mark_stale();
        }
        Ok(None)
    }

    pub(crate) fn admitted(&self, filters: &[Filter]) -> BTreeSet<i64> {
        self.ids_where(|instance| filters.iter().all(|filter| filter.admits(instance, &self.orders)))
    }

    pub(crate) fn ids_where(&self, test: impl Fn(&Instance) -> bool) -> BTreeSet<i64> {
        self.instances.values().filter(|instance| test(instance)).map(|instance| instance.id).collect()
    }

    /// The surveyed instances that these items find.
    pub(crate) fn found_by(&self, items: &[String]) -> BTreeSet<i64> {
        Items::read(items).map(|items| self.ids_where(|instance| items.find(instance))).unwrap_or_default()
    }

    /// Each distinct value of a field, most frequent first.
    pub(crate) fn values<T: Ord + Clone>(&self, field: impl Fn(&Instance) -> Option<T>) -> Vec<T> {
        let mut counts: BTreeMap<T, usize> = BTreeMap::new();
        for value in self.instances.values().filter_map(field) {
            *counts.entry(value).or_default() += 1;
        }
        let mut values: Vec<_> = counts.into_iter().collect();
        values.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        values.into_iter().map(|(value, _)| value).collect()
    }

    /// The number of each group that an instance is in, or of what another filter by number finds, most frequent first.
    pub(crate) fn numbers(&self, property: &str) -> Vec<i64> {
        let kind = kind_of(property);
        self.values(|instance| match instance.value(kind?) {
            FieldValue::Number(number) => Some(*number),
            _ => None,
        })
    }

    /// A filter for each value of a field, most frequent first.
    pub(crate) fn filters(&self, kind: FilterKind) -> Vec<Filter> {
        let filters = self.values(|instance| kind.shown(instance)).into_iter().map(|value| kind.with(value));
        filters.filter(|filter| filter.has_one_spelling(&self.instances)).collect()
    }

    /// The filter of one kind with the value of an instance, unless the service may take that for another value.
    pub(crate) fn filter(&self, kind: FilterKind, instance: &Instance) -> Option<Filter> {
        let order = || self.orders.iter().find(|(_, held)| held.contains(&instance.id));
        let filter = match kind.field {
            Some(_) => kind.with(kind.shown(instance)?),
            None => kind.text(order()?.0),
        };
        Some(filter).filter(|filter| filter.has_one_spelling(&self.instances))
    }

    /// Filters of one kind that some instance passes. A bound excludes some instances.
    pub(crate) fn candidates(&self, kind: FilterKind) -> Vec<Filter> {
        let sixths = |parts: [usize; 3]| {
            let values = self.instances.values().filter_map(|instance| kind.shown(instance));
            let values: Vec<_> = values.collect::<BTreeSet<_>>().into_iter().collect();
            let at = |part: usize| Some(kind.with(values.get(values.len() * part / 6)?.clone()));
            parts.into_iter().filter_map(at).collect()
        };
        let mut filters: Vec<_> = match kind.matching {
            Match::AtLeast => sixths([2, 1, 4]),
            Match::AtMost => sixths([4, 5, 2]),
            _ if kind.field.is_some() => self.filters(kind),
            _ => {
                let held = self.orders.iter().filter(|(_, held)| !held.is_empty());
                held.map(|(number, _)| kind.text(number)).collect()
            }
        };
        filters.truncate(Self::MAX_CANDIDATES);
        filters
    }

    /// The precision of the service's times: a second, or what their fractional digits show.
    pub(crate) fn step(&self) -> SignedDuration {
        match self.instances.values().map(|instance| instance.digits).max().unwrap_or(0) {
            0 => SignedDuration::from_secs(1),
            1..=3 => SignedDuration::from_millis(1),
            4..=6 => SignedDuration::from_micros(1),
            _ => SignedDuration::from_nanos(1),
        }
    }

    /// Every address and port at which an instance of the wanted kind was seen.
    pub(crate) fn with_ports(&self, search: &Search, wanted: impl Fn(&Instance) -> bool) -> Vec<String> {
        let wanted = self.instances.values().filter(|instance| wanted(instance));
        let items: BTreeSet<String> = wanted.filter_map(|instance| self.item(search, instance)).collect();
        items.into_iter().take(search.distinct_items).collect()
    }

    /// The batches that combinations of filters are tested with.
    pub(crate) fn batches(&self, search: &Search) -> &[Query] {
        self.batches.get_or_init(|| {
            let mut ports: BTreeMap<IpAddr, BTreeSet<i64>> = BTreeMap::new();
            for instance in self.instances.values() {
                ports.entry(instance.ip).or_default().insert(instance.port);
            }
            // Leaves out one port of each address that has several: the search must not find it.
            let is_requested = |instance: &Instance| {
                let left_out =
                    ports.get(&instance.ip).filter(|ports| ports.len() > 1).and_then(BTreeSet::last);
                left_out != Some(&instance.port)
            };
            let of_family = |is_v6| {
                self.with_ports(search, |instance| instance.ip.is_ipv6() == is_v6 && is_requested(instance))
            };
            // Every other address without port, the others with their ports.
            let bare: BTreeSet<IpAddr> = self.addresses.iter().step_by(2).copied().collect();
            let mut mixed = self.with_ports(search, |instance| !bare.contains(&instance.ip));
            mixed.truncate(search.distinct_items.saturating_sub(bare.len()));
            mixed.extend(bare.iter().map(|ip| self.spelt(*ip)));
            let ported = self.with_ports(search, is_requested);
            let items = [self.items(), ported, of_family(true), mixed, of_family(false)];
            let batches = BATCHES.into_iter().zip(items);
            let batches = batches.map(|(name, items)| Query { name: Some(name), ..Query::new(items) });
            batches.filter(|batch| !self.found_by(&batch.items).is_empty()).collect()
        })
    }

    /// Each two of some instances at different addresses.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (&Instance, &Instance)> {
        const MAX_INSTANCES: usize = 40;
        let instances = || self.instances.values().take(MAX_INSTANCES);
        let pairs = instances().flat_map(move |one| instances().map(move |other| (one, other)));
        pairs.filter(|(one, other)| one.ip != other.ip)
    }
}
