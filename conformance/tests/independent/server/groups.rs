//! The list of groups.

use serde_json::{Value, json};

use super::behaviour::Tags;
use super::world::{Group, MAIN_AT, SECOND_AT};
use super::{Reject, Reply, Request, Server};

impl Server {
    pub(super) fn groups(&self, request: &Request, mut tags: Tags) -> Reply {
        const OPERATION: &str = "groups";
        let account = match self.static_account(OPERATION, request, &tags) {
            Ok(account) => account,
            Err(reject) => return self.static_error(OPERATION, &reject, &tags),
        };
        if self.decisions.unknown_rejected && request.query.iter().any(|(name, _)| name != "api_key") {
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
        if self.on("groups-of-everyone", tags) {
            groups.extend(of(other));
        }
        if groups.len() > 2 && self.on("groups-one-foreign", tags) {
            groups.extend(of(other).into_iter().take(1));
        }
        if groups.is_empty() && self.on("groups-of-main-when-none", tags) {
            groups = of(MAIN_AT);
        }
        if self.on("groups-of-main-always", tags) {
            groups = of(MAIN_AT);
        }
        if groups.is_empty() && self.on("groups-default-when-none", tags) {
            groups.extend(
                of(MAIN_AT).into_iter().take(1).map(|group| Group { name: "default".into(), ..group }),
            );
        }
        if self.on("groups-ungrouped-listed", tags)
            && let Some(first) = groups.first().cloned()
        {
            groups.push(Group { id: 0, name: "Ungrouped".into(), ..first });
        }
        if groups.len() > 5 && self.on("groups-five-at-most", tags) {
            groups.truncate(5);
        }
        if groups.len() > 1 && self.on("groups-newest-missing", tags) {
            groups.sort_by_key(|group| group.created.nanos);
            groups.pop();
        }
        if groups.len() > 1 && self.on("groups-highest-missing", tags) {
            groups.sort_by_key(|group| group.id);
            groups.pop();
        }
        if groups.len() > 1 && self.on("groups-one-twice", tags) {
            groups.push(groups[0].clone());
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
        let mut tags = tags.clone();
        if at == 2 {
            tags.push("third");
        }
        if group.created == group.updated {
            tags.push("never-updated");
        }
        let tags = &tags;
        let time = |nanos: i128, text: &str| {
            let time = super::time::Time { text: text.to_owned(), nanos };
            if self.decisions.zoned_times { time.zoned() } else { time.text }
        };
        let (created, updated) =
            (time(group.created.nanos, &group.created.text), time(group.updated.nanos, &group.updated.text));
        let mut item =
            json!({ "groupId": group.id, "name": group.name, "createdAt": created, "updatedAt": updated });
        for (rule, name, value) in [
            ("groups-id-text", "groupId", json!(group.id.to_string())),
            ("groups-id-fraction", "groupId", json!(group.id as f64 + 0.5)),
            ("groups-id-null", "groupId", Value::Null),
            ("groups-id-negative", "groupId", json!(-group.id)),
            ("groups-id-32-bits", "groupId", json!(group.id as i32)),
            ("groups-name-null", "name", Value::Null),
            (
                "groups-name-number",
                "name",
                group.name.parse::<i64>().map_or(json!(group.name), |name| json!(name)),
            ),
            ("groups-name-object", "name", json!({ "en": group.name })),
            ("groups-created-epoch", "createdAt", json!((group.created.nanos / 1_000_000_000) as i64)),
            ("groups-created-without-zone", "createdAt", json!(created.trim_end_matches('Z'))),
            (
                "groups-created-with-space",
                "createdAt",
                json!(created.replace('T', " ").trim_end_matches('Z')),
            ),
            ("groups-created-date-only", "createdAt", json!(created[..10])),
            ("groups-created-short-zone", "createdAt", json!(created.replace('Z', "+0000"))),
            ("groups-created-empty", "createdAt", json!("")),
            ("groups-created-rfc-2822", "createdAt", json!("Fri, 01 Mar 2024 08:00:00 GMT")),
            ("groups-created-month-13", "createdAt", json!("2024-13-01T08:00:00Z")),
            ("groups-updated-null", "updatedAt", Value::Null),
            ("groups-updated-without-zone", "updatedAt", json!(updated.trim_end_matches('Z'))),
            ("groups-updated-short-zone", "updatedAt", json!(updated.replace('Z', "+0000"))),
            (
                "groups-updated-epoch-text",
                "updatedAt",
                json!((group.updated.nanos / 1_000_000_000).to_string()),
            ),
            ("groups-updated-zone-name", "updatedAt", json!(updated.replace('Z', " UTC"))),
            ("groups-password", "password", json!("pw-Secret00000x")),
            (
                "groups-credentials",
                "credentials",
                json!({ "username": "user", "password": "pw-Secret07919x" }),
            ),
        ] {
            if item[name] != value && self.on(rule, tags) {
                item[name] = value;
            }
        }
        let members = item.as_object_mut().expect("an object");
        for (rule, name) in [
            ("groups-without-id", "groupId"),
            ("groups-without-name", "name"),
            ("groups-without-created", "createdAt"),
            ("groups-without-updated", "updatedAt"),
        ] {
            if self.on(rule, tags) {
                members.remove(name);
            }
        }
        if self.on("groups-id-named-id", tags) {
            let id = members.remove("groupId").unwrap_or_default();
            members.insert("id".into(), id);
        }
        if self.on("groups-snake-case-times", tags) {
            let created = members.remove("createdAt").unwrap_or_default();
            members.insert("created_at".into(), created);
        }
        if self.decisions.extra_fields {
            members.insert("color".into(), json!("#00f"));
        }
        item
    }
}
