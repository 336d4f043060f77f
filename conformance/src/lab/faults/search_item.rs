//! Faults in what is taken for an item of `ips`.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::edit::respond;
use super::search::{NOBODY, any_item, batch, has_port, ips, is_v6, lenient, map_ips, rejected};
use crate::lab::Fault;

pub(crate) fn faults() -> Vec<Fault> {
    item().into_iter().chain(port()).collect()
}

fn item() -> Vec<Fault> {
    let typed = |id, breaks, fits: fn(&Value) -> bool| {
        Fault::new(id, breaks).request(batch(move |_, items| {
            items.iter_mut().filter(|item| fits(item)).for_each(|item| *item = NOBODY.into())
        }))
    };
    faults_of![
        "search.ips-item/",
        lenient("cidr", "CIDR is accepted.", |item| item.contains('/') && !item.contains("//")),
        lenient("cidr-of-one", "CIDR of a single address is accepted.", |item| item.ends_with("/32")),
        lenient("cidr-of-ipv6", "CIDR of IPv6 is accepted.", |item| item.contains("::/")),
        lenient("zone", "A zone identifier is accepted.", |item| item.contains('%')),
        lenient("zone-with-port", "A zone identifier before a port is accepted.", |item| {
            item.contains("%25")
        }),
        lenient("fragment", "The beginning of an IPv4 address is accepted.", |item| {
            item.split('.').count() == 3 && item.split('.').all(|part| part.parse::<u8>().is_ok())
        }),
        lenient("fragment-of-ipv6", "The beginning of an IPv6 address is accepted.", |item| {
            item.starts_with("2001:db8") && !item.contains("::") && item.matches(':').count() < 7
        }),
        lenient("trailing-dot", "A trailing dot is accepted.", |item| item.ends_with('.')),
        lenient("host-name", "A host name is accepted.", |item| {
            item.ends_with(".invalid") && !item.contains('/')
        }),
        lenient("empty", "An empty item is left out.", str::is_empty),
        lenient("wildcard", "A wildcard is accepted.", |item| item.contains('*')),
        lenient("range", "A range is accepted.", |item| item.contains('-')),
        lenient("url", "A URL is accepted.", |item| item.contains("://")),
        lenient("octet-256", "An octet of 256 wraps.", |item| item.ends_with(".256")),
        lenient("port-without-brackets", "IPv6 with a port needs no brackets.", |item| {
            !item.contains('[') && item.matches(':').count() == 8
        }),
        lenient("two-gaps", "Two gaps in an IPv6 address are accepted.", |item| {
            item.matches("::").count() == 2
        }),
        lenient("bracket-open", "A bracket need not be closed.", |item| {
            item.starts_with('[') && !item.contains(']')
        }),
        typed("number", "A number is read as an address.", Value::is_number),
        typed("null", "An item that is null is left out.", Value::is_null),
        typed("object", "An object is read as an address.", Value::is_object),
        rejected("ipv6-rejected", "IPv6 is rejected.", is_v6),
        rejected("ipv6-port-rejected", "IPv6 with a port is rejected.", |item| item.starts_with('[')),
        rejected("ipv4-port-rejected", "IPv4 with a port is rejected.", |item| {
            has_port(item) && !is_v6(item)
        }),
        rejected("long-ipv6-rejected", "An IPv6 address that is written out is rejected.", |item| {
            is_v6(item) && !has_port(item) && item.len() > 38
        }),
        rejected("short-ipv6-rejected", "The shortest IPv6 addresses are rejected.", |item| item.len() == 3),
        fault("zone-breaks", "A zone identifier breaks the server.")
            .when(any_item(|item| item.contains('%')))
            .reply(respond(500, json!({"message": "invalid address"}))),
    ]
}

fn port() -> Vec<Fault> {
    let ends = |item: &str, port: i64| item.ends_with(&format!(":{port}"));
    let taken = move |id, breaks, wanted: fn(&RangeInclusive<i64>) -> i64, v6: Option<bool>| {
        Fault::new(id, breaks).request(move |call| {
            let port = wanted(&call.contract.search.ports);
            map_ips(call, |_, item| {
                let family = v6.is_none_or(|v6| item.starts_with('[') == v6);
                if family && ends(item, port) { NOBODY } else { item }.to_owned()
            });
        })
    };
    let rejected = move |id, breaks, wanted: fn(&RangeInclusive<i64>) -> i64, v6: bool| {
        Fault::reject(id, breaks).when(move |call| {
            let port = wanted(&call.contract.search.ports);
            ips(call).iter().any(|item| item.starts_with('[') == v6 && ends(item, port))
        })
    };
    faults_of![
        "search.ips-port/",
        taken("zero", "Port 0 is accepted.", |ports| ports.start() - 1, None),
        taken("zero-in-ipv6", "Port 0 is accepted after brackets.", |ports| ports.start() - 1, Some(true)),
        taken("one-above", "One port too large is accepted.", |ports| ports.end() + 1, None),
        taken(
            "one-above-in-ipv6",
            "One port too large is accepted after brackets.",
            |ports| ports.end() + 1,
            Some(true)
        ),
        taken("negative", "A negative port is accepted.", |_| -1, None),
        taken("huge", "A port of 64 bits is accepted.", |_| i64::MAX, Some(false)),
        rejected("least-rejected", "The smallest port is rejected.", |ports| *ports.start(), false),
        rejected("most-rejected", "The largest port is rejected.", |ports| *ports.end(), false),
        rejected(
            "most-rejected-in-ipv6",
            "The largest port is rejected after brackets.",
            |ports| *ports.end(),
            true
        ),
    ]
}
