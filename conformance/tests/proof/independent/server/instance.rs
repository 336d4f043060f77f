//! How an instance looks in a response.

use serde_json::{Value, json};

use super::Server;
use super::behaviour::{Tags, tags_of_instance, with_tags};
use super::search_input::Query;
use super::time::Time;
use super::world::Instance;

impl Server {
    pub(super) fn instance(&self, instance: &Instance, at: usize, query: &Query, tags: &Tags) -> Value {
        let more = [
            (at >= 20, "beyond-20"),
            (at >= 200, "beyond-200"),
            (query.page > 1, "later-page"),
            (instance.group.is_none(), "ungrouped"),
            (instance.activated.is_none(), "not-activated"),
            (instance.expires.is_none(), "no-expiry"),
            (true, instance.status),
        ];
        let tags = &with_tags(&tags_of_instance(tags, instance), more);
        let time = |time: &Option<Time>| match time {
            Some(time) => json!(time.text),
            None => Value::Null,
        };
        let item = json!({
            "instanceId": instance.id,
            "offerId": instance.offer,
            "status": instance.status,
            "ip": instance.ip,
            "port": instance.port,
            "protocols": ["http", "socks5"],
            "countryCode": instance.country,
            "cityCode": instance.city,
            "ispType": instance.isp,
            "expiresAt": time(&instance.expires),
            "activatedAt": time(&instance.activated),
            "capabilities": instance.capabilities,
            "groupId": instance.group,
        });
        let is_empty = instance.capabilities == json!({});
        let known = json!({ "password": instance.password });
        let mut item = self.told("instance", item, tags, &known);
        if is_empty {
            item = self.told("instance-of-nothing", item, tags, &known);
        }
        item
    }
}
