//! Faults of the search that show in one combination only: beside another field, in a large batch, at the same time.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::search::{
    CITY, COUNTRY, FROM, GROUP, NOBODY, ORDER, PAGE, SIZE, STATUS, TO, asks, bare, count, distinct, edit_ips,
    has_port, ignore, ips, is_v6, put, text, value, with_empty_ips,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [filters(), times(), items(), batches(), matches(), bodies()].into_iter().flatten().collect()
}

fn filters() -> Vec<Fault> {
    let unlisted = |call: &Call<'_>| {
        let statuses = &call.contract.search.statuses;
        text(call, STATUS).is_some_and(|status| !statuses.contains(&status))
    };
    let beginning = |call: &Call<'_>| {
        let statuses = &call.contract.search.statuses;
        let asked = text(call, STATUS).filter(|asked| asked.len() > 2)?;
        statuses.iter().find(|status| **status != asked && status.starts_with(&asked)).cloned()
    };
    faults_of![
        "search.",
        fault("status/beginning", "The beginning of a status stands for it.").request(move |call| {
            if let Some(status) = beginning(call) {
                put(call, STATUS, status);
            }
        }),
        fault("status/unlisted-beside-group", "Beside a group any status is accepted.")
            .when(unlisted)
            .when(asks(GROUP))
            .request(ignore(STATUS)),
        reject(
            "status/last-listed-beside-time",
            "Beside an activation time the last status of the list is rejected."
        )
        .when(asks(FROM))
        .when(|call| { text(call, STATUS).as_ref() == call.contract.search.statuses.last() }),
        fault("group/negative-beside-order", "Beside an order number -1 means all groups.")
            .when(asks(ORDER))
            .when(|call| value(call, GROUP) == Some(json!(-1)))
            .request(ignore(GROUP)),
        fault("group/wraps", "A group number loses all but its lower 32 bits.").request(|call| {
            let group = value(call, GROUP).and_then(|group| group.as_i64());
            if let Some(group) = group.filter(|group| *group > i64::from(u32::MAX)) {
                put(call, GROUP, group % (1 << 32));
            }
        }),
        fault("country/first-of-list", "countryCode may be a list, whose first code counts.").request(
            |call| {
                if let Some(Value::Array(codes)) = value(call, COUNTRY)
                    && let Some(first) = codes.first()
                {
                    put(call, COUNTRY, first.clone());
                }
            }
        ),
        fault("city/ignored-in-large-batches", "cityCode is ignored for more than 200 items.")
            .when(|call| count(call) > 200)
            .request(ignore(CITY)),
        fault("order-number/wide", "Characters in full width count as narrow ones.").request(|call| {
            let narrow = |character: char| match u32::from(character) {
                wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(character),
                _ => character,
            };
            if let Some(order) = text(call, ORDER) {
                put(call, ORDER, order.chars().map(narrow).collect::<String>());
            }
        }),
        fault("order-number/ends-at-nul", "An order number ends at a NUL.").request(|call| {
            if let Some((order, _)) = text(call, ORDER).as_deref().and_then(|order| order.split_once('\0')) {
                put(call, ORDER, order);
            }
        }),
    ]
}

fn times() -> Vec<Fault> {
    faults_of![
        "search.activated-order/",
        fault(
            "fraction-as-milliseconds",
            "The digits of a fraction are read as milliseconds, however many they are."
        )
        .request(|call| {
            for bound in [FROM, TO] {
                let Some(time) = text(call, bound) else { continue };
                let Some((seconds, fraction)) = time.split_once('.') else { continue };
                let Some(digits) = fraction.strip_suffix('Z').filter(|digits| digits.len() < 3) else {
                    continue;
                };
                let read = format!("{seconds}.{digits:0>3}Z");
                put(call, bound, read);
            }
        }),
    ]
}

fn items() -> Vec<Fault> {
    let rejected = |id, breaks, which: fn(&str) -> bool| {
        Fault::reject(id, breaks).when(move |call| ips(call).iter().any(|item| which(item)))
    };
    faults_of![
        "search.ips-item/",
        rejected("private-rejected", "Private addresses are rejected.", |item| {
            bare(item).parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_private())
        }),
        rejected("link-local-rejected", "Link-local addresses of IPv6 are rejected.", |item| {
            item.starts_with("fe80::") && !item.contains('%')
        }),
        rejected("tail-rejected", "IPv6 that ends as IPv4 is rejected.", |item| {
            is_v6(item) && item.contains('.') && !item.contains("ffff")
        }),
        fault("part-above-255-with-port", "A part above 255 is accepted where a port follows.").request(
            |call| {
                edit_ips(call, |items| {
                    for item in items {
                        if item
                            .as_str()
                            .is_some_and(|item| item.contains(".256:") || item.starts_with("300."))
                        {
                            *item = NOBODY.into();
                        }
                    }
                });
            }
        ),
    ]
}

fn batches() -> Vec<Fault> {
    let cut = |call: &mut Call<'_>| {
        let most = call.contract.search.distinct_items;
        edit_ips(call, |items| items.truncate(most));
    };
    let too_many = |call: &Call<'_>| distinct(call) > call.contract.search.distinct_items;
    faults_of![
        "search.",
        fault("ips-dedup-limit/only-mixed", "The limit holds for batches with IPv4 in them only.")
            .when(too_many)
            .when(|call| ips(call).iter().all(|item| is_v6(item)))
            .request(cut),
        fault(
            "ips-all-or-nothing/too-many-beside-status",
            "Beside a status a batch over the limit is searched in part."
        )
        .when(too_many)
        .when(asks(STATUS))
        .request(cut),
        fault("ips-all-or-nothing/empty-beside-order", "Beside an order number ips may be empty.")
            .when(asks(ORDER))
            .when(with_empty_ips)
            .request(|call| edit_ips(call, |items| items.push(NOBODY.into()))),
        fault("ips-all-or-nothing/dropped-when-repeated", "An invalid item that comes twice is dropped.")
            .request(|call| {
                let counts = counts(&ips(call));
                edit_ips(call, |items| {
                    items.retain(|item| {
                        let text = item.as_str().unwrap_or_default();
                        let is_address = bare(text).parse::<std::net::IpAddr>().is_ok();
                        is_address || counts.get(text).is_none_or(|count| *count < 2)
                    });
                });
            }),
        reject("ips-raw-limit/body-of-400-kib", "A body of more than 400 KiB is rejected.")
            .when(|call| call.body.len() > 400 << 10),
    ]
}

fn counts(items: &[String]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for item in items {
        *counts.entry(item.clone()).or_default() += 1;
    }
    counts
}

fn matches() -> Vec<Fault> {
    faults_of![
        "search.",
        fault("match-any-port/last-raw-item", "The last of the most raw items is not searched.")
            .when(|call| count(call) == *call.contract.search.raw_items.end())
            .request(|call| edit_ips(call, |items| drop(items.pop()))),
        fault(
            "match-any-port/port-wins-in-large-batches",
            "In a batch of more than 50 items an address with and without a port counts with its port only."
        )
        .when(|call| count(call) > 50)
        .request(|call| {
            let ported: Vec<_> =
                ips(call).iter().filter(|item| has_port(item)).map(|item| bare(item)).collect();
            edit_ips(call, |items| {
                items.retain(|item| item.as_str().is_none_or(|item| !ported.iter().any(|ip| ip == item)));
            });
        }),
        fault("ips-dedup-limit/three-times", "An item that comes three times is removed.").request(|call| {
            let counts = counts(&ips(call));
            edit_ips(call, |items| {
                items.retain(|item| {
                    counts.get(item.as_str().unwrap_or_default()).is_none_or(|count| *count != 3)
                });
                if items.is_empty() {
                    items.push(NOBODY.into());
                }
            });
        }),
        fault(
            "match-any-port/cached-by-size",
            "Responses are cached by the token, the first item and the number of items."
        )
        .reply(|call, reply| {
            if !call.accepted(reply) {
                return;
            }
            let items = ips(call);
            let Value::Object(mut rest) = call.json() else { return };
            rest.insert(call.contract.search.ips.name.clone(), json!([items.first(), items.len()]));
            let key = format!("{:?} {}", call.query, Value::Object(rest));
            call.memory.repeat_first(&key, reply);
        }),
        fault("no-reveal/message-beside-own", "The message tells of a foreign address beside own ones.")
            .success(|call, body| {
                let foreign = &call.facts.foreign_addresses;
                let (theirs, own): (Vec<_>, Vec<_>) =
                    ips(call).into_iter().partition(|item| foreign.contains(&bare(item)));
                if !theirs.is_empty() && own.iter().any(|item| call.facts.own_addresses.contains(item)) {
                    body["message"] = json!("partial");
                }
            }),
    ]
}

fn bodies() -> Vec<Fault> {
    let rejected = |id, breaks, is_odd: fn(&Call<'_>) -> bool| Fault::reject(id, breaks).when(is_odd);
    let page = |call: &Call<'_>| {
        let search = &call.contract.search;
        let (page, size) = (value(call, PAGE), value(call, SIZE));
        page == Some(json!(search.pages.end())) && size == Some(json!(search.page_sizes.end()))
    };
    faults_of![
        "search.",
        rejected("json-body/lines", "A body of several lines is rejected.", |call| {
            call.json().is_object() && call.body.contains(&b'\n')
        }),
        rejected("json-body/escapes", "A text with escapes is rejected.", |call| {
            call.json().is_object() && call.body.windows(3).any(|three| three == b"\\u0")
        }),
        fault(
            "paging/largest-page-wraps",
            "The number of instances before the largest page of the largest size wraps to zero."
        )
        .when(page)
        .request(|call| put(call, PAGE, *call.contract.search.pages.start())),
    ]
}
