//! Faults of the search that show in one combination only: beside another field, in a large batch, at the same time.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::search::{
    CITY, COUNTRY, FROM, GROUP, NOBODY, ORDER, PAGE, SIZE, STATUS, TO, above_distinct_limit, add_nobody,
    all_v6, asks, bare, batch, count, cut_to_limit, drop_shadowed, edit_ips, has, ignore, integer, ips,
    is_v6, lenient, put, rejected, text, value, with_empty_ips,
};
use crate::lab::{Call, Fault};

pub(crate) fn faults() -> Vec<Fault> {
    [filters(), items(), batches(), matches()].into_iter().flatten().collect()
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
        .when(|call| text(call, STATUS).as_ref() == call.contract.search.statuses.last()),
        fault("group/negative-beside-order", "Beside an order number -1 means all groups.")
            .when(asks(ORDER))
            .when(|call| value(call, GROUP) == Some(json!(-1)))
            .request(ignore(GROUP)),
        fault("group/wraps", "A group number loses all but its lower 32 bits.").request(|call| {
            if let Some(group) = integer(call, GROUP).filter(|group| *group > i64::from(u32::MAX)) {
                put(call, GROUP, group % (1 << 32));
            }
        }),
        fault("country/first-of-list", "countryCode may be a list, whose first code counts.")
            .when(has(COUNTRY, |codes| codes.as_array().is_some_and(|codes| !codes.is_empty())))
            .request(|call| {
                let first = value(call, COUNTRY).map(|codes| codes[0].clone());
                put(call, COUNTRY, first);
            }),
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
        fault(
            "activated-order/fraction-as-milliseconds",
            "The digits of a fraction are read as milliseconds, however many they are."
        )
        .request(|call| {
            for bound in [FROM, TO] {
                let Some(time) = text(call, bound) else { continue };
                let Some((seconds, fraction)) = time.split_once('.') else { continue };
                let Some(digits) = fraction.strip_suffix('Z').filter(|digits| digits.len() < 3) else {
                    continue;
                };
                put(call, bound, format!("{seconds}.{digits:0>3}Z"));
            }
        }),
    ]
}

fn items() -> Vec<Fault> {
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
        lenient("part-above-255-with-port", "A part above 255 is accepted where a port follows.", |item| {
            item.contains(".256:") || item.starts_with("300.")
        }),
    ]
}

fn batches() -> Vec<Fault> {
    faults_of![
        "search.",
        fault("ips-dedup-limit/only-mixed", "The limit holds for batches with IPv4 in them only.")
            .when(above_distinct_limit)
            .when(all_v6)
            .request(cut_to_limit),
        fault(
            "ips-all-or-nothing/too-many-beside-status",
            "Beside a status a batch over the limit is searched in part."
        )
        .when(above_distinct_limit)
        .when(asks(STATUS))
        .request(cut_to_limit),
        fault("ips-all-or-nothing/empty-beside-order", "Beside an order number ips may be empty.")
            .when(asks(ORDER))
            .when(with_empty_ips)
            .request(add_nobody),
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
        fault("match-any-port/last-raw-item", "The last of the maximum number of raw items is not searched.")
            .when(|call| count(call) == *call.contract.search.raw_items.end())
            .request(batch(|_, items| drop(items.pop()))),
        fault(
            "match-any-port/port-wins-in-large-batches",
            "In a batch of more than 50 items an address with and without a port counts with its port only."
        )
        .when(|call| count(call) > 50)
        .request(drop_shadowed),
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
            let (items, Value::Object(mut rest)) = (ips(call), call.json()) else { return };
            rest.insert(call.contract.search.ips.name.clone(), json!([items.first(), items.len()]));
            if call.accepted(reply) {
                call.memory.repeat_first(&format!("{:?} {}", call.query, Value::Object(rest)), reply);
            }
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
        reject("json-body/lines", "A body of several lines is rejected.")
            .when(|call| call.json().is_object() && call.body.contains(&b'\n')),
        reject("json-body/escapes", "A text with escapes is rejected.")
            .when(|call| call.json().is_object() && call.body.windows(3).any(|three| three == b"\\u0")),
        fault(
            "paging/largest-page-wraps",
            "The number of instances before the largest page of the largest size wraps to zero."
        )
        .when(|call| integer(call, PAGE) == Some(*call.contract.search.pages.end()))
        .when(|call| integer(call, SIZE) == Some(*call.contract.search.page_sizes.end()))
        .request(|call| put(call, PAGE, *call.contract.search.pages.start())),
    ]
}
