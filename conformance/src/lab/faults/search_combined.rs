//! Faults of the search that show in one combination only: beside another field, in a large batch, at the same time.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::search::{
    CITY, COUNTRY, FROM, GROUP, NOBODY, ORDER, PAGE, SIZE, STATUS, TO, asks, bare, count, distinct, edit_ips,
    has_port, ignore, ips, is_v6, put, text, value, with_empty_ips,
};
use crate::lab::exchange::ProxiedRequest;
use crate::lab::{Context, Fault};

/// All of them.
pub(crate) fn faults() -> Vec<Fault> {
    [filters(), times(), items(), batches(), matches(), bodies()].into_iter().flatten().collect()
}

fn filters() -> Vec<Fault> {
    let unlisted = |context: &Context, seen: &ProxiedRequest| {
        let statuses = &context.contract.search.statuses;
        text(context, seen, STATUS).is_some_and(|status| !statuses.contains(&status))
    };
    let beginning = |context: &Context, seen: &ProxiedRequest| {
        let statuses = &context.contract.search.statuses;
        let asked = text(context, seen, STATUS).filter(|asked| asked.len() > 2)?;
        statuses.iter().find(|status| **status != asked && status.starts_with(&asked)).cloned()
    };
    faults_of![
        "search./",
        request("status/beginning", "The beginning of a status stands for it.", move |context, seen| {
            if let Some(status) = beginning(context, seen) {
                put(context, seen, STATUS, status);
            }
        }),
        request("status/unlisted-beside-group", "Beside a group any status is accepted.", ignore(STATUS))
            .when(unlisted)
            .when(asks(GROUP)),
        reject(
            "status/last-listed-beside-time",
            "Beside an activation time the last status of the list is rejected."
        )
        .when(asks(FROM))
        .when(|context, seen| {
            text(context, seen, STATUS).as_ref() == context.contract.search.statuses.last()
        }),
        request("group/negative-beside-order", "Beside an order number -1 means all groups.", ignore(GROUP))
            .when(asks(ORDER))
            .when(|context, seen| value(context, seen, GROUP) == Some(json!(-1))),
        request("group/wraps", "A group number loses all but its lower 32 bits.", |context, seen| {
            let group = value(context, seen, GROUP).and_then(|group| group.as_i64());
            if let Some(group) = group.filter(|group| *group > i64::from(u32::MAX)) {
                put(context, seen, GROUP, group % (1 << 32));
            }
        }),
        request(
            "country/first-of-list",
            "countryCode may be a list, whose first code counts.",
            |context, seen| {
                if let Some(Value::Array(codes)) = value(context, seen, COUNTRY)
                    && let Some(first) = codes.first()
                {
                    put(context, seen, COUNTRY, first.clone());
                }
            }
        ),
        request(
            "city/ignored-in-large-batches",
            "cityCode is ignored for more than 200 items.",
            ignore(CITY)
        )
        .when(|context, seen| count(context, seen) > 200),
        request("order-number/wide", "Characters in full width count as narrow ones.", |context, seen| {
            let narrow = |character: char| match u32::from(character) {
                wide @ 0xff01..=0xff5e => char::from_u32(wide - 0xfee0).unwrap_or(character),
                _ => character,
            };
            if let Some(order) = text(context, seen, ORDER) {
                put(context, seen, ORDER, order.chars().map(narrow).collect::<String>());
            }
        }),
        request("order-number/ends-at-nul", "An order number ends at a NUL.", |context, seen| {
            if let Some((order, _)) =
                text(context, seen, ORDER).as_deref().and_then(|order| order.split_once('\0'))
            {
                put(context, seen, ORDER, order);
            }
        }),
    ]
}

fn times() -> Vec<Fault> {
    faults_of![
        "search.activated-order/",
        request(
            "fraction-as-milliseconds",
            "The digits of a fraction are read as milliseconds, however many they are.",
            |context, seen| {
                for bound in [FROM, TO] {
                    let Some(time) = text(context, seen, bound) else { continue };
                    let Some((seconds, fraction)) = time.split_once('.') else { continue };
                    let Some(digits) = fraction.strip_suffix('Z').filter(|digits| digits.len() < 3) else {
                        continue;
                    };
                    let read = format!("{seconds}.{digits:0>3}Z");
                    put(context, seen, bound, read);
                }
            }
        ),
    ]
}

fn items() -> Vec<Fault> {
    let fault = |id, breaks, which: fn(&str) -> bool| {
        Fault::reject(id, breaks).when(move |context, seen| ips(context, seen).iter().any(|item| which(item)))
    };
    faults_of![
        "search.ips-item/",
        fault("private-rejected", "Private addresses are rejected.", |item| {
            bare(item).parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_private())
        }),
        fault("link-local-rejected", "Link-local addresses of IPv6 are rejected.", |item| {
            item.starts_with("fe80::") && !item.contains('%')
        }),
        fault("tail-rejected", "IPv6 that ends as IPv4 is rejected.", |item| {
            is_v6(item) && item.contains('.') && !item.contains("ffff")
        }),
        request(
            "part-above-255-with-port",
            "A part above 255 is accepted where a port follows.",
            |context, seen| {
                edit_ips(context, seen, |items| {
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
    let most = |context: &Context| context.contract.search.distinct_items;
    let cut = move |context: &Context, seen: &mut ProxiedRequest| {
        edit_ips(context, seen, |items| items.truncate(most(context)));
    };
    let too_many = move |context: &Context, seen: &ProxiedRequest| distinct(context, seen) > most(context);
    faults_of![
        "search./",
        request("ips-dedup-limit/only-mixed", "The limit holds for batches with IPv4 in them only.", cut)
            .when(too_many)
            .when(|context, seen| ips(context, seen).iter().all(|item| is_v6(item))),
        request(
            "ips-all-or-nothing/too-many-beside-status",
            "Beside a status a batch over the limit is searched in part.",
            cut
        )
        .when(too_many)
        .when(asks(STATUS)),
        request(
            "ips-all-or-nothing/empty-beside-order",
            "Beside an order number ips may be empty.",
            |context, seen| edit_ips(context, seen, |items| items.push(NOBODY.into()))
        )
        .when(asks(ORDER))
        .when(with_empty_ips),
        request(
            "ips-all-or-nothing/dropped-when-repeated",
            "An invalid item that comes twice is dropped.",
            |context, seen| {
                let counts = counts(&ips(context, seen));
                edit_ips(context, seen, |items| {
                    items.retain(|item| {
                        let text = item.as_str().unwrap_or_default();
                        let is_address = bare(text).parse::<std::net::IpAddr>().is_ok();
                        is_address || counts.get(text).is_none_or(|count| *count < 2)
                    });
                });
            }
        ),
        reject("ips-raw-limit/body-of-400-kib", "A body of more than 400 KiB is rejected.")
            .when(|_, seen| seen.body.len() > 400 << 10),
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
        "search./",
        request(
            "match-any-port/last-raw-item",
            "The last of the most raw items is not searched.",
            |context, seen| edit_ips(context, seen, |items| drop(items.pop()))
        )
        .when(|context, seen| count(context, seen) == *context.contract.search.raw_items.end()),
        request(
            "match-any-port/port-wins-in-large-batches",
            "In a batch of more than 50 items an address with and without a port counts with its port only.",
            |context, seen| {
                let ported: Vec<_> =
                    ips(context, seen).iter().filter(|item| has_port(item)).map(|item| bare(item)).collect();
                edit_ips(context, seen, |items| {
                    items.retain(|item| item.as_str().is_none_or(|item| !ported.iter().any(|ip| ip == item)));
                });
            }
        )
        .when(|context, seen| count(context, seen) > 50),
        request(
            "ips-dedup-limit/three-times",
            "An item that comes three times is removed.",
            |context, seen| {
                let counts = counts(&ips(context, seen));
                edit_ips(context, seen, |items| {
                    items.retain(|item| {
                        counts.get(item.as_str().unwrap_or_default()).is_none_or(|count| *count != 3)
                    });
                    if items.is_empty() {
                        items.push(NOBODY.into());
                    }
                });
            }
        ),
        reply(
            "match-any-port/cached-by-size",
            "Responses are cached by the token, the first item and the number of items.",
            |context, seen, reply| {
                if !context.accepted(seen, reply) {
                    return;
                }
                let items = ips(context, seen);
                let Value::Object(mut rest) = seen.json() else { return };
                rest.insert(context.contract.search.ips.name.clone(), json!([items.first(), items.len()]));
                let key = format!("{:?} {}", seen.query, Value::Object(rest));
                match context.memory.recall(&key) {
                    Some(first) => *reply = first,
                    None => context.memory.keep(&key, reply),
                }
            }
        ),
        success(
            "no-reveal/message-beside-own",
            "The message tells of a foreign address beside own ones.",
            |context, seen, body| {
                let foreign = &context.facts.foreign_addresses;
                let (theirs, own): (Vec<_>, Vec<_>) =
                    ips(context, seen).into_iter().partition(|item| foreign.contains(&bare(item)));
                if !theirs.is_empty() && own.iter().any(|item| context.facts.own_addresses.contains(item)) {
                    body["message"] = json!("partial");
                }
            }
        ),
    ]
}

fn bodies() -> Vec<Fault> {
    let fault = |id, breaks, is_odd: fn(&ProxiedRequest) -> bool| {
        Fault::reject(id, breaks).when(move |_, seen| is_odd(seen))
    };
    let page = |context: &Context, seen: &ProxiedRequest| {
        let search = &context.contract.search;
        let (page, size) = (value(context, seen, PAGE), value(context, seen, SIZE));
        page == Some(json!(search.pages.end())) && size == Some(json!(search.page_sizes.end()))
    };
    faults_of![
        "search./",
        fault("json-body/lines", "A body of several lines is rejected.", |seen| {
            seen.json().is_object() && seen.body.contains(&b'\n')
        }),
        fault("json-body/escapes", "A text with escapes is rejected.", |seen| {
            seen.json().is_object() && seen.body.windows(3).any(|three| three == b"\\u0")
        }),
        request(
            "paging/largest-page-wraps",
            "The number of instances before the largest page of the largest size wraps to zero.",
            |context, seen| put(context, seen, PAGE, *context.contract.search.pages.start())
        )
        .when(page),
    ]
}
