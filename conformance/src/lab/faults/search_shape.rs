//! Faults in the form of a successful search.

use serde_json::{Value, json};

use super::edit::{change, remove, rename, set, with_header, without_header};
use super::search::{asks, filters, items, later_page};
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
    vec![
        Fault::success("search.envelope/code-of-extraction", "The code is 0.", set("/code", json!(0))),
        Fault::success("search.envelope/code-as-text", "The code is a text.", set("/code", json!("200"))),
        Fault::success("search.envelope/message-missing", "There is no message.", remove("/message")),
        Fault::success(
            "search.envelope/message-of-extraction",
            "The message is called msg.",
            rename("/message", "msg"),
        ),
        Fault::success(
            "search.envelope/message-null-on-later-pages",
            "On later pages the message is null.",
            set("/message", Value::Null),
        )
        .when(later_page),
        Fault::success("search.envelope/request-id-missing", "There is no requestId.", remove("/requestId")),
        Fault::success(
            "search.envelope/request-id-renamed",
            "The requestId is called request_id.",
            rename("/requestId", "request_id"),
        ),
        Fault::success(
            "search.envelope/request-id-number",
            "The requestId is a number.",
            set("/requestId", json!(7)),
        ),
        Fault::success(
            "search.envelope/request-id-empty",
            "The requestId is empty.",
            set("/requestId", json!("")),
        ),
        Fault::success(
            "search.envelope/request-id-missing-with-filter",
            "With a filter there is no requestId.",
            remove("/requestId"),
        )
        .when(|context, seen| filters(context, seen) > 0),
        Fault::success("search.envelope/data-is-the-list", "The data is the list itself.", |_, _, body| {
            body["data"] = body["data"]["items"].take();
        }),
        Fault::success("search.envelope/page-missing", "data has no page.", remove("/data/page")),
        Fault::success("search.envelope/size-missing", "data has no pageSize.", remove("/data/pageSize")),
        Fault::success(
            "search.envelope/size-renamed",
            "pageSize is called page_size.",
            rename("/data/pageSize", "page_size"),
        ),
        Fault::success(
            "search.envelope/page-text",
            "page is a text.",
            change("/data/page", |page| *page = json!(page.to_string())),
        ),
        Fault::success(
            "search.envelope/items-renamed",
            "items is called list.",
            rename("/data/items", "list"),
        ),
        Fault::success(
            "search.envelope/items-object",
            "items is an object.",
            change("/data/items", |items| *items = json!({})),
        ),
        of_nothing("search.envelope/nothing-null", "An empty result has items null.", |body| {
            body["data"]["items"] = Value::Null
        }),
        of_nothing("search.envelope/nothing-missing", "An empty result has no items.", |body| {
            body["data"].as_object_mut().and_then(|data| data.shift_remove("items"));
        }),
        of_nothing("search.envelope/nothing-no-data", "An empty result has no data.", |body| {
            body["data"] = Value::Null
        }),
        of_nothing("search.envelope/nothing-no-size", "An empty result has no pageSize.", |body| {
            body["data"].as_object_mut().and_then(|data| data.shift_remove("pageSize"));
        }),
        Fault::reply("search.envelope/accepted", "A search gets HTTP 202.", |context, seen, reply| {
            if context.accepted(seen, reply) {
                reply.status = hyper::StatusCode::ACCEPTED;
            }
        }),
        Fault::reply(
            "search.envelope/nothing-partial",
            "An empty result gets HTTP 206.",
            |context, seen, reply| {
                if finds_nothing(context, seen, reply) {
                    reply.status = hyper::StatusCode::PARTIAL_CONTENT;
                }
            },
        ),
        Fault::success("search.envelope/total-missing", "data has no total.", remove("/data/total")),
        Fault::success(
            "search.envelope/total-renamed",
            "total is called count.",
            rename("/data/total", "count"),
        ),
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
    vec![
        Fault::reply(
            "search.headers/storable",
            "There is no Cache-Control.",
            without_header("cache-control"),
        ),
        Fault::reply(
            "search.headers/no-cache",
            "Cache-Control is no-cache, which allows storing.",
            with_header("cache-control", "no-cache"),
        ),
        Fault::reply(
            "search.headers/public",
            "Cache-Control is public.",
            with_header("cache-control", "public, max-age=5"),
        ),
        Fault::reply("search.headers/untraced", "There is no X-Request-Id.", without_header("x-request-id")),
        Fault::reply(
            "search.headers/untraced-value",
            "X-Request-Id is empty.",
            with_header("x-request-id", ""),
        ),
        of_nothing("search.headers/nothing-storable", "An empty result may be stored.", "cache-control"),
        of_nothing("search.headers/nothing-untraced", "An empty result has no X-Request-Id.", "x-request-id"),
        Fault::reply(
            "search.headers/storable-with-filter",
            "A filtered result may be stored.",
            without_header("cache-control"),
        )
        .when(|context, seen| filters(context, seen) > 0),
        Fault::reply(
            "search.headers/untraced-later",
            "Later pages have no X-Request-Id.",
            without_header("x-request-id"),
        )
        .when(later_page),
        Fault::reply(
            "search.headers/storable-by-city",
            "A search with a cityCode may be stored for an hour.",
            with_header("cache-control", "max-age=3600"),
        )
        .when(asks(|search| &search.city_code)),
    ]
}

fn instance() -> Vec<Fault> {
    let missing = |id, breaks, path| Fault::success(id, breaks, remove(path));
    let changed = |id, breaks, path: &'static str, value: Value| Fault::success(id, breaks, set(path, value));
    let each_item = |id, breaks, how: fn(&mut Value)| {
        Fault::success(id, breaks, move |_, _, body| {
            body["data"]["items"].as_array_mut().into_iter().flatten().for_each(how);
        })
    };
    vec![
        missing("search.instance/no-offer", "An instance lacks offerId.", "/data/items/-/offerId"),
        missing("search.instance/no-isp-type", "The last instance lacks ispType.", "/data/items/-/ispType"),
        missing("search.instance/no-protocols", "An instance lacks protocols.", "/data/items/0/protocols"),
        missing(
            "search.instance/no-capabilities",
            "An instance lacks capabilities.",
            "/data/items/*/capabilities",
        ),
        missing("search.instance/no-country", "An instance lacks countryCode.", "/data/items/-/countryCode"),
        missing("search.instance/no-id", "An instance lacks instanceId.", "/data/items/-/instanceId"),
        changed("search.instance/id-text", "An id is a text.", "/data/items/0/instanceId", json!("9001")),
        changed("search.instance/id-zero", "An id is 0.", "/data/items/-/instanceId", json!(0)),
        changed("search.instance/offer-zero", "An offerId is 0.", "/data/items/-/offerId", json!(0)),
        each_item("search.instance/offer-of-another", "Each offerId is that of the next product.", |item| {
            if let Some(offer) = item["offerId"].as_i64() {
                item["offerId"] = json!(offer + 1);
            }
        }),
        each_item("search.instance/isp-types-swapped", "ispType 1 and 2 are swapped.", |item| {
            match item["ispType"].as_i64() {
                Some(1) => item["ispType"] = json!(2),
                Some(2) => item["ispType"] = json!(1),
                _ => {}
            }
        }),
        changed("search.instance/port-text", "Ports are texts.", "/data/items/*/port", json!("20001")),
        changed("search.instance/port-negative", "A missing port is -1.", "/data/items/-/port", json!(-1)),
        changed(
            "search.instance/isp-type-name",
            "ispType is a name.",
            "/data/items/*/ispType",
            json!("native"),
        ),
        changed(
            "search.instance/isp-type-negative",
            "An ispType is negative.",
            "/data/items/0/ispType",
            json!(-1),
        ),
        changed(
            "search.instance/ip-name",
            "An ip is a host name.",
            "/data/items/-/ip",
            json!("gw7.proxy.invalid"),
        ),
        changed(
            "search.instance/ip-with-port",
            "An ip comes with its port.",
            "/data/items/0/ip",
            json!("198.18.0.1:20001"),
        ),
        changed(
            "search.instance/ip-cidr",
            "An ip comes with a prefix length.",
            "/data/items/0/ip",
            json!("198.18.0.1/32"),
        ),
        changed(
            "search.instance/country-two-letters",
            "A country has two letters.",
            "/data/items/-/countryCode",
            json!("US"),
        ),
        changed(
            "search.instance/country-name",
            "A country is a name.",
            "/data/items/0/countryCode",
            json!("Germany"),
        ),
        changed("search.instance/city-null", "A city is null.", "/data/items/-/cityCode", Value::Null),
        changed(
            "search.instance/group-zero",
            "The group of an ungrouped instance is 0.",
            "/data/items/-/groupId",
            json!(0),
        ),
        changed(
            "search.instance/expires-zoneless",
            "An expiresAt has no zone.",
            "/data/items/-/expiresAt",
            json!("2026-12-31T23:59:59"),
        ),
        changed(
            "search.instance/expires-empty",
            "An unknown expiresAt is empty.",
            "/data/items/-/expiresAt",
            json!(""),
        ),
        changed(
            "search.instance/activated-seconds",
            "An activatedAt is in seconds.",
            "/data/items/0/activatedAt",
            json!(1_767_225_600),
        ),
        changed(
            "search.instance/activated-zero",
            "An activatedAt is the year 0 month 0.",
            "/data/items/-/activatedAt",
            json!("0000-00-00T00:00:00Z"),
        ),
        Fault::success(
            "search.instance/protocols-joined",
            "protocols are one text.",
            change("/data/items/*/protocols", |protocols| {
                let texts: Vec<_> =
                    protocols.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                *protocols = json!(texts.join(","));
            }),
        ),
        Fault::success(
            "search.instance/protocols-null",
            "No protocols are null.",
            change("/data/items/-/protocols", |protocols| *protocols = Value::Null),
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
    vec![
        omitted("search.instance/null-expires-omitted", "An unknown expiresAt is left out.", "expiresAt"),
        omitted(
            "search.instance/null-activated-omitted",
            "An activatedAt that is null is left out.",
            "activatedAt",
        ),
        omitted(
            "search.instance/null-group-omitted",
            "The groupId of an ungrouped instance is left out.",
            "groupId",
        ),
    ]
}

fn capabilities() -> Vec<Fault> {
    // Empty capabilities written in another way.
    let empty = |id, breaks, value: Value| {
        Fault::success(
            id,
            breaks,
            change("/data/items/*/capabilities", move |capabilities| {
                if *capabilities == json!({}) {
                    *capabilities = value.clone();
                }
            }),
        )
    };
    let member = |id, breaks, name: &'static str, value: Value| {
        Fault::success(
            id,
            breaks,
            change("/data/items/*/capabilities", move |capabilities| {
                if capabilities.get(name).is_some() {
                    capabilities[name] = value.clone();
                }
            }),
        )
    };
    vec![
        empty("search.capabilities/empty-null", "Empty capabilities are null.", Value::Null),
        empty("search.capabilities/empty-list", "Empty capabilities are a list.", json!([])),
        empty("search.capabilities/empty-text", "Empty capabilities are a text.", json!("")),
        member("search.capabilities/trial-negative", "A trial has negative days.", "trialDays", json!(-1)),
        member("search.capabilities/trial-text", "A trial is a text.", "trialDays", json!("7 days")),
        member("search.capabilities/trial-boolean", "A trial is true or false.", "trialDays", json!(true)),
        member("search.capabilities/change-number", "changeIp is a number.", "changeIp", json!(1)),
        member(
            "search.capabilities/select-text",
            "selectReplacement is a text.",
            "selectReplacement",
            json!("no"),
        ),
        member(
            "search.capabilities/custom-null",
            "customCredentials is null.",
            "customCredentials",
            Value::Null,
        ),
        member(
            "search.capabilities/random-text",
            "randomCredentials is a text.",
            "randomCredentials",
            json!("false"),
        ),
    ]
}

fn terms() -> Vec<Fault> {
    let rule = |id, breaks, of: &'static str, name: &'static str, value: Value| {
        Fault::success(
            id,
            breaks,
            change("/data/items/*/capabilities", move |capabilities| {
                if capabilities.get(of).is_some() {
                    capabilities[of][name] = value.clone();
                }
            }),
        )
    };
    vec![
        rule(
            "search.capabilities/allowed-texts",
            "Allowed days are texts.",
            "renew",
            "allowedDays",
            json!(["30", "90"]),
        ),
        rule(
            "search.capabilities/allowed-number",
            "Allowed days are one number.",
            "renew",
            "allowedDays",
            json!(30),
        ),
        rule(
            "search.capabilities/least-negative",
            "The shortest term is negative.",
            "purchase",
            "minDays",
            json!(-7),
        ),
        rule("search.capabilities/most-null", "No longest term is null.", "purchase", "maxDays", Value::Null),
        rule(
            "search.capabilities/step-fraction",
            "A step is no whole number.",
            "convertTrial",
            "stepDays",
            json!(0.5),
        ),
        rule(
            "search.capabilities/most-minus-one",
            "No longest term is -1.",
            "convertTrial",
            "maxDays",
            json!(-1),
        ),
        Fault::success(
            "search.capabilities/rule-list",
            "A term rule is a list.",
            change("/data/items/*/capabilities", |capabilities| {
                if capabilities.get("purchase").is_some() {
                    capabilities["purchase"] = json!([7, 0, 1]);
                }
            }),
        ),
        Fault::success(
            "search.capabilities/rule-true",
            "A term rule is true.",
            change("/data/items/*/capabilities", |capabilities| {
                if capabilities.get("convertTrial").is_some() {
                    capabilities["convertTrial"] = json!(true);
                }
            }),
        ),
    ]
}
