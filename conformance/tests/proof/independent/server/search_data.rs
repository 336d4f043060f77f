//! Total and echo of a search, and what a search leaves behind.

use serde_json::{Value, json};

use super::Server;
use super::behaviour::Tags;
use super::search_input::Query;
use super::time::Time;
use super::world::Instance;

/// How many instances a search finds.
pub(super) struct Counts {
    pub total: usize,
    /// Without the filters.
    pub unfiltered: usize,
    /// Of the other account.
    pub hidden: usize,
    /// On the page.
    pub shown: usize,
}

impl Server {
    /// The data of a response, with its faults.
    pub(super) fn page_data(&self, items: Vec<Value>, counts: &Counts, query: &Query, tags: &Tags) -> Value {
        let total = self.total(counts, query, tags);
        let data = json!({ "items": items, "page": query.page, "pageSize": query.page_size, "total": total });
        let known = json!({ "shown": counts.shown, "hidden": counts.hidden });
        let mut data = self.told("page", data, tags, &known);
        if counts.hidden > 0 {
            data = self.told("page-without-foreign", data, tags, &known);
        }
        data
    }

    fn total(&self, counts: &Counts, query: &Query, tags: &Tags) -> Value {
        let Counts { total, unfiltered, hidden, shown } = *counts;
        let (page, size) = (query.page, query.page_size);
        let known = || known! { total, unfiltered, hidden, shown, page, size, batch => query.items.len() };
        json!(self.instead::<Option<usize>>("search.total", tags, known).unwrap_or(Some(total)))
    }

    /// Faults of a search that changes something.
    pub(super) fn touch(&self, account: usize, query: &Query, data: &Value, tags: &Tags) {
        let items = data["items"].as_array().into_iter().flatten();
        let ids: Vec<i64> = items.filter_map(|item| item["instanceId"].as_i64()).collect();
        if ids.is_empty() {
            return;
        }
        let later = Time::from_nanos(1_760_000_000_000_000_000 + self.count("touch") as i128 * 1_000_000_000);
        let mut world = self.world();
        let account = &mut world.accounts[account];
        if let Some(group) = account.groups.first_mut()
            && self.on("search-touches-groups", tags)
        {
            group.updated = later.clone();
        }
        let is_found = |instance: &&mut Instance| ids.contains(&instance.id);
        for instance in account.instances.iter_mut().filter(is_found) {
            if instance.status == "provisioning" && self.on("search-activates", tags) {
                instance.status = "active";
            }
            if instance.expires.is_some() && self.on("search-renews", tags) {
                instance.expires = Some(later.clone());
            }
            let group = query.group.filter(|group| *group > 0 && instance.group != Some(*group));
            if group.is_some() && self.on("search-moves-to-group", tags) {
                instance.group = group;
            }
            if instance.group.is_none() && self.on("search-groups-what-is-found", tags) {
                instance.group = Some(3);
            }
        }
        let is_failed = |instance: &Instance| instance.status == "failed" && ids.contains(&instance.id);
        if let Some(failed) = account.instances.iter().position(is_failed)
            && self.on("search-removes-failed", tags)
        {
            account.instances.remove(failed);
        }
    }
}
