//! Total and echo of a search, and what a search leaves behind.

use serde_json::{Value, json};

use super::Server;
use super::behaviour::Tags;
use super::search_input::Query;
use super::world::Instance;

impl Server {
    pub(super) fn total(
        &self,
        total: usize,
        unfiltered: usize,
        hidden: usize,
        shown: usize,
        query: &Query,
        tags: &Tags,
    ) -> Value {
        let distinct = query.items.len();
        let rules = [
            (true, "search-total-of-page", shown),
            (true, "search-total-before-filters", unfiltered),
            (true, "search-total-plus-one", total + 1),
            (total > 1000, "search-total-1000-at-most", 1000),
            (total > 500, "search-total-500-at-most", 500),
            (total > 100, "search-total-100-at-most", 100),
            (total > 100, "search-total-rounded", total / 10 * 10),
            (true, "search-total-of-pages", total.div_ceil(query.page_size)),
            (true, "search-total-of-batch", distinct),
            (query.page > 1, "search-total-first-page-only", 0),
            (shown == 0, "search-total-zero-past-end", 0),
            (
                query.page > 1,
                "search-total-of-rest",
                total.saturating_sub((query.page - 1) * query.page_size),
            ),
            (hidden > 0, "search-total-with-foreign", total + hidden),
            (total == 0, "search-total-null-when-nothing", usize::MAX),
        ];
        let rules = rules.map(|(holds, rule, other)| (holds && other != total, rule, other));
        match self.first_broken_of(tags, rules) {
            Some(usize::MAX) => Value::Null,
            other => json!(other.unwrap_or(total)),
        }
    }

    /// Faults of the envelope's data.
    pub(super) fn spoil(&self, data: &mut Value, query: &Query, hidden: usize, tags: &Tags) {
        let rules = [
            ("search-total-text", "total", json!(data["total"].to_string())),
            ("search-total-negative", "total", json!(-1)),
            ("search-page-text", "page", json!(query.page.to_string())),
            ("search-page-echo-from-zero", "page", json!(query.page - 1)),
            ("search-page-echo-1", "page", json!(1)),
            ("search-page-size-echo-20", "pageSize", json!(20)),
            ("search-page-size-echo-100-at-most", "pageSize", json!(query.page_size.min(100))),
            ("search-page-size-echo-shown", "pageSize", json!(data["items"].as_array().map_or(0, Vec::len))),
            ("search-page-size-text", "pageSize", json!(query.page_size.to_string())),
            ("search-items-as-object", "items", json!({ "list": [] })),
        ];
        self.set_members(data, tags, rules);
        let rules = [
            ("search-without-total", "total", ""),
            ("search-without-page", "page", ""),
            ("search-without-page-size", "pageSize", ""),
            ("search-without-items", "items", ""),
            ("search-items-named-list", "items", "list"),
            ("search-page-size-snake-case", "pageSize", "page_size"),
        ];
        self.rename_members(data, tags, rules);
        if hidden > 0 {
            let rules = [
                ("search-hidden-count", "hidden", json!(hidden)),
                ("search-hidden-flag", "truncated", json!(true)),
            ];
            self.set_members(data, tags, rules);
        }
        if self.decides("extra-fields") {
            data["hasMore"] = json!(false);
        }
    }

    /// Faults of a search that changes something.
    pub(super) fn touch(&self, account: usize, query: &Query, data: &Value, tags: &Tags) {
        let ids: Vec<i64> = data["items"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|item| item["instanceId"].as_i64())
            .collect();
        if ids.is_empty() {
            return;
        }
        let later = super::time::Time::from_nanos(
            1_760_000_000_000_000_000 + self.count("touch") as i128 * 1_000_000_000,
        );
        let mut world = self.world();
        let account = &mut world.accounts[account];
        if let Some(group) = account.groups.first_mut()
            && self.on("search-touches-groups", tags)
        {
            group.updated = later.clone();
        }
        let mut found: Vec<&mut Instance> =
            account.instances.iter_mut().filter(|instance| ids.contains(&instance.id)).collect();
        for instance in &mut found {
            if instance.status == "provisioning" && self.on("search-activates", tags) {
                instance.status = "active";
            }
            if instance.expires.is_some() && self.on("search-renews", tags) {
                instance.expires = Some(later.clone());
            }
            if let Some(group) = query.group.filter(|group| *group > 0)
                && instance.group != Some(group)
                && self.on("search-moves-to-group", tags)
            {
                instance.group = Some(group);
            }
            if instance.group.is_none() && self.on("search-groups-what-is-found", tags) {
                instance.group = Some(3);
            }
        }
        let failed = found.iter().find(|instance| instance.status == "failed").map(|instance| instance.id);
        if let Some(failed) = failed
            && self.on("search-removes-failed", tags)
        {
            account.instances.retain(|instance| instance.id != failed);
        }
    }
}
