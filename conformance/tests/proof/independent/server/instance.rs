//! How an instance looks in a response.

use std::net::IpAddr;

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
            Some(time) if self.decides("zoned-times") => json!(time.zoned()),
            Some(time) => json!(time.text),
            None => Value::Null,
        };
        let mut item = json!({
            "instanceId": instance.id,
            "offerId": instance.offer,
            "status": instance.status,
            "ip": self.spelled(instance.ip),
            "port": instance.port,
            "protocols": ["http", "socks5"],
            "countryCode": instance.country,
            "cityCode": instance.city,
            "ispType": instance.isp,
            "expiresAt": time(&instance.expires),
            "activatedAt": time(&instance.activated),
            "capabilities": self.capabilities(instance, tags),
            "groupId": instance.group,
        });
        self.spoil_instance(&mut item, instance, tags);
        if self.decides("extra-fields") {
            item["label"] = json!("x");
        }
        item
    }

    fn spelled(&self, ip: IpAddr) -> String {
        match ip {
            IpAddr::V6(v6) if self.decides("long-spelling") => {
                v6.segments().iter().map(|part| format!("{part:04X}")).collect::<Vec<_>>().join(":")
            }
            _ => ip.to_string(),
        }
    }

    fn spoil_instance(&self, item: &mut Value, instance: &Instance, tags: &Tags) {
        // The list below costs more than the rest of a search, and few faults need it.
        const FAMILIES: [&str; 16] = [
            "search-id-",
            "search-offer-",
            "search-status-",
            "search-ip-",
            "search-port-",
            "search-protocols-",
            "search-country-",
            "search-city-",
            "search-isp-",
            "search-expires-",
            "search-activated-",
            "search-group-",
            "search-proxy-",
            "search-credentials",
            "search-item-",
            "search-password",
        ];
        if !FAMILIES.iter().any(|family| self.fault.is_of(family)) {
            return;
        }
        let ip = instance.ip.to_string();
        let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
        let (expires, activated) = (text("expiresAt"), text("activatedAt"));
        let float = |id: i64| json!(id as f64 as i64);
        let unzoned =
            |text: &str| if text.is_empty() { Value::Null } else { json!(text.trim_end_matches('Z')) };
        let or_null = |text: &str, value: Value| if text.is_empty() { Value::Null } else { value };
        let replaced = |text: &str, from: char, to: &str| or_null(text, json!(text.replace(from, to)));
        let or_other = |text: &str, other: Value| if text.is_empty() { other } else { json!(text) };
        let respelt =
            |from: &str, to: &str| json!(if instance.status == from { to } else { instance.status });
        let length = if instance.ip.is_ipv4() { 32 } else { 128 };
        let bracketed = if instance.ip.is_ipv6() { format!("[{ip}]") } else { ip.clone() };
        let masked = ip.rsplit_once(['.', ':']).map_or(String::new(), |(head, _)| format!("{head}.*"));
        let group = instance.group.map(|group| group.to_string());
        let Instance { id, port, password, .. } = instance;
        let rules = [
            ("search-id-text", "instanceId", json!(instance.id.to_string())),
            ("search-id-null", "instanceId", Value::Null),
            ("search-id-zero", "instanceId", json!(0)),
            ("search-id-through-float", "instanceId", float(instance.id)),
            ("search-offer-null", "offerId", Value::Null),
            ("search-offer-zero", "offerId", json!(0)),
            ("search-offer-text", "offerId", json!(instance.offer.to_string())),
            ("search-status-capitals", "status", json!(instance.status.to_uppercase())),
            ("search-status-other-word", "status", respelt("failed", "error")),
            ("search-status-number", "status", json!(1)),
            ("search-status-british", "status", respelt("cancelled", "canceled")),
            ("search-ip-with-port", "ip", json!(format!("{ip}:{port}"))),
            ("search-ip-with-length", "ip", json!(format!("{ip}/{length}"))),
            ("search-ip-in-brackets", "ip", json!(bracketed)),
            ("search-ip-masked", "ip", json!(masked)),
            ("search-ip-null", "ip", Value::Null),
            ("search-ip-number", "ip", json!(755_630_084)),
            ("search-port-text", "port", json!(instance.port.to_string())),
            ("search-port-null", "port", Value::Null),
            ("search-item-port-negative", "port", json!(-1)),
            ("search-port-signed-16", "port", json!(instance.port as i16)),
            ("search-protocols-text", "protocols", json!("http,socks5")),
            ("search-protocols-null", "protocols", Value::Null),
            ("search-protocols-numbers", "protocols", json!([1, 2])),
            ("search-protocols-objects", "protocols", json!([{ "name": "http" }])),
            ("search-country-two-letters", "countryCode", json!(instance.country[..2])),
            ("search-country-null", "countryCode", Value::Null),
            ("search-country-name", "countryCode", json!("United States")),
            ("search-city-null", "cityCode", Value::Null),
            ("search-city-number", "cityCode", json!(5_128_581)),
            ("search-isp-text", "ispType", json!("standard")),
            ("search-isp-negative", "ispType", json!(-1)),
            ("search-isp-null", "ispType", Value::Null),
            ("search-expires-epoch", "expiresAt", or_null(&expires, json!(1_709_280_000))),
            ("search-expires-without-zone", "expiresAt", unzoned(&expires)),
            ("search-expires-empty-text", "expiresAt", or_other(&expires, json!(""))),
            ("search-expires-zero", "expiresAt", or_other(&expires, json!(0))),
            ("search-expires-never", "expiresAt", or_other(&expires, json!("never"))),
            ("search-expires-date-only", "expiresAt", or_null(&expires, json!(expires.get(..10)))),
            ("search-activated-without-zone", "activatedAt", unzoned(&activated)),
            ("search-activated-with-space", "activatedAt", replaced(&activated, 'T', " ")),
            ("search-activated-epoch", "activatedAt", or_null(&activated, json!(1_709_280_000_000_u64))),
            ("search-activated-empty-text", "activatedAt", or_other(&activated, json!(""))),
            ("search-activated-short-zone", "activatedAt", replaced(&activated, 'Z', "+0000")),
            (
                "search-activated-zero-date",
                "activatedAt",
                or_other(&activated, json!("0000-00-00T00:00:00Z")),
            ),
            ("search-group-zero-when-none", "groupId", json!(instance.group.unwrap_or(0))),
            ("search-group-text", "groupId", json!(group)),
            ("search-group-object", "groupId", json!({ "id": instance.group })),
            ("search-group-minus-one-when-none", "groupId", json!(instance.group.unwrap_or(-1))),
            ("search-password", "password", json!(instance.password)),
            ("search-proxy-password", "proxyPassword", json!(instance.password)),
            ("search-credentials", "credentials", json!(format!("user{id}:{password}"))),
            ("search-proxy-url", "proxyUrl", json!(format!("http://user:{password}@{ip}:{port}"))),
            ("search-password-list", "auth", json!(["user", instance.password])),
        ];
        self.set_members(item, tags, rules);
        if self.on("search-password-in-capabilities", tags) {
            item["capabilities"]["password"] = json!(instance.password);
        }
        let members = item.as_object_mut().expect("an object");
        let names: Vec<String> = members.keys().cloned().collect();
        for name in &names {
            if self.on_part("search-item-without", name, tags)
                || members[name].is_null() && self.on_part("search-item-null-left-out", name, tags)
            {
                members.remove(name);
                return;
            }
        }
        let rules = [
            ("search-item-id-named-id", "instanceId", "id"),
            ("search-item-snake-case-country", "countryCode", "country_code"),
        ];
        self.rename_members(item, tags, rules);
    }

    fn capabilities(&self, instance: &Instance, tags: &Tags) -> Value {
        let mut declared = instance.capabilities.clone();
        if !self.fault.is_of("search-") {
            return declared;
        }
        let is_empty = declared.as_object().is_some_and(serde_json::Map::is_empty);
        let rules = [
            (is_empty, "search-capabilities-null-when-empty", Value::Null),
            (is_empty, "search-capabilities-list-when-empty", json!([])),
            (true, "search-capabilities-text", json!(declared.to_string())),
            (true, "search-capabilities-names", json!(["changeIp", "renew"])),
        ];
        if let Some(value) = self.first_broken_of(tags, rules) {
            return value;
        }
        for (rule, name, value) in [
            ("search-trial-days-text", "trialDays", json!("3")),
            ("search-trial-days-negative", "trialDays", json!(-1)),
            ("search-trial-days-boolean", "trialDays", json!(false)),
            ("search-trial-days-fraction", "trialDays", json!(1.5)),
            ("search-change-ip-number", "changeIp", json!(1)),
            ("search-change-ip-text", "changeIp", json!("yes")),
            ("search-select-replacement-text", "selectReplacement", json!("false")),
            ("search-custom-credentials-number", "customCredentials", json!(0)),
            ("search-random-credentials-text", "randomCredentials", json!("true")),
            ("search-max-batch-negative", "maxBatchSize", json!(-1)),
            ("search-max-batch-text", "maxBatchSize", json!("10")),
            ("search-max-batch-fraction", "maxBatchSize", json!(0.5)),
            ("search-purchase-boolean", "purchase", json!(true)),
            ("search-renew-list", "renew", json!([30, 60])),
            ("search-convert-trial-boolean", "convertTrial", json!(false)),
            ("search-purchase-text", "purchase", json!("30,60,90")),
        ] {
            if declared.get(name).is_some_and(|old| *old != value) && self.on(rule, tags) {
                declared[name] = value;
            }
        }
        for (rule, term, name, value) in [
            ("search-allowed-days-text", "purchase", "allowedDays", json!("30,60")),
            ("search-allowed-days-texts", "renew", "allowedDays", json!(["30"])),
            ("search-allowed-days-fraction", "purchase", "allowedDays", json!([30.5])),
            ("search-min-days-negative", "convertTrial", "minDays", json!(-1)),
            ("search-min-days-text", "purchase", "minDays", json!("30")),
            ("search-max-days-negative", "purchase", "maxDays", json!(-1)),
            ("search-max-days-unlimited", "renew", "maxDays", json!("unlimited")),
            ("search-step-days-text", "purchase", "stepDays", json!("30d")),
            ("search-step-days-negative", "renew", "stepDays", json!(-30)),
            ("search-max-days-null", "purchase", "maxDays", Value::Null),
            ("search-allowed-days-null", "renew", "allowedDays", Value::Null),
        ] {
            if declared.get(term).and_then(|rule| rule.get(name)).is_some() && self.on(rule, tags) {
                declared[term][name] = value;
            }
        }
        for (rule, name) in [
            ("search-purchase-null", "purchase"),
            ("search-trial-days-null", "trialDays"),
            ("search-change-ip-null", "changeIp"),
            ("search-max-batch-null", "maxBatchSize"),
        ] {
            if declared.get(name).is_none() && self.on(rule, tags) {
                declared[name] = Value::Null;
            }
        }
        declared
    }
}
