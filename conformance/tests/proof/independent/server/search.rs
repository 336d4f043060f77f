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
        let orders = |of: &Account| of.instances.iter().any(|held| Some(&held.order) == query.order.as_ref());
        let groups = |of: &Account| of.groups.iter().any(|group| Some(group.id) == query.group);
        let foreign_order = query.order.is_some() && !orders(own) && orders(foreign);
        let foreign_group = query.group.is_some() && !groups(own) && groups(foreign);
        let batch = query.items.len() > 1;
        let known_group = query.group.is_none_or(|group| group == 0 || groups(own));
        let known_order = query.order.is_none() || orders(own);
        let place = |fits: &dyn Fn(&Instance) -> bool| world.accounts[MAIN_AT].instances.iter().any(fits);
        let is_known = known_group
            && known_order
            && query.country.as_ref().is_none_or(|code| place(&|held| held.country == code))
            && query.city.as_ref().is_none_or(|code| place(&|held| held.city == code));
        let (other_order, other_group) = (!known_order && !foreign_order, !known_group && !foreign_group);
        let known =
            || known! { hidden, shared, ipv6, batch, foreign_order, foreign_group, other_order, other_group };
        if self.breaks("search.refused", tags, known) || !is_known && self.decides("unknown-filter-rejected")
        {
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
        let place = |place: &str, own: &str, other: &str, asked: &str| {
            own == asked || self.breaks(place, tags, || known! { own, other, asked })
        };
        let in_country = |asked: &String| any_case(asked) || place("search.country", country, city, asked);
        let in_city = |asked: &String| place("search.city", city, country, asked);
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
        let known = || {
            let asked: Vec<&str> = asked.iter().map(|(name, _)| *name).collect();
            let range = query.from.is_some() || query.to.is_some();
            known! { asked, failed, range, page => query.page }
        };
        failed.is_empty() || self.breaks("search.filters", tags, known)
    }

    fn group_fits(&self, held: Option<i64>, asked: i64, tags: &Tags) -> bool {
        let fits = if asked == 0 { held.is_none() } else { held == Some(asked) };
        let other = self.instead("search.group", tags, || {
            // The data is locked by nobody here: `passes` runs after the matching.
            let unknown = self.world().accounts[MAIN_AT].groups.iter().all(|known| known.id != asked);
            known! { held, asked, unknown }
        });
        other.unwrap_or(fits)
    }

    fn status_fits(&self, instance: &Instance, asked: &str, tags: &Tags) -> bool {
        let held = instance.status;
        let other = self.instead("search.held-status", tags, || {
            let past = instance.expires.as_ref().is_some_and(|time| time.nanos < 1_717_000_000 * SECOND);
            known! { held, asked, past }
        });
        other.unwrap_or(asked == held)
    }

    fn order_fits(&self, held: &str, asked: &str, tags: &Tags) -> bool {
        let known = || {
            let like = asked.contains(['%', '_'])
                && (asked.split('%').all(|part| held.contains(part)) || asked.len() == held.len());
            known! { held, asked, like }
        };
        held == asked || self.breaks("search.order", tags, known)
    }

    /// Whether the activation of an instance fits each of the bounds.
    fn in_range(&self, instance: &Instance, query: &Query, tags: &Tags) -> [Option<bool>; 2] {
        let expires = instance.expires.as_ref().map(|time| time.nanos);
        let activated = instance.activated.as_ref().map(|time| time.nanos);
        let is_asked = query.from.is_some() || query.to.is_some();
        let by_expiry = is_asked && expires != activated && self.on("search-range-by-expiry", tags);
        let nanos = if by_expiry { expires } else { activated };
        let fits = |place: &str, bound: i128, fits: bool, alone: bool| {
            let known = || known! { at => nanos, bound, alone };
            self.instead(place, tags, known).unwrap_or(fits && nanos.is_some())
        };
        let from = |bound| fits("search.from", bound, nanos >= Some(bound), query.to.is_none());
        let to = |bound| fits("search.to", bound, nanos <= Some(bound), query.from.is_none());
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
        let count = found.len();
        let known = || known! { page, size, start, pages, count };
        let start = self.instead("search.page-start", tags, known).unwrap_or(start);
        let known = || known! { size, items => query.items.len() };
        let take = self.instead("search.page-length", tags, known).unwrap_or(size);
        found.iter().skip(start).take(take).cloned().collect()
    }
}

fn scattered(id: i64, seed: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    (id, seed).hash(&mut hasher);
    hasher.finish()
}
