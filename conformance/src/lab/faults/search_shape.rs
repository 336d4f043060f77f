//! Faults in the form of a successful search.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::edit::{change, remove, rename, set, with_header, with_status, without_header};
use super::search::{CITY, asks, filtered, finds_nothing, later_page};
use crate::lab::Fault;

pub(crate) fn faults() -> Vec<Fault> {
    [envelope(), headers(), instance(), capabilities()].into_iter().flatten().collect()
}

fn envelope() -> Vec<Fault> {
    faults_of![
        "search.envelope/",
        fault("code-of-extraction", "The code is 0.").success(set("/code", 0)),
        fault("code-as-text", "The code is a string.").success(set("/code", "200")),
        fault("message-missing", "There is no message.").success(remove("/message")),
        fault("message-of-extraction", "The message is called msg.").success(rename("/message", "msg")),
        fault("message-null-on-later-pages", "On later pages the message is null.")
            .when(later_page)
            .success(set("/message", Value::Null)),
        fault("request-id-missing", "There is no requestId.").success(remove("/requestId")),
        fault("request-id-renamed", "The requestId is called request_id.")
            .success(rename("/requestId", "request_id")),
        fault("request-id-number", "The requestId is a number.").success(set("/requestId", 7)),
        fault("request-id-empty", "The requestId is empty.").success(set("/requestId", "")),
        fault("request-id-missing-with-filter", "With a filter there is no requestId.")
            .when(filtered)
            .success(remove("/requestId")),
        fault("data-is-the-list", "The data is the list itself.").success(|_, body| {
            body["data"] = body["data"]["items"].take();
        }),
        fault("page-missing", "data has no page.").success(remove("/data/page")),
        fault("size-missing", "data has no pageSize.").success(remove("/data/pageSize")),
        fault("size-renamed", "pageSize is called page_size.").success(rename("/data/pageSize", "page_size")),
        fault("page-text", "page is a string.")
            .success(change("/data/page", |page| *page = json!(page.to_string()))),
        fault("items-renamed", "items is called list.").success(rename("/data/items", "list")),
        fault("items-object", "items is an object.")
            .success(change("/data/items", |items| *items = json!({}))),
        fault("nothing-null", "An empty result has items null.").empty(set("/data/items", Value::Null)),
        fault("nothing-missing", "An empty result has no items.").empty(remove("/data/items")),
        fault("nothing-no-data", "An empty result has no data.").empty(set("/data", Value::Null)),
        fault("nothing-no-size", "An empty result has no pageSize.").empty(remove("/data/pageSize")),
        fault("accepted", "A search gets HTTP 202.").reply(with_status(StatusCode::ACCEPTED)),
        fault("nothing-partial", "An empty result gets HTTP 206.").reply(|call, reply| {
            if finds_nothing(call, reply) {
                reply.status = StatusCode::PARTIAL_CONTENT;
            }
        }),
        fault("total-missing", "data has no total.").success(remove("/data/total")),
        fault("total-renamed", "total is called count.").success(rename("/data/total", "count")),
    ]
}

fn headers() -> Vec<Fault> {
    let of_nothing = |id, breaks, name: &'static str| {
        Fault::new(id, breaks).reply(move |call, reply| {
            if finds_nothing(call, reply) {
                reply.headers.remove(name);
            }
        })
    };
    faults_of![
        "search.headers/",
        fault("storable", "There is no Cache-Control.").reply(without_header("cache-control")),
        fault("no-cache", "Cache-Control is no-cache, which allows storing.")
            .reply(with_header("cache-control", "no-cache")),
        fault("public", "Cache-Control is public.").reply(with_header("cache-control", "public, max-age=5")),
        fault("untraced", "There is no X-Request-Id.").reply(without_header("x-request-id")),
        fault("untraced-value", "X-Request-Id is empty.").reply(with_header("x-request-id", "")),
        of_nothing("nothing-storable", "An empty result may be stored.", "cache-control"),
        of_nothing("nothing-untraced", "An empty result has no X-Request-Id.", "x-request-id"),
        fault("storable-with-filter", "A filtered result may be stored.")
            .when(filtered)
            .reply(without_header("cache-control")),
        fault("untraced-later", "Later pages have no X-Request-Id.")
            .when(later_page)
            .reply(without_header("x-request-id")),
        fault("storable-by-city", "A search with a cityCode may be stored for an hour.")
            .when(asks(CITY))
            .reply(with_header("cache-control", "max-age=3600")),
    ]
}

fn instance() -> Vec<Fault> {
    // A member that is null is left out, as some libraries do by default.
    let omitted = |id, breaks, name: &'static str| {
        Fault::new(id, breaks).list(move |_, items| {
            for item in items.iter_mut().filter_map(Value::as_object_mut) {
                if item.get(name).is_some_and(Value::is_null) {
                    item.shift_remove(name);
                }
            }
        })
    };
    faults_of![
        "search.instance/",
        fault("no-offer", "An instance lacks offerId.").success(remove("/data/items/-/offerId")),
        fault("no-isp-type", "The last instance lacks ispType.").success(remove("/data/items/-/ispType")),
        fault("no-protocols", "An instance lacks protocols.").success(remove("/data/items/0/protocols")),
        fault("no-capabilities", "An instance lacks capabilities.")
            .success(remove("/data/items/*/capabilities")),
        fault("no-country", "An instance lacks countryCode.").success(remove("/data/items/-/countryCode")),
        fault("no-id", "An instance lacks instanceId.").success(remove("/data/items/-/instanceId")),
        fault("id-text", "An id is a string.").success(set("/data/items/0/instanceId", "9001")),
        fault("id-zero", "An id is 0.").success(set("/data/items/-/instanceId", 0)),
        fault("offer-zero", "An offerId is 0.").success(set("/data/items/-/offerId", 0)),
        fault("offer-of-another", "Each offerId is that of the next product.").success(change(
            "/data/items/*/offerId",
            |offer| {
                if let Some(number) = offer.as_i64() {
                    *offer = json!(number.saturating_add(1));
                }
            }
        )),
        fault("isp-types-swapped", "ispType 1 and 2 are swapped.").success(change(
            "/data/items/*/ispType",
            |isp_type| match isp_type.as_i64() {
                Some(1) => *isp_type = json!(2),
                Some(2) => *isp_type = json!(1),
                _ => {}
            }
        )),
        fault("port-text", "Ports are strings.").success(set("/data/items/*/port", "20001")),
        fault("port-negative", "A missing port is -1.").success(set("/data/items/-/port", -1)),
        fault("isp-type-name", "ispType is a name.").success(set("/data/items/*/ispType", "native")),
        fault("isp-type-negative", "An ispType is negative.").success(set("/data/items/0/ispType", -1)),
        fault("ip-name", "An ip is a host name.").success(set("/data/items/-/ip", "gw7.proxy.invalid")),
        fault("ip-with-port", "An ip comes with its port.")
            .success(set("/data/items/0/ip", "198.18.0.1:20001")),
        fault("ip-cidr", "An ip comes with a prefix length.")
            .success(set("/data/items/0/ip", "198.18.0.1/32")),
        fault("country-two-letters", "A country has two letters.")
            .success(set("/data/items/-/countryCode", "US")),
        fault("country-name", "A country is a name.").success(set("/data/items/0/countryCode", "Germany")),
        fault("city-null", "A city is null.").success(set("/data/items/-/cityCode", Value::Null)),
        fault("group-zero", "The group of an ungrouped instance is 0.")
            .success(set("/data/items/-/groupId", 0)),
        fault("expires-zoneless", "An expiresAt has no zone.")
            .success(set("/data/items/-/expiresAt", "2026-12-31T23:59:59")),
        fault("expires-empty", "An unknown expiresAt is empty.").success(set("/data/items/-/expiresAt", "")),
        fault("activated-seconds", "An activatedAt is in seconds.")
            .success(set("/data/items/0/activatedAt", 1_767_225_600)),
        fault("activated-zero", "An activatedAt is the year 0 month 0.")
            .success(set("/data/items/-/activatedAt", "0000-00-00T00:00:00Z")),
        fault("protocols-joined", "protocols is one string.").success(change(
            "/data/items/*/protocols",
            |protocols| {
                let texts: Vec<_> =
                    protocols.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                *protocols = json!(texts.join(","));
            }
        )),
        fault("protocols-null", "protocols of an instance is null.")
            .success(change("/data/items/-/protocols", |protocols| *protocols = Value::Null)),
        omitted("null-expires-omitted", "An unknown expiresAt is left out.", "expiresAt"),
        omitted("null-activated-omitted", "An activatedAt that is null is left out.", "activatedAt"),
        omitted("null-group-omitted", "The groupId of an ungrouped instance is left out.", "groupId"),
    ]
}

/// Changes the capabilities of each instance.
fn each(id: &'static str, breaks: &'static str, how: impl Fn(&mut Value) + Send + Sync + 'static) -> Fault {
    Fault::new(id, breaks).success(change("/data/items/*/capabilities", how))
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
        empty("empty-text", "Empty capabilities are a string.", ""),
        member("trial-negative", "trialDays is negative.", "trialDays", -1),
        member("trial-text", "trialDays is a string.", "trialDays", "7 days"),
        member("trial-boolean", "trialDays is a boolean.", "trialDays", true),
        member("change-number", "changeIp is a number.", "changeIp", 1),
        member("select-text", "selectReplacement is a string.", "selectReplacement", "no"),
        member("custom-null", "customCredentials is null.", "customCredentials", Value::Null),
        member("random-text", "randomCredentials is a string.", "randomCredentials", "false"),
        rule("allowed-texts", "Allowed days are texts.", "renew", "allowedDays", json!(["30", "90"])),
        rule("allowed-number", "Allowed days are one number.", "renew", "allowedDays", 30),
        rule("least-negative", "The shortest term is negative.", "purchase", "minDays", -7),
        rule("most-null", "maxDays of a purchase is null.", "purchase", "maxDays", Value::Null),
        rule("step-fraction", "stepDays is not an integer.", "convertTrial", "stepDays", json!(0.5)),
        rule("most-minus-one", "maxDays of a converted trial is -1.", "convertTrial", "maxDays", -1),
        member("rule-list", "A term rule is a list.", "purchase", json!([7, 0, 1])),
        member("rule-true", "A term rule is true.", "convertTrial", json!(true)),
    ]
}
