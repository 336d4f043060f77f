//! The list of groups.

use serde_json::{Value, json};

use super::behaviour::{Tags, with_tags};
use super::time::Time;
use super::world::{Group, MAIN_AT, SECOND_AT};
use super::{Reject, Reply, Request, Server};

impl Server {
    pub(super) fn groups(&self, request: &Request, mut tags: Tags) -> Reply {
        const OPERATION: &str = "groups";
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
        let cached = self.memory().values.get("groups").cloned();
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
        self.memory().values.insert("groups".into(), data.clone());
        self.static_success(OPERATION, data, &tags)
    }

    fn own_groups(&self, account: usize, tags: &Tags) -> Vec<Group> {
        let world = self.world();
        let mut groups = world.accounts[account].groups.clone();
        let of = |at: usize| world.accounts[at].groups.clone();
        let other = if account == MAIN_AT { SECOND_AT } else { MAIN_AT };
        let first = of(MAIN_AT).into_iter().next();
        let count = groups.len();
        match () {
            () if self.on("groups-of-everyone", tags) => groups.extend(of(other)),
            () if count > 2 && self.on("groups-one-foreign", tags) => {
                groups.extend(of(other).into_iter().take(1));
            }
            () if count == 0 && self.on("groups-of-main-when-none", tags) => groups = of(MAIN_AT),
            () if self.on("groups-of-main-always", tags) => groups = of(MAIN_AT),
            () if count == 0 && self.on("groups-default-when-none", tags) => {
                groups.extend(first.map(|group| Group { name: "default".into(), ..group }));
            }
            () if self.on("groups-ungrouped-listed", tags) => {
                let first = groups.first().cloned();
                groups.extend(first.map(|first| Group { id: 0, name: "Ungrouped".into(), ..first }));
            }
            () if count > 5 && self.on("groups-five-at-most", tags) => groups.truncate(5),
            () if count > 1 && self.on("groups-newest-missing", tags) => {
                groups.sort_by_key(|group| group.created.nanos);
                groups.pop();
            }
            () if count > 1 && self.on("groups-highest-missing", tags) => {
                groups.sort_by_key(|group| group.id);
                groups.pop();
            }
            () if count > 1 && self.on("groups-one-twice", tags) => groups.push(groups[0].clone()),
            () => {}
        }
        groups
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
        let shown = |time: &Time| if self.decides("zoned-times") { time.zoned() } else { time.text.clone() };
        let (created, updated) = (shown(&group.created), shown(&group.updated));
        let mut item =
            json!({ "groupId": group.id, "name": group.name, "createdAt": created, "updatedAt": updated });
        let number = group.name.parse::<i64>().ok();
        let with_space = created.replace('T', " ");
        let with_space = with_space.trim_end_matches('Z');
        let epoch = |time: &Time| (time.nanos / 1_000_000_000) as i64;
        let credentials = json!({ "username": "user", "password": "pw-Secret07919x" });
        let rules = [
            ("groups-id-text", "groupId", json!(group.id.to_string())),
            ("groups-id-fraction", "groupId", json!(group.id as f64 + 0.5)),
            ("groups-id-null", "groupId", Value::Null),
            ("groups-id-negative", "groupId", json!(-group.id)),
            ("groups-id-32-bits", "groupId", json!(group.id as i32)),
            ("groups-name-null", "name", Value::Null),
            ("groups-name-number", "name", number.map_or(json!(group.name), |number| json!(number))),
            ("groups-name-object", "name", json!({ "en": group.name })),
            ("groups-created-epoch", "createdAt", json!(epoch(&group.created))),
            ("groups-created-without-zone", "createdAt", json!(created.trim_end_matches('Z'))),
            ("groups-created-with-space", "createdAt", json!(with_space)),
            ("groups-created-date-only", "createdAt", json!(created[..10])),
            ("groups-created-short-zone", "createdAt", json!(created.replace('Z', "+0000"))),
            ("groups-created-empty", "createdAt", json!("")),
            ("groups-created-rfc-2822", "createdAt", json!("Fri, 01 Mar 2024 08:00:00 GMT")),
            ("groups-created-month-13", "createdAt", json!("2024-13-01T08:00:00Z")),
            ("groups-updated-null", "updatedAt", Value::Null),
            ("groups-updated-without-zone", "updatedAt", json!(updated.trim_end_matches('Z'))),
            ("groups-updated-short-zone", "updatedAt", json!(updated.replace('Z', "+0000"))),
            ("groups-updated-epoch-text", "updatedAt", json!(epoch(&group.updated).to_string())),
            ("groups-updated-zone-name", "updatedAt", json!(updated.replace('Z', " UTC"))),
            ("groups-password", "password", json!("pw-Secret00000x")),
            ("groups-credentials", "credentials", credentials),
        ];
        self.set_members(&mut item, tags, rules);
        let rules = [
            ("groups-without-id", "groupId", ""),
            ("groups-without-name", "name", ""),
            ("groups-without-created", "createdAt", ""),
            ("groups-without-updated", "updatedAt", ""),
            ("groups-id-named-id", "groupId", "id"),
            ("groups-snake-case-times", "createdAt", "created_at"),
        ];
        self.rename_members(&mut item, tags, rules);
        if self.decides("extra-fields") {
            item["color"] = json!("#00f");
        }
        item
    }
}
