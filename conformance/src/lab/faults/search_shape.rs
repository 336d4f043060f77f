//! Faults in the form of a successful search.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::edit::{change, remove, rename, set, with_header, with_status, without_header};
use super::search::{CITY, asks, filtered, items, later_page};
use crate::lab::exchange::{ProxiedRequest, Reply};
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [envelope(), headers(), instance(), null(), capabilities(), terms()].into_iter().flatten().collect()
}

fn finds_nothing(context: &Context, seen: &ProxiedRequest, reply: &Reply) -> bool {
    context.accepted(seen, reply) && reply.json()["data"]["items"] == json!([])
}

fn envelope() -> Vec<Fault> {
    let of_nothing = |id, breaks, how: fn(&mut Value)| {
        Fault::success(id, breaks, move |_, _, body| {
            if body["data"]["items"] == json!([]) {
                how(body);
            }
        })
    };
    faults_of![
        "search.envelope/",
        success("code-of-extraction", "The code is 0.", set("/code", 0)),
        success("code-as-text", "The code is a text.", set("/code", "200")),
        success("message-missing", "There is no message.", remove("/message")),
        success("message-of-extraction", "The message is called msg.", rename("/message", "msg")),
        success(
            "message-null-on-later-pages",
            "On later pages the message is null.",
            set("/message", Value::Null)
        )
        .when(later_page),
        success("request-id-missing", "There is no requestId.", remove("/requestId")),
        success(
            "request-id-renamed",
            "The requestId is called request_id.",
            rename("/requestId", "request_id")
        ),
        success("request-id-number", "The requestId is a number.", set("/requestId", 7)),
        success("request-id-empty", "The requestId is empty.", set("/requestId", "")),
        success(
            "request-id-missing-with-filter",
            "With a filter there is no requestId.",
            remove("/requestId")
        )
        .when(filtered),
        success("data-is-the-list", "The data is the list itself.", |_, _, body| {
            body["data"] = body["data"]["items"].take();
        }),
        success("page-missing", "data has no page.", remove("/data/page")),
        success("size-missing", "data has no pageSize.", remove("/data/pageSize")),
        success("size-renamed", "pageSize is called page_size.", rename("/data/pageSize", "page_size")),
        success("page-text", "page is a text.", change("/data/page", |page| *page = json!(page.to_string()))),
        success("items-renamed", "items is called list.", rename("/data/items", "list")),
        success("items-object", "items is an object.", change("/data/items", |items| *items = json!({}))),
        of_nothing("nothing-null", "An empty result has items null.", |body| {
            body["data"]["items"] = Value::Null
        }),
        of_nothing("nothing-missing", "An empty result has no items.", |body| {
            body["data"].as_object_mut().and_then(|data| data.shift_remove("items"));
        }),
        of_nothing("nothing-no-data", "An empty result has no data.", |body| body["data"] = Value::Null),
        of_nothing("nothing-no-size", "An empty result has no pageSize.", |body| {
            body["data"].as_object_mut().and_then(|data| data.shift_remove("pageSize"));
        }),
        reply("accepted", "A search gets HTTP 202.", with_status(StatusCode::ACCEPTED)),
        reply("nothing-partial", "An empty result gets HTTP 206.", |context, seen, reply| {
            if finds_nothing(context, seen, reply) {
                reply.status = hyper::StatusCode::PARTIAL_CONTENT;
            }
        }),
        success("total-missing", "data has no total.", remove("/data/total")),
        success("total-renamed", "total is called count.", rename("/data/total", "count")),
    ]
}

fn headers() -> Vec<Fault> {
    let of_nothing = |id, breaks, name: &'static str| {
        Fault::reply(id, breaks, move |context, seen, reply| {
            if finds_nothing(context, seen, reply) {
                reply.headers.remove(name);
            }
        })
    };
    faults_of![
        "search.headers/",
        reply("storable", "There is no Cache-Control.", without_header("cache-control")),
        reply(
            "no-cache",
            "Cache-Control is no-cache, which allows storing.",
            with_header("cache-control", "no-cache")
        ),
        reply("public", "Cache-Control is public.", with_header("cache-control", "public, max-age=5")),
        reply("untraced", "There is no X-Request-Id.", without_header("x-request-id")),
        reply("untraced-value", "X-Request-Id is empty.", with_header("x-request-id", "")),
        of_nothing("nothing-storable", "An empty result may be stored.", "cache-control"),
        of_nothing("nothing-untraced", "An empty result has no X-Request-Id.", "x-request-id"),
        reply("storable-with-filter", "A filtered result may be stored.", without_header("cache-control"))
            .when(filtered),
        reply("untraced-later", "Later pages have no X-Request-Id.", without_header("x-request-id"))
            .when(later_page),
        reply(
            "storable-by-city",
            "A search with a cityCode may be stored for an hour.",
            with_header("cache-control", "max-age=3600")
        )
        .when(asks(CITY)),
    ]
}

fn instance() -> Vec<Fault> {
    let each_item = |id, breaks, how: fn(&mut Value)| {
        Fault::success(id, breaks, move |_, _, body| {
            body["data"]["items"].as_array_mut().into_iter().flatten().for_each(how);
        })
    };
    faults_of![
        "search.instance/",
        success("no-offer", "An instance lacks offerId.", remove("/data/items/-/offerId")),
        success("no-isp-type", "The last instance lacks ispType.", remove("/data/items/-/ispType")),
        success("no-protocols", "An instance lacks protocols.", remove("/data/items/0/protocols")),
        success("no-capabilities", "An instance lacks capabilities.", remove("/data/items/*/capabilities")),
        success("no-country", "An instance lacks countryCode.", remove("/data/items/-/countryCode")),
        success("no-id", "An instance lacks instanceId.", remove("/data/items/-/instanceId")),
        success("id-text", "An id is a text.", set("/data/items/0/instanceId", "9001")),
        success("id-zero", "An id is 0.", set("/data/items/-/instanceId", 0)),
        success("offer-zero", "An offerId is 0.", set("/data/items/-/offerId", 0)),
        each_item("offer-of-another", "Each offerId is that of the next product.", |item| {
            if let Some(offer) = item["offerId"].as_i64() {
                item["offerId"] = json!(offer + 1);
            }
        }),
        each_item("isp-types-swapped", "ispType 1 and 2 are swapped.", |item| {
            match item["ispType"].as_i64() {
                Some(1) => item["ispType"] = json!(2),
                Some(2) => item["ispType"] = json!(1),
                _ => {}
            }
        }),
        success("port-text", "Ports are texts.", set("/data/items/*/port", "20001")),
        success("port-negative", "A missing port is -1.", set("/data/items/-/port", -1)),
        success("isp-type-name", "ispType is a name.", set("/data/items/*/ispType", "native")),
        success("isp-type-negative", "An ispType is negative.", set("/data/items/0/ispType", -1)),
        success("ip-name", "An ip is a host name.", set("/data/items/-/ip", "gw7.proxy.invalid")),
        success("ip-with-port", "An ip comes with its port.", set("/data/items/0/ip", "198.18.0.1:20001")),
        success("ip-cidr", "An ip comes with a prefix length.", set("/data/items/0/ip", "198.18.0.1/32")),
        success("country-two-letters", "A country has two letters.", set("/data/items/-/countryCode", "US")),
        success("country-name", "A country is a name.", set("/data/items/0/countryCode", "Germany")),
        success("city-null", "A city is null.", set("/data/items/-/cityCode", Value::Null)),
        success("group-zero", "The group of an ungrouped instance is 0.", set("/data/items/-/groupId", 0)),
        success(
            "expires-zoneless",
            "An expiresAt has no zone.",
            set("/data/items/-/expiresAt", "2026-12-31T23:59:59")
        ),
        success("expires-empty", "An unknown expiresAt is empty.", set("/data/items/-/expiresAt", "")),
        success(
            "activated-seconds",
            "An activatedAt is in seconds.",
            set("/data/items/0/activatedAt", 1_767_225_600)
        ),
        success(
            "activated-zero",
            "An activatedAt is the year 0 month 0.",
            set("/data/items/-/activatedAt", "0000-00-00T00:00:00Z")
        ),
        success(
            "protocols-joined",
            "protocols are one text.",
            change("/data/items/*/protocols", |protocols| {
                let texts: Vec<_> =
                    protocols.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                *protocols = json!(texts.join(","));
            })
        ),
        success(
            "protocols-null",
            "No protocols are null.",
            change("/data/items/-/protocols", |protocols| *protocols = Value::Null)
        ),
    ]
}

fn null() -> Vec<Fault> {
    // A member that is null is left out, as some libraries do by default.
    let omitted = |id, breaks, name: &'static str| {
        Fault::success(id, breaks, move |_, _, body| {
            for item in items(body).into_iter().flatten().filter_map(Value::as_object_mut) {
                if item.get(name).is_some_and(Value::is_null) {
                    item.shift_remove(name);
                }
            }
        })
    };
    faults_of![
        "search.instance/",
        omitted("null-expires-omitted", "An unknown expiresAt is left out.", "expiresAt"),
        omitted("null-activated-omitted", "An activatedAt that is null is left out.", "activatedAt"),
        omitted("null-group-omitted", "The groupId of an ungrouped instance is left out.", "groupId"),
    ]
}

/// Changes the capabilities of each instance.
fn each(id: &'static str, breaks: &'static str, how: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    Fault::success(id, breaks, change("/data/items/*/capabilities", how))
}

/// Writes empty capabilities in another way.
fn empty(id: &'static str, breaks: &'static str, value: impl Into<Value>) -> Fault {
    let value = value.into();
    each(id, breaks, move |capabilities| {
        if *capabilities == json!({}) {
            *capabilities = value.clone();
        }
    })
}

/// Gives a capability another value, where there is one.
fn member(id: &'static str, breaks: &'static str, name: &'static str, value: impl Into<Value>) -> Fault {
    let value = value.into();
    each(id, breaks, move |capabilities| {
        if capabilities.get(name).is_some() {
            capabilities[name] = value.clone();
        }
    })
}

/// Gives a member of a term rule another value, where there is such a rule.
fn rule(
    id: &'static str,
    breaks: &'static str,
    of: &'static str,
    name: &'static str,
    value: impl Into<Value>,
) -> Fault {
    let value = value.into();
    each(id, breaks, move |capabilities| {
        if capabilities.get(of).is_some() {
            capabilities[of][name] = value.clone();
        }
    })
}

fn capabilities() -> Vec<Fault> {
    faults_of![
        "search.capabilities/",
        empty("empty-null", "Empty capabilities are null.", Value::Null),
        empty("empty-list", "Empty capabilities are a list.", json!([])),
        empty("empty-text", "Empty capabilities are a text.", ""),
        member("trial-negative", "A trial has negative days.", "trialDays", -1),
        member("trial-text", "A trial is a text.", "trialDays", "7 days"),
        member("trial-boolean", "A trial is true or false.", "trialDays", true),
        member("change-number", "changeIp is a number.", "changeIp", 1),
        member("select-text", "selectReplacement is a text.", "selectReplacement", "no"),
        member("custom-null", "customCredentials is null.", "customCredentials", Value::Null),
        member("random-text", "randomCredentials is a text.", "randomCredentials", "false"),
    ]
}

fn terms() -> Vec<Fault> {
    faults_of![
        "search.capabilities/",
        rule("allowed-texts", "Allowed days are texts.", "renew", "allowedDays", json!(["30", "90"])),
        rule("allowed-number", "Allowed days are one number.", "renew", "allowedDays", 30),
        rule("least-negative", "The shortest term is negative.", "purchase", "minDays", -7),
        rule("most-null", "No longest term is null.", "purchase", "maxDays", Value::Null),
        rule("step-fraction", "A step is no whole number.", "convertTrial", "stepDays", json!(0.5)),
        rule("most-minus-one", "No longest term is -1.", "convertTrial", "maxDays", -1),
        member("rule-list", "A term rule is a list.", "purchase", json!([7, 0, 1])),
        member("rule-true", "A term rule is true.", "convertTrial", json!(true)),
    ]
}
