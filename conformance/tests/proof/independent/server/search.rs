//! The search: filters, order, pages and total.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde_json::{Value, json};

use super::behaviour::{Tags, tags_of_instance};
use super::search_input::Query;
use super::world::{Instance, MAIN_AT, SECOND_AT};
use super::{Reject, Reply, Request, Server};

const OPERATION: &str = "search";

impl Server {
    pub(super) fn search(&self, request: &Request, mut tags: Tags) -> Reply {
        match self.search_data(request, &mut tags) {
            Ok(data) => self.static_success(OPERATION, data, &tags),
            Err(reject) => self.static_error(OPERATION, &reject, &tags),
        }
    }

    fn search_data(&self, request: &Request, tags: &mut Tags) -> Result<Value, Reject> {
        let account = match self.static_account(OPERATION, request, tags) {
            Ok(account) => account,
            Err(reject)
                if reject.message == "the token is not known"
                    && self.on("search-unknown-token-finds-nothing", tags) =>
            {
                return Ok(json!({ "items": [], "page": 1, "pageSize": 20, "total": 0 }));
            }
            Err(reject) => return Err(reject),
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
        let cached = self.memory().values.get(&body).cloned();
        if let Some((at, cached)) =
            cached.and_then(|cached| Some((cached["at"].as_u64()?, cached["data"].clone())))
            && at != account as u64
            && self.on("search-cached-for-all", tags)
        {
            return Ok(cached);
        }
        let data = self.found(account, &query, tags)?;
        self.memory().values.insert(body, json!({ "at": account, "data": data }));
        self.touch(account, &query, &data, tags);
        Ok(data)
    }

    /// Faults that let a caller notice what other accounts hold.
    fn reveal(&self, account: usize, query: &Query, tags: &Tags) -> Result<(), Reject> {
        let other = if account == MAIN_AT { SECOND_AT } else { MAIN_AT };
        let world = self.world();
        let own = |item: &super::address::Item| {
            world.accounts[account].instances.iter().any(|held| held.ip == item.ip)
        };
        let foreign = |item: &super::address::Item| {
            world.accounts[other].instances.iter().any(|held| held.ip == item.ip)
        };
        let hidden = query.items.iter().any(|item| foreign(item) && !own(item));
        let shared = query.items.iter().any(|item| foreign(item) && own(item));
        let alone = query.items.len() == 1;
        let reject = || Reject::new(403, 40_310, "an address belongs to another account");
        let orders = |at: usize| {
            world.accounts[at].instances.iter().any(|held| Some(&held.order) == query.order.as_ref())
        };
        let groups = |at: usize| world.accounts[at].groups.iter().any(|group| Some(group.id) == query.group);
        let foreign_order = query.order.is_some() && !orders(account) && orders(other);
        let foreign_group = query.group.is_some() && !groups(account) && groups(other);
        if hidden && self.on("search-foreign-address-refused", tags)
            || hidden && !alone && self.on("search-foreign-address-refused-in-batch", tags)
            || hidden
                && query.items.iter().any(|item| item.ip.is_ipv6() && foreign(item))
                && self.on("search-foreign-ipv6-refused", tags)
            || shared && self.on("search-shared-address-refused", tags)
            || foreign_order && self.on("search-foreign-order-refused", tags)
            || foreign_group && self.on("search-foreign-group-refused", tags)
            || foreign_group
                && query.items.len() > 1
                && self.on("search-foreign-group-refused-in-batch", tags)
        {
            return Err(reject());
        }
        let known_group = query.group.is_none_or(|group| group == 0 || groups(account));
        let known_order = query.order.is_none() || orders(account);
        if !known_order && !foreign_order && self.on("search-unknown-order-refused", tags)
            || !known_group && !foreign_group && self.on("search-unknown-group-refused", tags)
        {
            return Err(Reject::new(404, 40_410, "not found"));
        }
        if self.decides("unknown-filter-rejected") {
            let place = |fits: &dyn Fn(&Instance) -> bool| world.accounts[MAIN_AT].instances.iter().any(fits);
            let country = query.country.as_ref().is_none_or(|code| place(&|held| held.country == code));
            let city = query.city.as_ref().is_none_or(|code| place(&|held| held.city == code));
            if !(known_group && known_order && country && city) {
                return Err(Reject::new(404, 40_410, "unknown filter"));
            }
        }
        Ok(())
    }

    fn found(&self, account: usize, query: &Query, tags: &mut Tags) -> Result<Value, Reject> {
        let (mut found, hidden) = {
            let world = self.world();
            let other = if account == MAIN_AT { SECOND_AT } else { MAIN_AT };
            let asked = |held: &&Instance| query.items.iter().any(|item| item.ip == held.ip);
            let hidden = world.accounts[other].instances.iter().filter(asked).count();
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
        let pages = total.div_ceil(query.page_size);
        if self.decides("past-end-rejected") && query.page > pages.max(1) {
            return Err(Reject::input("`page` is past the last one"));
        }
        let mut page = self.page(&found, query, tags);
        if late {
            page.retain(|instance| self.passes(instance, query, tags));
        }
        let items: Vec<Value> =
            page.iter().enumerate().map(|(at, instance)| self.instance(instance, at, query, tags)).collect();
        let total = self.total(total, unfiltered, hidden, items.len(), query, tags);
        let mut data =
            json!({ "items": items, "page": query.page, "pageSize": query.page_size, "total": total });
        self.spoil(&mut data, query, hidden, tags);
        Ok(data)
    }

    fn passes(&self, instance: &Instance, query: &Query, tags: &Tags) -> bool {
        let tags = &tags_of_instance(tags, instance);
        let mut checks: Vec<(&str, bool)> = Vec::new();
        if let Some(order) = &query.order {
            checks.push(("order", instance.order == *order || self.order_fits(&instance.order, order, tags)));
        }
        if let Some(group) = query.group {
            let fits = if group == 0 { instance.group.is_none() } else { instance.group == Some(group) };
            let fits = fits && !(group == 0 && self.on("search-group-0-finds-nothing", tags))
                || !fits
                    && group > 0
                    && instance.group.is_none()
                    && self.on("search-group-and-ungrouped", tags)
                || !fits
                    && group > 0
                    && self.world_lacks(group)
                    && self.on("search-unknown-group-as-all", tags);
            checks.push(("group", fits));
        }
        if let Some(country) = &query.country {
            let any_case = self.decides("country-any-case") && country.eq_ignore_ascii_case(instance.country);
            let fits = instance.country == country
                || any_case
                || !country.is_empty()
                    && instance.country.starts_with(country)
                    && self.on("search-country-prefix", tags)
                || !country.is_empty() && instance.city == country && self.on("search-country-by-city", tags);
            checks.push(("country", fits));
        }
        if let Some(city) = &query.city {
            let fits = instance.city == city
                || !city.is_empty() && instance.city.starts_with(city) && self.on("search-city-prefix", tags)
                || !city.is_empty() && instance.country == city && self.on("search-city-by-country", tags);
            checks.push(("city", fits));
        }
        if let Some(status) = &query.status {
            let past = instance.expires.as_ref().is_some_and(|time| time.nanos < 1_717_000_000_000_000_000);
            let fits = instance.status == status
                || status == "active"
                    && instance.status == "expired"
                    && self.on("search-active-with-expired", tags)
                || status == "cancelled"
                    && instance.status == "failed"
                    && self.on("search-cancelled-with-failed", tags);
            let by_time = status == "expired" && past != fits && self.on("search-expired-by-time", tags);
            checks.push(("status", if by_time { past } else { fits }));
        }
        self.in_range(instance, query, tags, &mut checks);
        self.intersected(&checks, query, tags)
    }

    fn world_lacks(&self, group: i64) -> bool {
        // The data is locked by nobody here: `passes` runs after the matching.
        self.world().accounts[MAIN_AT].groups.iter().all(|known| known.id != group)
    }

    fn order_fits(&self, held: &str, asked: &str, tags: &Tags) -> bool {
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let plain = |text: &str| text.replace('-', "");
        let like = asked.contains(['%', '_']) && {
            let parts: Vec<&str> = asked.split('%').collect();
            asked == "%"
                || parts.iter().all(|part| part.is_empty() || held.contains(part))
                || asked.len() == held.len()
        };
        let leading = asked.len() > 1 && held.starts_with(asked);
        let asked_some = !asked.is_empty();
        leading && self.on("search-order-prefix", tags)
            || asked_some && held.ends_with(asked) && self.on("search-order-suffix", tags)
            || asked_some && held.contains(asked) && self.on("search-order-part", tags)
            || held.eq_ignore_ascii_case(asked) && self.on("search-order-any-case", tags)
            || held == asked.trim() && self.on("search-order-trimmed", tags)
            || held == asked.trim_end() && self.on("search-order-trailing-space", tags)
            || asked_some && digits(held) == digits(asked) && self.on("search-order-digits-only", tags)
            || asked_some && plain(held) == plain(asked) && self.on("search-order-without-hyphens", tags)
            || asked.starts_with(held) && self.on("search-order-longer", tags)
            || like && self.on("search-order-wildcards", tags)
    }

    fn in_range(&self, instance: &Instance, query: &Query, tags: &Tags, checks: &mut Vec<(&str, bool)>) {
        let expires = instance.expires.as_ref().map(|time| time.nanos);
        let activated = instance.activated.as_ref().map(|time| time.nanos);
        let asked = query.from.is_some() || query.to.is_some();
        let missing = activated.is_none() && asked;
        let nanos = if asked && expires != activated && self.on("search-range-by-expiry", tags) {
            expires
        } else {
            activated
        };
        let included = missing && self.on("search-not-activated-in-range", tags);
        let second = 1_000_000_000;
        if let Some(from) = query.from {
            let fits = nanos.is_some_and(|at| at >= from);
            let edge = nanos == Some(from);
            let close = nanos.is_some_and(|at| at < from && at / second == from / second);
            let fits = fits && !(edge && self.on("search-from-exclusive", tags))
                || close && self.on("search-from-by-second", tags)
                || missing && query.to.is_none() && self.on("search-not-activated-after-from", tags);
            checks.push(("from", fits || included));
        }
        if let Some(to) = query.to {
            let fits = nanos.is_some_and(|at| at <= to);
            let edge = nanos == Some(to);
            let close = nanos.is_some_and(|at| at > to && at / second == to / second);
            let fits = fits && !(edge && self.on("search-to-exclusive", tags))
                || close && self.on("search-to-by-second", tags)
                || missing && query.from.is_none() && self.on("search-not-activated-before-to", tags);
            checks.push(("to", fits || included));
        }
    }

    /// All filters together, but for faults that drop one or join them otherwise.
    fn intersected(&self, checks: &[(&str, bool)], query: &Query, tags: &Tags) -> bool {
        let all = checks.iter().all(|(_, fits)| *fits);
        if checks.is_empty() || all {
            return true;
        }
        let any = checks.iter().any(|(_, fits)| *fits);
        if checks.len() > 1 && any && self.on("search-filters-joined-by-or", tags) {
            return true;
        }
        let asked = |name: &str| checks.iter().any(|(known, _)| *known == name);
        let without = |names: &[&str]| checks.iter().all(|(name, fits)| *fits || names.contains(name));
        let far = query.page > 1;
        let passes = [
            ("search-order-ignored", true, "order"),
            ("search-group-ignored", true, "group"),
            ("search-country-ignored", true, "country"),
            ("search-city-ignored", true, "city"),
            ("search-status-ignored", true, "status"),
            ("search-from-ignored", true, "from"),
            ("search-to-ignored", true, "to"),
            ("search-country-ignored-beside-city", asked("city"), "country"),
            ("search-city-ignored-beside-country", asked("country"), "city"),
            ("search-status-ignored-beside-order", asked("order"), "status"),
            ("search-status-ignored-beside-range", asked("from") || asked("to"), "status"),
            ("search-group-ignored-beside-order", asked("order"), "group"),
            ("search-group-ignored-beside-status", asked("status"), "group"),
            ("search-order-ignored-beside-group", asked("group"), "order"),
            ("search-country-ignored-beside-group", asked("group"), "country"),
            ("search-country-ignored-beside-status", asked("status"), "country"),
            ("search-city-ignored-beside-status", asked("status"), "city"),
            ("search-city-ignored-beside-range", asked("from") || asked("to"), "city"),
            ("search-from-ignored-beside-to", asked("to"), "from"),
            ("search-to-ignored-beside-from", asked("from"), "to"),
            ("search-from-ignored-beside-group", asked("group"), "from"),
            ("search-to-ignored-beside-country", asked("country"), "to"),
            ("search-order-ignored-beside-range", asked("from") || asked("to"), "order"),
            ("search-status-ignored-later", far, "status"),
        ]
        .into_iter()
        .any(|(rule, holds, name)| holds && asked(name) && without(&[name]) && self.on(rule, tags));
        passes || self.on("search-filters-ignored", tags)
    }

    fn sort(&self, found: &mut [Instance], query: &Query, tags: &Tags) {
        let call = self.count("search order");
        match () {
            () if self.decides("order-descending") => found.sort_by_key(|instance| -instance.id),
            () if self.decides("order-address") => {
                found.sort_by_key(|instance| (instance.ip, instance.port, instance.id))
            }
            () if self.decides("order-scattered") => found.sort_by_key(|instance| scattered(instance.id, 0)),
            () if self.decides("order-activation") => found.sort_by_key(|instance| {
                (instance.activated.as_ref().map_or(0, |time| -time.nanos), instance.id)
            }),
            () => found.sort_by_key(|instance| instance.id),
        }
        if found.len() < 2 {
            return;
        }
        let len = found.len();
        match () {
            () if self.on("search-random-order", tags) => {
                found.sort_by_key(|instance| scattered(instance.id, call))
            }
            () if self.on("search-ties-unstable", tags) => found.sort_by_key(|instance| {
                (instance.activated.as_ref().map_or(0, |time| time.nanos), scattered(instance.id, call))
            }),
            () if self.on("search-ties-by-page", tags) => {
                found.sort_by_key(|instance| (instance.country, scattered(instance.id, query.page)))
            }
            () if self.on("search-order-by-page-size", tags) && query.page_size > 100 => found.reverse(),
            () if query.page > 1 && self.on("search-order-reversed-later", tags) => found.reverse(),
            () if call.is_multiple_of(3) && self.on("search-order-third-call", tags) => found.rotate_left(1),
            () if len > 1000 && self.on("search-order-unstable-beyond-1000", tags) => {
                found.sort_by_key(|instance| scattered(instance.id, call));
            }
            () => {}
        }
    }

    fn page(&self, found: &[Instance], query: &Query, tags: &Tags) -> Vec<Instance> {
        let (page, size) = (query.page, query.page_size);
        let start = (page - 1) * size;
        let pages = found.len().div_ceil(size).max(1);
        let rules = [
            (true, "search-page-from-zero", page * size),
            (page > 1, "search-pages-overlap", start.saturating_sub(1)),
            (page > 1, "search-pages-gap", start + 1),
            (page > 1, "search-page-ignored", 0),
            (page > pages, "search-past-end-first-page", 0),
            (page > pages, "search-past-end-last-page", (pages - 1) * size),
            (page > 10, "search-ten-pages", found.len()),
            (page > 3, "search-three-pages", found.len()),
            (start >= 1000, "search-offset-below-1000", found.len()),
            (start >= 500, "search-offset-below-500", found.len()),
            (
                page == pages && page > 1 && !found.len().is_multiple_of(size),
                "search-last-page-lost",
                found.len(),
            ),
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
