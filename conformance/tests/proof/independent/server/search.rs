//! The search: filters, order, pages and total.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use super::address::Item;
use super::behaviour::{Tags, tags_of_instance};
use super::search_data::Counts;
use super::search_input::Query;
use super::world::{Account, Instance, MAIN_AT, SECOND_AT};
use super::{Reject, Reply, Request, Server};

const OPERATION: &str = "search";

/// In nanoseconds.
const SECOND: i128 = 1_000_000_000;

/// The position of an account that is not the caller's.
pub(super) fn other(account: usize) -> usize {
    if account == MAIN_AT { SECOND_AT } else { MAIN_AT }
}

impl Server {
    pub(super) fn search(&self, request: &Request, mut tags: Tags) -> Reply {
        match self.search_data(request, &mut tags) {
            Ok(data) => self.static_success(OPERATION, data, &tags),
            Err(reject) => self.static_error(OPERATION, &reject, &tags),
        }
    }

    fn search_data(&self, request: &Request, tags: &mut Tags) -> Result<Value, Reject> {
        let account = match self.static_account(OPERATION, request, tags) {
            Err(reject)
                if reject.message == "the token is not known"
                    && self.on("search-unknown-token-finds-nothing", tags) =>
            {
                return Ok(json!({ "items": [], "page": 1, "pageSize": 20, "total": 0 }));
            }
            found => found?,
        };
        if account != MAIN_AT {
            tags.push("other-account");
        }
        if self.decides("unknown-rejected") && request.query.iter().any(|(name, _)| name != "api_key") {
            return Err(Reject::input("unknown parameter"));
        }
        let query = self.search_query(request, tags)?;
        self.reveal(account, &query, tags)?;
        let body = String::from_utf8_lossy(&request.body).into_owned();
        let cached = self.memory().values.get(&body).cloned().unwrap_or_default();
        if cached["at"].as_u64().is_some_and(|at| at != account as u64)
            && self.on("search-cached-for-all", tags)
        {
            return Ok(cached["data"].clone());
        }
        let data = self.found(account, &query, tags)?;
        self.memory().values.insert(body, json!({ "at": account, "data": data }));
        self.touch(account, &query, &data, tags);
        Ok(data)
    }

    /// Faults that let a caller notice what other accounts hold.
    fn reveal(&self, account: usize, query: &Query, tags: &Tags) -> Result<(), Reject> {
        let world = self.world();
        let (own, foreign) = (&world.accounts[account], &world.accounts[other(account)]);
        let holds = |of: &Account, item: &Item| of.instances.iter().any(|instance| instance.ip == item.ip);
        let is_foreign = |item: &&Item| holds(foreign, item);
        let is_hidden = |item: &Item| holds(foreign, item) && !holds(own, item);
        let hidden = query.items.iter().any(is_hidden);
        let shared = query.items.iter().any(|item| holds(foreign, item) && holds(own, item));
        let ipv6 = query.items.iter().filter(is_foreign).any(|item| item.ip.is_ipv6());
        let is_batch = query.items.len() > 1;
        let orders = |of: &Account| of.instances.iter().any(|held| Some(&held.order) == query.order.as_ref());
        let groups = |of: &Account| of.groups.iter().any(|group| Some(group.id) == query.group);
        let foreign_order = query.order.is_some() && !orders(own) && orders(foreign);
        let foreign_group = query.group.is_some() && !groups(own) && groups(foreign);
        let rules = [
            (hidden, "search-foreign-address-refused"),
            (hidden && is_batch, "search-foreign-address-refused-in-batch"),
            (hidden && ipv6, "search-foreign-ipv6-refused"),
            (shared, "search-shared-address-refused"),
            (foreign_order, "search-foreign-order-refused"),
            (foreign_group, "search-foreign-group-refused"),
            (foreign_group && is_batch, "search-foreign-group-refused-in-batch"),
        ];
        if self.breaks_any(tags, rules) {
            return Err(Reject::new(403, 40_310, "an address belongs to another account"));
        }
        let known_group = query.group.is_none_or(|group| group == 0 || groups(own));
        let known_order = query.order.is_none() || orders(own);
        let place = |fits: &dyn Fn(&Instance) -> bool| world.accounts[MAIN_AT].instances.iter().any(fits);
        let is_known = known_group
            && known_order
            && query.country.as_ref().is_none_or(|code| place(&|held| held.country == code))
            && query.city.as_ref().is_none_or(|code| place(&|held| held.city == code));
        let rules = [
            (!known_order && !foreign_order, "search-unknown-order-refused"),
            (!known_group && !foreign_group, "search-unknown-group-refused"),
        ];
        if self.breaks_any(tags, rules) || !is_known && self.decides("unknown-filter-rejected") {
            return Err(Reject::new(404, 40_410, "not found"));
        }
        Ok(())
    }

    fn found(&self, account: usize, query: &Query, tags: &mut Tags) -> Result<Value, Reject> {
        let (mut found, hidden) = {
            let world = self.world();
            let asked = |held: &&Instance| query.items.iter().any(|item| item.ip == held.ip);
            let hidden = world.accounts[other(account)].instances.iter().filter(asked).count();
            (self.matches(&world, account, query, tags), hidden)
        };
        let unfiltered = found.len();
        let late = self.on("search-filtered-after-paging", tags);
        if !late {
            found.retain(|instance| self.passes(instance, query, tags));
        }
        let total = found.len();
        if total == 0 {
            tags.push("nothing");
        }
        self.sort(&mut found, query, tags);
        if self.decides("past-end-rejected") && query.page > total.div_ceil(query.page_size).max(1) {
            return Err(Reject::input("`page` is past the last one"));
        }
        let mut page = self.page(&found, query, tags);
        if late {
            page.retain(|instance| self.passes(instance, query, tags));
        }
        let items: Vec<Value> =
            page.iter().enumerate().map(|(at, instance)| self.instance(instance, at, query, tags)).collect();
        let counts = Counts { total, unfiltered, hidden, shown: items.len() };
        Ok(self.page_data(items, &counts, query, tags))
    }

    /// Whether an instance fits all filters together, but for faults that drop one or join them otherwise.
    fn passes(&self, instance: &Instance, query: &Query, tags: &Tags) -> bool {
        let tags = &tags_of_instance(tags, instance);
        let Instance { country, city, .. } = instance;
        let any_case = |asked: &str| self.decides("country-any-case") && asked.eq_ignore_ascii_case(country);
        let place = |rule: &str, own: &str, by: &str, other: &str, asked: &str| {
            own == asked
                || !asked.is_empty() && own.starts_with(asked) && self.on_part(rule, "prefix", tags)
                || !asked.is_empty() && other == asked && self.on_part(rule, by, tags)
        };
        let in_country =
            |asked: &String| any_case(asked) || place("search-country", country, "by-city", city, asked);
        let in_city = |asked: &String| place("search-city", city, "by-country", country, asked);
        let [from, to] = self.in_range(instance, query, tags);
        let filters = [
            ("order", query.order.as_ref().map(|order| self.order_fits(&instance.order, order, tags))),
            ("group", query.group.map(|group| self.group_fits(instance.group, group, tags))),
            ("country", query.country.as_ref().map(in_country)),
            ("city", query.city.as_ref().map(in_city)),
            ("status", query.status.as_ref().map(|status| self.status_fits(instance, status, tags))),
            ("from", from),
            ("to", to),
        ];
        let asked: Vec<(&str, bool)> =
            filters.into_iter().filter_map(|(name, fits)| Some((name, fits?))).collect();
        let failed: Vec<&str> = asked.iter().filter(|(_, fits)| !fits).map(|(name, _)| *name).collect();
        match failed[..] {
            [] => true,
            _ if self.on("search-filters-ignored", tags) => true,
            [name] if self.is_ignored(name, &asked, query, tags) => true,
            _ => failed.len() < asked.len() && self.on("search-filters-joined-by-or", tags),
        }
    }

    /// Whether a filter does not count beside the others that are asked for.
    fn is_ignored(&self, name: &str, asked: &[(&str, bool)], query: &Query, tags: &Tags) -> bool {
        let rule = format!("search-{name}");
        let on = |end: &str| self.on_part(&rule, end, tags);
        let has_range = query.from.is_some() || query.to.is_some();
        let mut others = asked.iter().map(|(other, _)| *other).filter(|other| *other != name);
        on("ignored")
            || query.page > 1 && on("ignored-later")
            || has_range && on("ignored-beside-range")
            || others.any(|other| on(&format!("ignored-beside-{other}")))
    }

    fn group_fits(&self, held: Option<i64>, asked: i64, tags: &Tags) -> bool {
        if asked == 0 {
            return held.is_none() && !self.on("search-group-0-finds-nothing", tags);
        }
        // The data is locked by nobody here: `passes` runs after the matching.
        let is_unknown = || self.world().accounts[MAIN_AT].groups.iter().all(|known| known.id != asked);
        held == Some(asked)
            || asked > 0 && held.is_none() && self.on("search-group-and-ungrouped", tags)
            || asked > 0 && self.on("search-unknown-group-as-all", tags) && is_unknown()
    }

    fn status_fits(&self, instance: &Instance, asked: &str, tags: &Tags) -> bool {
        let past = instance.expires.as_ref().is_some_and(|time| time.nanos < 1_717_000_000 * SECOND);
        match (asked, instance.status) {
            ("expired", _) if self.on("search-expired-by-time", tags) => past,
            ("active", "expired") => self.on("search-active-with-expired", tags),
            ("cancelled", "failed") => self.on("search-cancelled-with-failed", tags),
            (asked, held) => asked == held,
        }
    }

    fn order_fits(&self, held: &str, asked: &str, tags: &Tags) -> bool {
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let plain = |text: &str| text.replace('-', "");
        let like = asked.contains(['%', '_'])
            && (asked.split('%').all(|part| held.contains(part)) || asked.len() == held.len());
        let is_some = !asked.is_empty();
        let rules = [
            (asked.len() > 1 && held.starts_with(asked), "search-order-prefix"),
            (is_some && held.ends_with(asked), "search-order-suffix"),
            (is_some && held.contains(asked), "search-order-part"),
            (held.eq_ignore_ascii_case(asked), "search-order-any-case"),
            (held == asked.trim(), "search-order-trimmed"),
            (held == asked.trim_end(), "search-order-trailing-space"),
            (is_some && digits(held) == digits(asked), "search-order-digits-only"),
            (is_some && plain(held) == plain(asked), "search-order-without-hyphens"),
            (asked.starts_with(held), "search-order-longer"),
            (like, "search-order-wildcards"),
        ];
        held == asked || self.breaks_any(tags, rules)
    }

    /// Whether the activation of an instance fits each of the bounds.
    fn in_range(&self, instance: &Instance, query: &Query, tags: &Tags) -> [Option<bool>; 2] {
        let expires = instance.expires.as_ref().map(|time| time.nanos);
        let activated = instance.activated.as_ref().map(|time| time.nanos);
        let is_asked = query.from.is_some() || query.to.is_some();
        let by_expiry = is_asked && expires != activated && self.on("search-range-by-expiry", tags);
        let nanos = if by_expiry { expires } else { activated };
        let is_missing = activated.is_none();
        let fits = |name: &str, bound: i128, is_beyond: bool| {
            let is_close = is_beyond && nanos.is_some_and(|at| at / SECOND == bound / SECOND);
            let is_edge = nanos == Some(bound) && self.on_part(name, "exclusive", tags);
            nanos.is_some() && !is_beyond && !is_edge || is_close && self.on_part(name, "by-second", tags)
        };
        let included = is_missing && self.on("search-not-activated-in-range", tags);
        let after = is_missing && query.to.is_none() && self.on("search-not-activated-after-from", tags);
        let before = is_missing && query.from.is_none() && self.on("search-not-activated-before-to", tags);
        let from = |bound| fits("search-from", bound, nanos < Some(bound)) || included || after;
        let to = |bound| fits("search-to", bound, nanos > Some(bound)) || included || before;
        [query.from.map(from), query.to.map(to)]
    }

    fn sort(&self, found: &mut [Instance], query: &Query, tags: &Tags) {
        let call = self.count("search order");
        let activation = |instance: &Instance| instance.activated.as_ref().map_or(0, |time| time.nanos);
        match () {
            () if self.decides("order-descending") => found.sort_by_key(|instance| -instance.id),
            () if self.decides("order-address") => {
                found.sort_by_key(|instance| (instance.ip, instance.port, instance.id))
            }
            () if self.decides("order-scattered") => found.sort_by_key(|instance| scattered(instance.id, 0)),
            () if self.decides("order-activation") => {
                found.sort_by_key(|instance| (-activation(instance), instance.id))
            }
            () => found.sort_by_key(|instance| instance.id),
        }
        let len = found.len();
        match () {
            () if len < 2 => {}
            () if self.on("search-random-order", tags)
                || len > 1000 && self.on("search-order-unstable-beyond-1000", tags) =>
            {
                found.sort_by_key(|instance| scattered(instance.id, call))
            }
            () if self.on("search-ties-unstable", tags) => {
                found.sort_by_key(|instance| (activation(instance), scattered(instance.id, call)))
            }
            () if self.on("search-ties-by-page", tags) => {
                found.sort_by_key(|instance| (instance.country, scattered(instance.id, query.page)))
            }
            () if self.on("search-order-by-page-size", tags) && query.page_size > 100 => found.reverse(),
            () if query.page > 1 && self.on("search-order-reversed-later", tags) => found.reverse(),
            () if call.is_multiple_of(3) && self.on("search-order-third-call", tags) => found.rotate_left(1),
            () => {}
        }
    }

    fn page(&self, found: &[Instance], query: &Query, tags: &Tags) -> Vec<Instance> {
        let (page, size) = (query.page, query.page_size);
        let start = (page - 1) * size;
        let pages = found.len().div_ceil(size).max(1);
        let is_cut = page == pages && page > 1 && !found.len().is_multiple_of(size);
        let end = found.len();
        let rules = [
            (true, "search-page-from-zero", page * size),
            (page > 1, "search-pages-overlap", start.saturating_sub(1)),
            (page > 1, "search-pages-gap", start + 1),
            (page > 1, "search-page-ignored", 0),
            (page > pages, "search-past-end-first-page", 0),
            (page > pages, "search-past-end-last-page", (pages - 1) * size),
            (page > 10, "search-ten-pages", end),
            (page > 3, "search-three-pages", end),
            (start >= 1000, "search-offset-below-1000", end),
            (start >= 500, "search-offset-below-500", end),
            (is_cut, "search-last-page-lost", end),
            (page > 1, "search-offset-of-20", (page - 1) * 20),
            (page > 2, "search-third-page-repeats", size),
            (page > 2, "search-pages-gap-from-third", start + 1),
            (start * size > i32::MAX as usize, "search-offset-overflows", 0),
            (page > 100_000, "search-far-page-first", 0),
            (page > 65_535, "search-page-wraps-16", (page % 65_536).saturating_sub(1) * size),
        ];
        let rules = rules.map(|(holds, rule, other)| (holds && other != start, rule, other));
        let start = self.first_broken_of(tags, rules).unwrap_or(start);
        let rules = [
            (true, "search-page-one-more", size + 1),
            (size > 1, "search-page-one-less", size - 1),
            (size > 100, "search-page-size-100-at-most", 100),
            (size > 500, "search-page-size-500-at-most", 500),
            (size == 1000, "search-page-size-999-at-most", 999),
            (size != 20, "search-page-size-always-20", 20),
            (size < 10, "search-page-size-10-at-least", 10),
            (query.items.len() < size, "search-page-size-by-items", query.items.len()),
        ];
        let take = self.first_broken_of(tags, rules).unwrap_or(size);
        found.iter().skip(start).take(take).cloned().collect()
    }
}

fn scattered(id: i64, seed: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id, seed).hash(&mut hasher);
    hasher.finish()
}
