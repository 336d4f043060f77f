//! The batch of a search, and which instances it finds.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::address::Item;
use super::behaviour::{Tags, tags_of_instance};
use super::search::other;
use super::search_input::Query;
use super::world::{Instance, MAIN_AT, World};
use super::{Reject, Server};

fn wrong() -> Reject {
    Reject::input("`ips` is not valid")
}

impl Server {
    /// Validates, de-duplicates and counts the batch.
    pub(super) fn items(&self, body: &Map<String, Value>, tags: &Tags) -> Result<Vec<Item>, Reject> {
        let raw = match body.get("ips") {
            Some(Value::Array(raw)) => raw.clone(),
            other => self.not_a_list(other, tags).ok_or_else(wrong)?,
        };
        let count = raw.len();
        if count == 0 {
            return match () {
                () if self.on("search-empty-batch-finds-nothing", tags) => Ok(Vec::new()),
                () if self.on("search-empty-batch-finds-all", tags) => Ok(self.everything()),
                () => Err(wrong()),
            };
        }
        let known = || known! { count };
        let is_over = count > 10_000 && !self.breaks("search.raw-allowed", tags, known);
        let most = if is_over { 10_000 } else { count };
        let is_refused = self.breaks("search.raw-refused", tags, known);
        if is_over && !self.on("search-raw-truncated", tags) || is_refused {
            return Err(Reject::input("`ips`: expected 1 to 10000 items"));
        }
        let read = raw.iter().take(most).enumerate().map(|(at, value)| self.raw_item(value, at, count, tags));
        let items = read.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
        if items.is_empty() { Err(wrong()) } else { self.deduplicated(items, tags) }
    }

    fn not_a_list(&self, sent: Option<&Value>, tags: &Tags) -> Option<Vec<Value>> {
        let known = || known! { sent => sent.is_some(), ips => sent, filtered => tags.contains(&"filtered") };
        self.instead("search.no-list", tags, known)
    }

    fn everything(&self) -> Vec<Item> {
        let world = self.world();
        let item = |instance: &Instance| Item { ip: instance.ip, port: None, text: instance.ip.to_string() };
        world.accounts[MAIN_AT].instances.iter().map(item).collect()
    }

    fn raw_item(&self, value: &Value, at: usize, count: usize, tags: &Tags) -> Result<Option<Item>, Reject> {
        let Some(text) = value.as_str() else {
            let inner: Option<Option<String>> = self.instead("search.item", tags, || known! { value });
            return inner.map(|inner| self.item(&inner?, tags)).ok_or_else(wrong);
        };
        if let Some(item) = self.item(text, tags) {
            return Ok(Some(item));
        }
        let is_skipped = self.breaks("search.item-skipped", tags, || known! { at, count, text });
        if is_skipped { Ok(None) } else { Err(wrong()) }
    }

    fn deduplicated(&self, items: Vec<Item>, tags: &Tags) -> Result<Vec<Item>, Reject> {
        let raw = items.len();
        let mut first: Vec<Item> = Vec::new();
        let mut known: HashMap<(IpAddr, Option<u16>), usize> = HashMap::new();
        for item in &items {
            let at = *known.entry((item.ip, item.port)).or_insert(first.len());
            let Some(kept) = first.get_mut(at) else {
                first.push(item.clone());
                continue;
            };
            let is_stored = item.text == item.ip.to_string();
            let known = || known! { is_stored };
            if kept.text != item.text && self.breaks("search.later-text", tags, known) {
                kept.text.clone_from(&item.text);
            }
        }
        let counted = self.instead("search.counted", tags, || {
            let addresses = first.iter().map(|item| item.ip).collect::<HashSet<_>>().len();
            let texts = items.iter().map(|item| (&item.text, item.port)).collect::<HashSet<_>>().len();
            let count = |fits: fn(&&Item) -> bool| first.iter().filter(fits).count();
            let (ipv4, portless) = (count(|item| item.ip.is_ipv4()), count(|item| item.port.is_none()));
            known! { raw, addresses, texts, ipv4, portless }
        });
        let count = counted.unwrap_or(first.len());
        let known = || known! { count };
        let is_over = count > 500 && !self.breaks("search.limit-allowed", tags, known);
        if is_over && self.on("search-limit-truncates", tags) {
            first.truncate(500);
            return Ok(first);
        }
        if is_over || self.breaks("search.limit-refused", tags, known) {
            return Err(Reject::input("`ips`: expected at most 500 different items"));
        }
        if raw != first.len() && self.on("search-duplicates-kept", tags) {
            return Ok(items);
        }
        if self.on("search-deduplicated-by-address", tags) {
            let mut seen = HashSet::new();
            first.retain(|item| seen.insert(item.ip));
        }
        Ok(first)
    }

    /// The items that are matched: all of them, but for faults.
    fn matched(&self, query: &Query, tags: &Tags) -> Vec<Item> {
        let mut items = query.items.clone();
        let count = items.len();
        items.truncate(self.instead("search.matched", tags, || known! { count }).unwrap_or(count));
        let has = |ported: bool| items.iter().any(|item| item.port.is_some() == ported);
        let is_mixed = has(true) && has(false);
        if is_mixed && self.on("search-portless-ignored-beside-ported", tags) {
            items.retain(|item| item.port.is_some());
        }
        if is_mixed && self.on("search-ported-ignored-beside-portless", tags) {
            items.retain(|item| item.port.is_none());
        }
        let ported: HashSet<IpAddr> =
            items.iter().filter(|item| item.port.is_some()).map(|item| item.ip).collect();
        let overlaps = |item: &Item| item.port.is_none() && ported.contains(&item.ip);
        if items.iter().any(overlaps) && self.on("search-port-overrides-whole-address", tags) {
            items.retain(|item| !overlaps(item));
        }
        items
    }

    /// Instances of the account that the batch matches, before the filters; may hold some twice when a fault says so.
    pub(super) fn matches(&self, world: &World, account: usize, query: &Query, tags: &Tags) -> Vec<Instance> {
        let items = self.matched(query, tags);
        let mut by_address: HashMap<IpAddr, Vec<&Item>> = HashMap::new();
        for item in &items {
            by_address.entry(item.ip).or_default().push(item);
        }
        let mut found: Vec<Instance> = Vec::new();
        let mut taken: HashMap<IpAddr, usize> = HashMap::new();
        for instance in self.searched(world, account, query, tags) {
            let own = by_address.get(&instance.ip).map_or(&[][..], Vec::as_slice);
            let hits = self.hits(instance, own, &items, tags);
            if hits == 0 {
                continue;
            }
            let seen = taken.entry(instance.ip).or_default();
            *seen += 1;
            let portless = own.iter().any(|item| item.port.is_none());
            let Instance { status, group, .. } = instance;
            let known = || {
                let (v6, activated) = (instance.ip.is_ipv6(), instance.activated.is_some());
                known! { seen, portless, v6, port => instance.port, status, group, activated }
            };
            if self.breaks("search.hidden", tags, known) {
                continue;
            }
            let known = || {
                let repeated = query.items.iter().filter(|item| item.ip == instance.ip).count() > 1;
                known! { hits, repeated }
            };
            let times = self.instead("search.times", tags, known).unwrap_or(1);
            found.extend(std::iter::repeat_n(instance.clone(), times));
        }
        found.truncate(self.instead("search.most-found", tags, || known! {}).unwrap_or(found.len()));
        found
    }

    /// What a search looks through: the account's instances, but for faults.
    fn searched<'w>(
        &self,
        world: &'w World,
        account: usize,
        query: &Query,
        tags: &Tags,
    ) -> Vec<&'w Instance> {
        let mut all: Vec<_> = world.accounts[account].instances.iter().collect();
        if !self.fault.is_at("search.foreign") {
            return all;
        }
        let own: HashSet<IpAddr> = all.iter().map(|instance| instance.ip).collect();
        let asked: HashMap<IpAddr, Option<u16>> =
            query.items.iter().map(|item| (item.ip, item.port)).collect();
        for instance in &world.accounts[other(account)].instances {
            let Some(port) = asked.get(&instance.ip) else { continue };
            let known = || {
                known! {
                    shared => own.contains(&instance.ip),
                    alone => own.is_empty(),
                    v6 => instance.ip.is_ipv6(),
                    port => *port == Some(instance.port),
                    order => query.order.as_ref() == Some(&instance.order),
                    group => query.group.is_some() && query.group == instance.group,
                    status => query.status.as_deref() == Some(instance.status),
                    country => query.country.as_deref() == Some(instance.country),
                    range => query.from.is_some() || query.to.is_some(),
                    items => query.items.len(),
                }
            };
            if self.breaks("search.foreign", tags, known) {
                all.push(instance);
            }
        }
        all
    }

    /// How many items of the batch an instance fits: those with its address, and for faults all of them.
    fn hits(&self, instance: &Instance, items: &[&Item], all: &[Item], tags: &Tags) -> usize {
        let tags = &tags_of_instance(tags, instance);
        let (port, stored) = (instance.port, instance.ip.to_string());
        let spelling = |item: &Item| !self.decides("stored-spelling") || item.text == stored;
        let fits = |item: &&&Item| item.port.is_none_or(|asked| asked == port) && spelling(item);
        let hits = items.iter().filter(fits).count();
        if hits > 0 || !(self.fault.is_at("search.port") || self.fault.is_at("search.other-item")) {
            return hits;
        }
        let by_port = |sent: u16| {
            let crossed = || all.iter().any(|item| item.port == Some(port));
            self.breaks("search.port", tags, || known! { sent, port, crossed => crossed() })
        };
        let by_other = |item: &Item| {
            self.breaks("search.other-item", tags, || {
                let ported = item.port.is_some();
                let network = match (item.ip, instance.ip) {
                    (IpAddr::V6(one), IpAddr::V6(other)) => one.segments()[..4] == other.segments()[..4],
                    _ => false,
                };
                known! { ip => item.ip, stored, ported, same_port => item.port == Some(port), network }
            })
        };
        let is_hit = items.iter().filter_map(|item| item.port).any(by_port)
            || items.is_empty() && all.iter().any(by_other);
        usize::from(is_hit)
    }
}
