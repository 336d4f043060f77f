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
        let accepts = [
            (true, "search-raw-unlimited"),
            (count == 10_001, "search-raw-10001"),
            (count <= 20_000, "search-raw-up-to-20000"),
        ];
        let refuses = [
            (count == 10_000, "search-raw-10000-refused"),
            (count > 1000, "search-raw-above-1000-refused"),
            (count > 500, "search-raw-above-500-refused"),
        ];
        let is_over = count > 10_000 && !self.breaks_any(tags, accepts);
        let most = if is_over { 10_000 } else { count };
        if is_over && !self.on("search-raw-truncated", tags) || self.breaks_any(tags, refuses) {
            return Err(Reject::input("`ips`: expected 1 to 10000 items"));
        }
        let read = raw.iter().take(most).enumerate().map(|(at, value)| self.raw_item(value, at, count, tags));
        let items = read.filter_map(Result::transpose).collect::<Result<Vec<_>, _>>()?;
        if items.is_empty() { Err(wrong()) } else { self.deduplicated(items, tags) }
    }

    fn not_a_list(&self, sent: Option<&Value>, tags: &Tags) -> Option<Vec<Value>> {
        let one = || vec![Value::from("45.10.0.4")];
        let is_missing = sent.is_none_or(Value::is_null);
        let is_filtered = tags.contains(&"filtered");
        let is_scalar = matches!(sent, Some(Value::Number(_) | Value::Bool(_)));
        let text = sent.and_then(Value::as_str);
        let texts = text.filter(|text| text.contains(','));
        let rules = [
            ("missing-finds-all", is_missing.then(one)),
            ("null-finds-all", (is_missing && sent.is_some()).then(one)),
            ("missing-with-filter", (is_missing && is_filtered).then(one)),
            ("single-text", text.map(|text| vec![text.into()])),
            ("comma-text", texts.map(|text| text.split(',').map(Value::from).collect())),
            ("object", matches!(sent, Some(Value::Object(_))).then(one)),
            ("number", is_scalar.then(one)),
        ];
        self.first_broken_part("search-ips", tags, rules)
    }

    fn everything(&self) -> Vec<Item> {
        let world = self.world();
        let item = |instance: &Instance| Item { ip: instance.ip, port: None, text: instance.ip.to_string() };
        world.accounts[MAIN_AT].instances.iter().map(item).collect()
    }

    fn raw_item(&self, value: &Value, at: usize, count: usize, tags: &Tags) -> Result<Option<Item>, Reject> {
        let Some(text) = value.as_str() else {
            let inner = |value: Option<&Value>| value?.as_str().and_then(|text| self.item(text, tags));
            let rules = [
                (value.is_null(), "null-skipped", None),
                (value.is_number(), "number", None),
                (value.is_array(), "list-flattened", inner(value.get(0))),
                (value.is_object(), "object", inner(value.get("ip"))),
                (value.is_boolean(), "boolean", None),
                (true, "other-type-skipped", None),
            ];
            let rules = rules.map(|(holds, rule, item)| (rule, holds.then_some(item)));
            return self.first_broken_part("search-item", tags, rules).ok_or_else(wrong);
        };
        if let Some(item) = self.item(text, tags) {
            return Ok(Some(item));
        }
        let is_among = count > 1;
        let colons = text.matches(':').count();
        let rules = [
            (true, "search-invalid-skipped"),
            (at > 0, "search-only-first-validated"),
            (is_among && at + 1 == count, "search-last-not-validated"),
            (at >= 100, "search-first-100-validated"),
            (at >= 1000, "search-first-1000-validated"),
            (is_among, "search-invalid-skipped-among-valid"),
            (is_among && text.is_empty(), "search-empty-item-skipped"),
            (is_among && colons > 0, "search-invalid-with-port-skipped"),
            (is_among && colons > 1, "search-invalid-ipv6-skipped"),
        ];
        if self.breaks_any(tags, rules) { Ok(None) } else { Err(wrong()) }
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
            let rules = [(true, "search-last-text-kept"), (is_stored, "search-stored-text-kept")];
            if kept.text != item.text && self.breaks_any(tags, rules) {
                kept.text.clone_from(&item.text);
            }
        }
        let addresses = first.iter().map(|item| item.ip).collect::<HashSet<_>>().len();
        let texts = items.iter().map(|item| (&item.text, item.port)).collect::<HashSet<_>>().len();
        let count = |fits: fn(&&Item) -> bool| first.iter().filter(fits).count();
        let counted = first.len();
        let rules = [
            ("search-limit-counts-raw-items", raw),
            ("search-limit-counts-addresses", addresses),
            ("search-limit-counts-spellings", texts),
            ("search-limit-ignores-ipv6", count(|item| item.ip.is_ipv4())),
            ("search-limit-ignores-ported", count(|item| item.port.is_none())),
        ];
        let rules =
            rules.map(|(rule, other)| (rule, Some(other).filter(|other| (*other > 500) != (counted > 500))));
        let counted = self.first_broken(tags, rules).unwrap_or(counted);
        let accepts = [
            (counted == 501, "search-limit-501"),
            (counted <= 1000, "search-limit-1000"),
            (true, "search-limit-none"),
            (true, "search-limit-by-declaration"),
        ];
        let refuses = [
            (counted == 500, "search-limit-499"),
            (counted > 10, "search-limit-by-smallest-declaration"),
            (counted > 100, "search-limit-100"),
            (counted > 256, "search-limit-256"),
        ];
        let is_over = counted > 500 && !self.breaks_any(tags, accepts);
        if is_over && self.on("search-limit-truncates", tags) {
            first.truncate(500);
            return Ok(first);
        }
        if is_over || self.breaks_any(tags, refuses) {
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
        let rules = [
            (count > 100, "search-first-100-matched", 100),
            (count > 250, "search-first-250-matched", 250),
            (count > 1, "search-last-not-matched", count.saturating_sub(1)),
            (count > 1, "search-first-only-matched", 1),
            (count > 100, "search-last-chunk-lost", count - count % 100),
            (count > 499, "search-499-matched", 499),
        ];
        items.truncate(self.first_broken_of(tags, rules).unwrap_or(count));
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
            let rules = [
                (*seen > 1 && portless, "search-one-port-of-an-address"),
                (*seen > 3 && portless, "search-three-ports-of-an-address"),
                (portless && instance.port != 8080, "search-default-port-only"),
                (portless && instance.ip.is_ipv6(), "search-ipv6-portless-finds-nothing"),
                (portless && instance.port == 65_535, "search-port-65535-not-found"),
                (instance.status == "failed", "search-failed-hidden"),
                (instance.status == "provisioning", "search-provisioning-hidden"),
                (instance.group.is_none(), "search-ungrouped-hidden"),
                (instance.activated.is_none(), "search-not-activated-hidden"),
            ];
            if self.breaks_any(tags, rules) {
                continue;
            }
            let is_repeated = query.items.iter().filter(|item| item.ip == instance.ip).count() > 1;
            let rules =
                [(hits > 1, "search-found-once-per-item", hits), (is_repeated, "search-duplicates-kept", 2)];
            let times = self.first_broken_of(tags, rules).unwrap_or(1);
            found.extend(std::iter::repeat_n(instance.clone(), times));
        }
        let rules = [
            (true, "search-1000-matches-at-most", 1000),
            (true, "search-500-matches-at-most", 500),
            (true, "search-1024-matches-at-most", 1024),
        ];
        found.truncate(self.first_broken_of(tags, rules).unwrap_or(found.len()));
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
        if !self.fault.is_of("search-foreign-") && !self.fault.is_of("search-all-") {
            return all;
        }
        let own: HashSet<IpAddr> = all.iter().map(|instance| instance.ip).collect();
        let asked: HashMap<IpAddr, Option<u16>> =
            query.items.iter().map(|item| (item.ip, item.port)).collect();
        let has_range = query.from.is_some() || query.to.is_some();
        for instance in &world.accounts[other(account)].instances {
            let Some(port) = asked.get(&instance.ip) else { continue };
            let rules = [
                (true, "search-all-accounts"),
                (own.contains(&instance.ip), "search-foreign-of-shared-address"),
                (*port == Some(instance.port), "search-foreign-with-port"),
                (instance.ip.is_ipv6(), "search-foreign-ipv6"),
                (query.order.as_ref() == Some(&instance.order), "search-foreign-by-order"),
                (query.group.is_some() && query.group == instance.group, "search-foreign-by-group"),
                (query.status.as_deref() == Some(instance.status), "search-foreign-by-status"),
                (query.country.as_deref() == Some(instance.country), "search-foreign-by-country"),
                (has_range, "search-foreign-by-time"),
                (query.items.len() > 100, "search-foreign-in-large-batch"),
                (own.is_empty(), "search-foreign-when-own-none"),
            ];
            if self.breaks_any(tags, rules) {
                all.push(instance);
            }
        }
        all
    }

    /// How many items of the batch an instance fits: those with its address, and for faults all of them.
    fn hits(&self, instance: &Instance, items: &[&Item], all: &[Item], tags: &Tags) -> usize {
        const FAMILIES: [&str; 4] = ["search-port-", "search-ports-", "search-address-", "search-ipv6-"];
        let tags = &tags_of_instance(tags, instance);
        let port = instance.port;
        let spelling = |item: &Item| !self.decides("stored-spelling") || item.text == instance.ip.to_string();
        let fits = |item: &&&Item| item.port.is_none_or(|asked| asked == port) && spelling(item);
        let hits = items.iter().filter(fits).count();
        if hits > 0 || !FAMILIES.iter().any(|family| self.fault.is_of(family)) {
            return hits;
        }
        let (stored, text) = (instance.ip.to_string(), port.to_string());
        let sent: Vec<u16> = items.iter().filter_map(|item| item.port).collect();
        let any_sent = |fits: &dyn Fn(u16) -> bool| sent.iter().any(|sent| fits(*sent));
        // An item of the batch fits, and none has the address of the instance.
        let any_other = |fits: &dyn Fn(&Item) -> bool| items.is_empty() && all.iter().any(fits);
        let has_port = |item: &Item| item.port == Some(port);
        let is_near = |item: &Item| {
            let text = item.ip.to_string();
            item.port.is_none() && stored.starts_with(&text) && stored.len() > text.len()
        };
        let is_of_net = |item: &Item| match (item.ip, instance.ip) {
            (IpAddr::V6(one), IpAddr::V6(other)) => {
                item.port.is_none() && one.segments()[..4] == other.segments()[..4]
            }
            _ => false,
        };
        let rules: [(&str, &dyn Fn() -> bool); 9] = [
            ("search-port-ignored", &|| any_sent(&|_| true)),
            ("search-ports-crossed", &|| any_sent(&|_| true) && all.iter().any(has_port)),
            ("search-port-prefix", &|| any_sent(&|sent| text.starts_with(&sent.to_string()))),
            ("search-port-part", &|| any_sent(&|sent| text.contains(&sent.to_string()))),
            ("search-port-neighbour", &|| any_sent(&|sent| sent.abs_diff(port) == 1)),
            ("search-port-and-above", &|| any_sent(&|sent| sent <= port)),
            ("search-address-ignored-with-port", &|| any_other(&has_port)),
            ("search-address-prefix", &|| any_other(&is_near)),
            ("search-ipv6-network", &|| any_other(&is_of_net)),
        ];
        usize::from(rules.into_iter().any(|(rule, holds)| self.on(rule, tags) && holds()))
    }
}
