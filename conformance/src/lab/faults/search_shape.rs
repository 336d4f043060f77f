//! Faults in the form of a successful search.

use hyper::StatusCode;
use serde_json::{Value, json};

use super::words::*;
use crate::lab::exchange::Reply;
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.envelope/" {
            "code-of-extraction": "The code is 0." => set("/code", 0);
            "code-as-text": "The code is a string." => set("/code", "200");
            "message-missing": "There is no message." => remove("/message");
            "message-of-extraction": "The message is called msg." => rename("/message", "msg");
            "message-null-on-later-pages": "On later pages the message is null." if later_page => set("/message", Value::Null);
            "request-id-missing": "There is no requestId." => remove("/requestId");
            "request-id-renamed": "The requestId is called request_id." => rename("/requestId", "request_id");
            "request-id-number": "The requestId is a number." => set("/requestId", 7);
            "request-id-empty": "The requestId is empty." => set("/requestId", "");
            "request-id-missing-with-filter": "With a filter there is no requestId." if filtered => remove("/requestId");
            "data-is-the-list": "The data is the list itself." => success(|_, body| body["data"] = body["data"]["items"].take());
            "page-missing": "data has no page." => remove("/data/page");
            "size-missing": "data has no pageSize." => remove("/data/pageSize");
            "size-renamed": "pageSize is called page_size." => rename("/data/pageSize", "page_size");
            "page-text": "page is a string." => change("/data/page", |page| *page = json!(page.to_string()));
            "items-renamed": "items is called list." => rename("/data/items", "list");
            "items-object": "items is an object." => change("/data/items", |items| *items = json!({}));
            "nothing-null": "An empty result has items null." => empty(set("/data/items", Value::Null));
            "nothing-missing": "An empty result has no items." => empty(remove("/data/items"));
            "nothing-no-data": "An empty result has no data." => empty(set("/data", Value::Null));
            "nothing-no-size": "An empty result has no pageSize." => empty(remove("/data/pageSize"));
            "accepted": "A search gets HTTP 202." => with_status(StatusCode::ACCEPTED);
            "nothing-partial": "An empty result gets HTTP 206." => when_empty(with_status(StatusCode::PARTIAL_CONTENT));
            "total-missing": "data has no total." => remove("/data/total");
            "total-renamed": "total is called count." => rename("/data/total", "count");
            "earlier-result": "A search with the X-Request-Id of an earlier one gets its result." => success(|call, body| {
                let Some(id) = call.header(&call.contract.extract.request_id_header.name) else { return };
                match call.memory.recall(id) {
                    Some(earlier) => *body = earlier.json(),
                    None => call.memory.keep(id, &Reply::json_with(200, body)),
                }
            });
        }
        "search.headers/" {
            "storable": "There is no Cache-Control." => without_header("cache-control");
            "no-cache": "Cache-Control is no-cache, which allows storing." => with_header("cache-control", "no-cache");
            "public": "Cache-Control is public." => with_header("cache-control", "public, max-age=5");
            "untraced": "There is no X-Request-Id." => without_header("x-request-id");
            "untraced-value": "X-Request-Id is empty." => with_header("x-request-id", "");
            "nothing-storable": "An empty result may be stored." => when_empty(without_header("cache-control"));
            "nothing-untraced": "An empty result has no X-Request-Id." => when_empty(without_header("x-request-id"));
            "storable-with-filter": "A filtered result may be stored." if filtered => without_header("cache-control");
            "untraced-later": "Later pages have no X-Request-Id." if later_page => without_header("x-request-id");
            "storable-by-city": "A search with a cityCode may be stored for an hour." if with(CITY) => with_header("cache-control", "max-age=3600");
            "beside-the-callers": "Beside a request id of the caller a result has none." if with_id_of_caller => without_header("x-request-id");
        }
        "groups.headers/" {
            "beside-the-callers": "Beside a request id of the caller a listing has none." if with_id_of_caller => without_header("x-request-id");
        }
        "search.instance/" {
            "no-offer": "An instance lacks offerId." => remove("/data/items/-/offerId");
            "no-isp-type": "The last instance lacks ispType." => remove("/data/items/-/ispType");
            "no-protocols": "An instance lacks protocols." => remove("/data/items/0/protocols");
            "no-capabilities": "An instance lacks capabilities." => remove("/data/items/*/capabilities");
            "no-country": "An instance lacks countryCode." => remove("/data/items/-/countryCode");
            "no-id": "An instance lacks instanceId." => remove("/data/items/-/instanceId");
            "id-text": "An id is a string." => set("/data/items/0/instanceId", "9001");
            "id-zero": "An id is 0." => set("/data/items/-/instanceId", 0);
            "offer-zero": "An offerId is 0." => set("/data/items/-/offerId", 0);
            "offer-of-another": "Each offerId is that of the next product." => change("/data/items/*/offerId", |offer| {
                *offer = offer.as_i64().map_or_else(|| offer.clone(), |number| json!(number.saturating_add(1)));
            });
            "isp-types-swapped": "ispType 1 and 2 are swapped." => change("/data/items/*/ispType", |isp_type| match isp_type.as_i64() {
                Some(1) => *isp_type = json!(2),
                Some(2) => *isp_type = json!(1),
                _ => {}
            });
            "port-text": "Ports are strings." => set("/data/items/*/port", "20001");
            "port-negative": "A missing port is -1." => set("/data/items/-/port", -1);
            "isp-type-name": "ispType is a name." => set("/data/items/*/ispType", "native");
            "isp-type-negative": "An ispType is negative." => set("/data/items/0/ispType", -1);
            "ip-name": "An ip is a host name." => set("/data/items/-/ip", "gw7.proxy.invalid");
            "ip-with-port": "An ip comes with its port." => set("/data/items/0/ip", "198.18.0.1:20001");
            "ip-cidr": "An ip comes with a prefix length." => set("/data/items/0/ip", "198.18.0.1/32");
            "country-two-letters": "A country has two letters." => set("/data/items/-/countryCode", "US");
            "country-name": "A country is a name." => set("/data/items/0/countryCode", "Germany");
            "city-null": "A city is null." => set("/data/items/-/cityCode", Value::Null);
            "group-zero": "The group of an ungrouped instance is 0." => set("/data/items/-/groupId", 0);
            "expires-zoneless": "An expiresAt has no zone." => set("/data/items/-/expiresAt", "2026-12-31T23:59:59");
            "expires-empty": "An unknown expiresAt is empty." => set("/data/items/-/expiresAt", "");
            "activated-seconds": "An activatedAt is in seconds." => set("/data/items/0/activatedAt", 1_767_225_600);
            "activated-zero": "An activatedAt is the year 0 month 0." => set("/data/items/-/activatedAt", "0000-00-00T00:00:00Z");
            "protocols-joined": "protocols is one string." => change("/data/items/*/protocols", |protocols| {
                let texts: Vec<_> = protocols.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                *protocols = json!(texts.join(","));
            });
            "protocols-null": "protocols of an instance is null." => change("/data/items/-/protocols", |protocols| *protocols = Value::Null);
            "expires-epoch": "An unknown expiresAt is the first second of 1970." => in_place_of_null("expiresAt", "1970-01-01T00:00:00Z");
            "activated-first-year": "What was never activated was activated in the first year."
                => in_place_of_null("activatedAt", "0001-01-01T00:00:00Z");
            "null-expires-omitted": "An unknown expiresAt is left out." => omit_null("expiresAt");
            "null-activated-omitted": "An activatedAt that is null is left out." => omit_null("activatedAt");
            "null-group-omitted": "The groupId of an ungrouped instance is left out." => omit_null("groupId");
            "expiry-of-next": "Each instance shows the expiresAt of the next one on the page." => take_from_next("expiresAt");
            "capabilities-of-next": "On later pages each instance shows the capabilities of the next one."
                if later_page => take_from_next("capabilities");
            "no-expiry-beside-filter": "Beside a filter expiresAt is null."
                if filtered => list(|_, items| items.iter_mut().for_each(|item| item["expiresAt"] = Value::Null));
        }
        "search.capabilities/" {
            "empty-null": "Empty capabilities are null." => capabilities_if_empty(Value::Null);
            "empty-list": "Empty capabilities are a list." => capabilities_if_empty(json!([]));
            "empty-text": "Empty capabilities are a string." => capabilities_if_empty(json!(""));
            "trial-negative": "trialDays is negative." => capability("trialDays", -1);
            "trial-text": "trialDays is a string." => capability("trialDays", "7 days");
            "trial-boolean": "trialDays is a boolean." => capability("trialDays", true);
            "change-number": "changeIp is a number." => capability("changeIp", 1);
            "select-text": "selectReplacement is a string." => capability("selectReplacement", "no");
            "custom-null": "customCredentials is null." => capability("customCredentials", Value::Null);
            "random-text": "randomCredentials is a string." => capability("randomCredentials", "false");
            "allowed-texts": "Allowed days are texts." => rule("renew", "allowedDays", json!(["30", "90"]));
            "allowed-number": "Allowed days are one number." => rule("renew", "allowedDays", 30);
            "least-negative": "The shortest term is negative." => rule("purchase", "minDays", -7);
            "most-null": "maxDays of a purchase is null." => rule("purchase", "maxDays", Value::Null);
            "step-fraction": "stepDays is not an integer." => rule("convertTrial", "stepDays", 0.5);
            "most-minus-one": "maxDays of a converted trial is -1." => rule("convertTrial", "maxDays", -1);
            "rule-list": "A term rule is a list." => capability("purchase", json!([7, 0, 1]));
            "rule-true": "A term rule is true." => capability("convertTrial", true);
        }
    }
}

fn with_id_of_caller(call: &Call<'_>) -> bool {
    call.headers.contains_key(&call.contract.extract.request_id_header.name)
}

/// Shows a value in place of null, as some languages do by default.
fn in_place_of_null(name: &'static str, value: &'static str) -> impl OnList {
    move |_, items| {
        items.iter_mut().filter(|item| item[name].is_null()).for_each(|item| item[name] = json!(value));
    }
}

/// Leaves out a member that is null, as some libraries do by default.
fn omit_null(name: &'static str) -> impl OnList {
    move |_, items| {
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            if item.get(name).is_some_and(Value::is_null) {
                item.shift_remove(name);
            }
        }
    }
}

/// Gives each instance the member of the next one.
fn take_from_next(name: &'static str) -> impl OnList {
    move |_, items| {
        let mut values: Vec<_> = items.iter().map(|item| item[name].clone()).collect();
        values.rotate_left(items.len().min(1));
        items.iter_mut().zip(values).for_each(|(item, value)| item[name] = value);
    }
}

/// Writes empty capabilities in another way.
fn capabilities_if_empty(value: Value) -> impl OnBody {
    change("/data/items/*/capabilities", move |capabilities| {
        if *capabilities == json!({}) {
            *capabilities = value.clone();
        }
    })
}

/// Gives a capability another value, where there is one.
pub(super) fn capability(name: &'static str, value: impl Into<Value>) -> impl OnBody {
    let value = value.into();
    change("/data/items/*/capabilities", move |capabilities| {
        if capabilities.get(name).is_some() {
            capabilities[name] = value.clone();
        }
    })
}

/// Gives a member of a term rule another value, where there is such a rule.
fn rule(of: &'static str, name: &'static str, value: impl Into<Value>) -> impl OnBody {
    let value = value.into();
    change("/data/items/*/capabilities", move |capabilities| {
        if capabilities.get(of).is_some() {
            capabilities[of][name] = value.clone();
        }
    })
}
