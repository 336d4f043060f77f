//! The batch of a search, and which instances it finds.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::address::Item;
use super::behaviour::{Tags, tags_of_instance};
use super::search_input::Query;
use super::world::{Instance, MAIN_AT, SECOND_AT, World};
use super::{Reject, Server};

fn wrong() -> Reject {
    Reject::input("`ips` is not valid")
}

impl Server {
    /// Validates, de-duplicates and counts the batch.
    pub(super) fn items(&self, body: &Map<String, Value>, tags: &Tags) -> Result<Vec<Item>, Reject> {
        let raw = match body.get("ips") {
            Some(Value::Array(raw)) => raw.clone(),
            other => self.not_a_list(other, tags)?,
        };
        let count = raw.len();
        if count == 0 {
            if self.on("search-empty-batch-finds-nothing", tags) {
                return Ok(Vec::new());
            }
            return if self.on("search-empty-batch-finds-all", tags) {
                Ok(self.everything())
            } else {
                Err(wrong())
            };
        }
        let refused = count > 10_000
            && !self.on("search-raw-unlimited", tags)
            && !(count == 10_001 && self.on("search-raw-10001", tags))
            && !(count <= 20_000 && self.on("search-raw-up-to-20000", tags))
            || count == 10_000 && self.on("search-raw-10000-refused", tags)
            || count > 1000 && self.on("search-raw-above-1000-refused", tags)
            || count > 500 && self.on("search-raw-above-500-refused", tags);
        if refused && !(count > 10_000 && self.on("search-raw-truncated", tags)) {
            return Err(Reject::input("`ips`: expected 1 to 10000 items"));
        }
        let mut items = Vec::new();
        for (at, value) in raw.iter().take(10_000.max(if refused { 0 } else { count })).enumerate() {
            if let Some(item) = self.raw_item(value, at, count, tags)? {
                items.push(item);
            }
        }
        if items.is_empty() {
            return Err(wrong());
        }
        self.deduplicated(items, tags)
    }

    fn not_a_list(&self, sent: Option<&Value>, tags: &Tags) -> Result<Vec<Value>, Reject> {
        let one = || Value::from("45.10.0.4");
        match sent {
            None | Some(Value::Null) => {
                if self.on("search-ips-missing-finds-all", tags)
                    || sent.is_some() && self.on("search-ips-null-finds-all", tags)
                {
                    return Ok(vec![one()]);
                }
                if tags.contains(&"filtered") && self.on("search-ips-missing-with-filter", tags) {
                    return Ok(vec![one()]);
                }
            }
            Some(text @ Value::String(inner)) => {
                if self.on("search-ips-single-text", tags) {
                    return Ok(vec![text.clone()]);
                }
                if inner.contains(',') && self.on("search-ips-comma-text", tags) {
                    return Ok(inner.split(',').map(Value::from).collect());
                }
            }
            Some(Value::Object(_)) if self.on("search-ips-object", tags) => return Ok(vec![one()]),
            Some(Value::Number(_) | Value::Bool(_)) if self.on("search-ips-number", tags) => {
                return Ok(vec![one()]);
            }
            _ => {}
        }
        Err(wrong())
    }

    fn everything(&self) -> Vec<Item> {
        let world = self.world();
        let item = |instance: &Instance| Item { ip: instance.ip, port: None, text: instance.ip.to_string() };
        world.accounts[MAIN_AT].instances.iter().map(item).collect()
    }

    fn raw_item(&self, value: &Value, at: usize, count: usize, tags: &Tags) -> Result<Option<Item>, Reject> {
        let text = match value {
            Value::String(text) => text.as_str(),
            Value::Null if self.on("search-item-null-skipped", tags) => return Ok(None),
            Value::Number(_) if self.on("search-item-number", tags) => return Ok(None),
            Value::Array(inner) if self.on("search-item-list-flattened", tags) => {
                return Ok(inner.first().and_then(Value::as_str).and_then(|text| self.item(text, tags)));
            }
            Value::Object(inner) if self.on("search-item-object", tags) => {
                return Ok(inner.get("ip").and_then(Value::as_str).and_then(|text| self.item(text, tags)));
            }
            Value::Bool(_) if self.on("search-item-boolean", tags) => return Ok(None),
            _ if self.on("search-item-other-type-skipped", tags) => return Ok(None),
            _ => return Err(wrong()),
        };
        if let Some(item) = self.item(text, tags) {
            return Ok(Some(item));
        }
        let skipped = self.on("search-invalid-skipped", tags)
            || at > 0 && self.on("search-only-first-validated", tags)
            || count > 1 && at + 1 == count && self.on("search-last-not-validated", tags)
            || at >= 100 && self.on("search-first-100-validated", tags)
            || at >= 1000 && self.on("search-first-1000-validated", tags)
            || count > 1 && self.on("search-invalid-skipped-among-valid", tags)
            || count > 1 && text.is_empty() && self.on("search-empty-item-skipped", tags)
            || count > 1 && text.contains(':') && self.on("search-invalid-with-port-skipped", tags)
            || count > 1 && text.matches(':').count() > 1 && self.on("search-invalid-ipv6-skipped", tags);
        if skipped { Ok(None) } else { Err(wrong()) }
    }

    fn deduplicated(&self, items: Vec<Item>, tags: &Tags) -> Result<Vec<Item>, Reject> {
        let raw = items.len();
        let mut first: Vec<Item> = Vec::new();
        let mut known: HashMap<(IpAddr, Option<u16>), usize> = HashMap::new();
        for item in &items {
            match known.get(&(item.ip, item.port)) {
                None => {
                    known.insert((item.ip, item.port), first.len());
                    first.push(item.clone());
                }
                Some(at) => {
                    let stored = item.text == item.ip.to_string();
                    if first[*at].text != item.text
                        && (self.on("search-last-text-kept", tags)
                            || stored && self.on("search-stored-text-kept", tags))
                    {
                        first[*at].text.clone_from(&item.text);
                    }
                }
            }
        }
        let addresses: HashSet<IpAddr> = first.iter().map(|item| item.ip).collect();
        let texts: HashSet<(&str, Option<u16>)> =
            items.iter().map(|item| (item.text.as_str(), item.port)).collect();
        let counted = first.len();
        let rules = [
            (raw != counted, "search-limit-counts-raw-items", raw),
            (addresses.len() != counted, "search-limit-counts-addresses", addresses.len()),
            (texts.len() != counted, "search-limit-counts-spellings", texts.len()),
            (true, "search-limit-ignores-ipv6", first.iter().filter(|item| item.ip.is_ipv4()).count()),
            (true, "search-limit-ignores-ported", first.iter().filter(|item| item.port.is_none()).count()),
        ];
        let rules =
            rules.map(|(differs, rule, other)| (differs && (other > 500) != (counted > 500), rule, other));
        let counted = self.first_broken_of(tags, rules).unwrap_or(counted);
        let over = counted > 500
            && !(counted == 501 && self.on("search-limit-501", tags))
            && !(counted <= 1000 && self.on("search-limit-1000", tags))
            && !self.on("search-limit-none", tags)
            && !self.on("search-limit-by-declaration", tags);
        let under = counted == 500 && self.on("search-limit-499", tags)
            || counted > 10 && self.on("search-limit-by-smallest-declaration", tags)
            || counted > 100 && self.on("search-limit-100", tags)
            || counted > 256 && self.on("search-limit-256", tags);
        if over && self.on("search-limit-truncates", tags) {
            first.truncate(500);
            return Ok(first);
        }
        if over || under {
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

    /// Instances of the account that the batch matches, before the filters; may hold some twice when a fault says so.
    pub(super) fn matches(&self, world: &World, account: usize, query: &Query, tags: &Tags) -> Vec<Instance> {
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
        let mixed = has(true) && has(false);
        if mixed && self.on("search-portless-ignored-beside-ported", tags) {
            items.retain(|item| item.port.is_some());
        }
        if mixed && self.on("search-ported-ignored-beside-portless", tags) {
            items.retain(|item| item.port.is_none());
        }
        let ported: HashSet<IpAddr> =
            items.iter().filter(|item| item.port.is_some()).map(|item| item.ip).collect();
        let overlaps = |item: &Item| item.port.is_none() && ported.contains(&item.ip);
        if items.iter().any(overlaps) && self.on("search-port-overrides-whole-address", tags) {
            items.retain(|item| !overlaps(item));
        }
        let mut by_address: HashMap<IpAddr, Vec<&Item>> = HashMap::new();
        for item in &items {
            by_address.entry(item.ip).or_default().push(item);
        }
        let ports: HashSet<u16> = items.iter().filter_map(|item| item.port).collect();
        let mut found: Vec<Instance> = Vec::new();
        let mut taken: HashMap<IpAddr, usize> = HashMap::new();
        for (_, instance) in self.searched(world, account, query, tags) {
            let hits = self.hits(
                instance,
                by_address.get(&instance.ip).map_or(&[][..], Vec::as_slice),
                &items,
                &ports,
                tags,
            );
            if hits == 0 {
                continue;
            }
            let seen = taken.entry(instance.ip).or_default();
            *seen += 1;
            let seen = *seen;
            let portless = by_address
                .get(&instance.ip)
                .is_some_and(|items| items.iter().any(|item| item.port.is_none()));
            if seen > 1 && portless && self.on("search-one-port-of-an-address", tags)
                || seen > 3 && portless && self.on("search-three-ports-of-an-address", tags)
                || portless && instance.port != 8080 && self.on("search-default-port-only", tags)
                || portless && instance.ip.is_ipv6() && self.on("search-ipv6-portless-finds-nothing", tags)
                || portless && instance.port == 65_535 && self.on("search-port-65535-not-found", tags)
                || instance.status == "failed" && self.on("search-failed-hidden", tags)
                || instance.status == "provisioning" && self.on("search-provisioning-hidden", tags)
                || instance.group.is_none() && self.on("search-ungrouped-hidden", tags)
                || instance.activated.is_none() && self.on("search-not-activated-hidden", tags)
            {
                continue;
            }
            let times = match () {
                () if hits > 1 && self.on("search-found-once-per-item", tags) => hits,
                () if query.items.iter().filter(|item| item.ip == instance.ip).count() > 1
                    && self.on("search-duplicates-kept", tags) =>
                {
                    2
                }
                () => 1,
            };
            found.extend(std::iter::repeat_n(instance.clone(), times));
        }
        let rules = [
            (found.len() > 1000, "search-1000-matches-at-most", 1000),
            (found.len() > 500, "search-500-matches-at-most", 500),
            (found.len() > 1024, "search-1024-matches-at-most", 1024),
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
    ) -> Vec<(usize, &'w Instance)> {
        let other = if account == MAIN_AT { SECOND_AT } else { MAIN_AT };
        let of = |at: usize| world.accounts[at].instances.iter().map(move |instance| (at, instance));
        let mut all: Vec<_> = of(account).collect();
        let own: HashSet<IpAddr> = all.iter().map(|(_, instance)| instance.ip).collect();
        let asked: HashMap<IpAddr, Option<u16>> =
            query.items.iter().map(|item| (item.ip, item.port)).collect();
        let foreign: Vec<_> = of(other).filter(|(_, instance)| asked.contains_key(&instance.ip)).collect();
        let mut keep = |rule: &str, fits: &dyn Fn(&Instance) -> bool| {
            let chosen: Vec<_> = foreign.iter().filter(|(_, instance)| fits(instance)).copied().collect();
            if !chosen.is_empty() && self.on(rule, tags) {
                all.extend(chosen);
            }
        };
        keep("search-all-accounts", &|_| true);
        keep("search-foreign-of-shared-address", &|instance| own.contains(&instance.ip));
        keep("search-foreign-with-port", &|instance| asked[&instance.ip] == Some(instance.port));
        keep("search-foreign-ipv6", &|instance| instance.ip.is_ipv6());
        keep("search-foreign-by-order", &|instance| query.order.as_ref() == Some(&instance.order));
        keep("search-foreign-by-group", &|instance| query.group == instance.group && query.group.is_some());
        keep("search-foreign-by-status", &|instance| query.status.as_deref() == Some(instance.status));
        keep("search-foreign-by-country", &|instance| query.country.as_deref() == Some(instance.country));
        keep("search-foreign-by-time", &|_| query.from.is_some() || query.to.is_some());
        keep("search-foreign-in-large-batch", &|_| query.items.len() > 100);
        keep("search-foreign-when-own-none", &|_| own.is_empty());
        all
    }

    /// How many items of the batch an instance fits.
    fn hits(
        &self,
        instance: &Instance,
        items: &[&Item],
        all: &[Item],
        ports: &HashSet<u16>,
        tags: &Tags,
    ) -> usize {
        let tags = &tags_of_instance(tags, instance);
        let spelling = |item: &Item| !self.decides("stored-spelling") || item.text == instance.ip.to_string();
        let fits = |item: &&&Item| item.port.is_none_or(|port| port == instance.port) && spelling(item);
        let hits = items.iter().filter(fits).count();
        if hits > 0 {
            return hits;
        }
        if !self.fault.is_of("search-port-")
            && !self.fault.is_of("search-ports-")
            && !self.fault.is_of("search-address-")
            && !self.fault.is_of("search-ipv6-")
        {
            return 0;
        }
        let stored = instance.ip.to_string();
        let sent: Vec<u16> = items.iter().filter_map(|item| item.port).collect();
        let port = instance.port;
        let text = port.to_string();
        let near = |item: &Item| {
            let text = item.ip.to_string();
            item.port.is_none() && stored.starts_with(&text) && stored.len() > text.len()
        };
        let same_net = |item: &Item| match (item.ip, instance.ip) {
            (IpAddr::V6(one), IpAddr::V6(other)) => {
                item.port.is_none() && one.segments()[..4] == other.segments()[..4]
            }
            _ => false,
        };
        let broken = !sent.is_empty() && self.on("search-port-ignored", tags)
            || !sent.is_empty() && ports.contains(&port) && self.on("search-ports-crossed", tags)
            || sent.iter().any(|sent| text.starts_with(&sent.to_string()))
                && self.on("search-port-prefix", tags)
            || sent.iter().any(|sent| text.contains(&sent.to_string())) && self.on("search-port-part", tags)
            || sent.iter().any(|sent| sent.abs_diff(port) == 1) && self.on("search-port-neighbour", tags)
            || sent.iter().any(|sent| *sent <= port) && self.on("search-port-and-above", tags)
            || all.iter().any(|item| item.port == Some(port))
                && items.is_empty()
                && self.on("search-address-ignored-with-port", tags)
            || self.fault.is_of("search-address-prefix")
                && items.is_empty()
                && all.iter().any(near)
                && self.on("search-address-prefix", tags)
            || self.fault.is_of("search-ipv6-network")
                && items.is_empty()
                && all.iter().any(same_net)
                && self.on("search-ipv6-network", tags);
        usize::from(broken)
    }
}
