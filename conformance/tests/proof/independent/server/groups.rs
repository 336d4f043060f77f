//! The list of groups.

use serde_json::{Value, json};

use super::behaviour::{Tags, with_tags};
use super::world::{Group, MAIN_AT, SECOND_AT};
use super::{Reject, Reply, Request, Server};

const OPERATION: &str = "groups";

impl Server {
    pub(super) fn groups(&self, request: &Request, mut tags: Tags) -> Reply {
        let account = match self.static_account(OPERATION, request, &tags) {
            Ok(account) => account,
            Err(reject) => return self.static_error(OPERATION, &reject, &tags),
        };
        if self.decides("unknown-rejected") && request.query.iter().any(|(name, _)| name != "api_key") {
            return self.static_error(OPERATION, &Reject::input("unknown parameter"), &tags);
        }
        if account != MAIN_AT {
            tags.push("other-account");
        }
        let mut groups = self.own_groups(account, &tags);
        self.arrange(&mut groups, &tags);
        let cached = self.memory().values.get(OPERATION).cloned();
        if let Some(cached) = cached
            && self.on("groups-cached-for-all", &tags)
        {
            return self.static_success(OPERATION, cached, &tags);
        }
        let items: Vec<Value> =
            groups.iter().enumerate().map(|(at, group)| self.group(group, at, &tags)).collect();
        if items.is_empty() {
            tags.push("empty");
        }
        let data = json!({ "items": items });
        self.memory().values.insert(OPERATION.into(), data.clone());
        self.static_success(OPERATION, data, &tags)
    }

    fn own_groups(&self, account: usize, tags: &Tags) -> Vec<Group> {
        let world = self.world();
        let of = |at: usize| world.accounts[at].groups.clone();
        let other = of(if account == MAIN_AT { SECOND_AT } else { MAIN_AT });
        let (main, own) = (of(MAIN_AT), of(account));
        self.instead("groups.listed", tags, || known! { own, other, main }).unwrap_or(own)
    }

    fn arrange(&self, groups: &mut [Group], tags: &Tags) {
        let call = self.count("groups order");
        groups.sort_by_key(|group| group.id);
        if groups.len() < 2 {
            return;
        }
        let len = groups.len();
        match () {
            () if self.on("groups-by-name", tags) => groups.sort_by(|a, b| a.name.cmp(&b.name)),
            () if self.on("groups-descending", tags) => groups.reverse(),
            () if self.on("groups-by-creation", tags) => groups.sort_by_key(|group| group.created.nanos),
            () if self.on("groups-by-update", tags) => groups.sort_by_key(|group| -group.updated.nanos),
            () if self.on("groups-by-id-as-text", tags) => groups.sort_by_key(|group| group.id.to_string()),
            () if self.on("groups-by-low-id-bits", tags) => groups.sort_by_key(|group| group.id as i32),
            () if self.on("groups-last-two-swapped", tags) => groups.swap(len - 1, len - 2),
            () if self.on("groups-rotating", tags) => groups.rotate_left(call % len),
            () => {}
        }
    }

    fn group(&self, group: &Group, at: usize, tags: &Tags) -> Value {
        let more = [(at == 2, "third"), (group.created == group.updated, "never-updated")];
        let tags = &with_tags(tags, more);
        let (created, updated) = (&group.created.text, &group.updated.text);
        let item =
            json!({ "groupId": group.id, "name": group.name, "createdAt": created, "updatedAt": updated });
        self.told("group", item, tags, &Value::Null)
    }
}
