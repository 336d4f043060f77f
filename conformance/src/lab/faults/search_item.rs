//! Faults in what is taken for an item of `ips`.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::words::*;
use crate::lab::Fault;

pub(crate) fn faults() -> Vec<Fault> {
    faults! {
        "search.ips-item/" {
            "cidr": "CIDR is accepted." => accept(|item| item.contains('/') && !item.contains("//"));
            "cidr-of-one": "CIDR of a single address is accepted." => accept(|item| item.ends_with("/32"));
            "cidr-of-ipv6": "CIDR of IPv6 is accepted." => accept(|item| item.contains("::/"));
            "prefix-64": "A network of 64 bits is accepted." => accept(|item| item.ends_with("/64"));
            "prefix-before-port": "A length of 32 before a port is left out." => accept(|item| item.contains("/32:"));
            "zone": "A zone identifier is accepted." => accept(|item| item.contains('%'));
            "zone-with-port": "A zone identifier before a port is accepted." => accept(|item| item.contains("%25"));
            "zone-breaks": "A zone identifier breaks the server."
                if any_item(|item| item.contains('%')) => respond(500, json!({"message": "invalid address"}));
            "fragment": "The beginning of an IPv4 address is accepted."
                => accept(|item| item.split('.').count() == 3 && item.split('.').all(|part| part.parse::<u8>().is_ok()));
            "fragment-of-ipv6": "The beginning of an IPv6 address is accepted."
                => accept(|item| item.starts_with("2001:db8") && !item.contains("::") && item.matches(':').count() < 7);
            "trailing-dot": "A trailing dot is accepted." => accept(|item| item.ends_with('.'));
            "host-name": "A host name is accepted." => accept(|item| item.ends_with(".invalid") && !item.contains('/'));
            "reverse-name": "The name of an address in the DNS is accepted." => accept(|item| item.ends_with(".in-addr.arpa"));
            "empty": "An empty item is left out." => accept(str::is_empty);
            "wildcard": "A wildcard is accepted." => accept(|item| item.contains('*'));
            "range": "A range is accepted." => accept(|item| item.contains('-'));
            "url": "A URL is accepted." => accept(|item| item.contains("://"));
            "user-and-password": "A user and a password before an address are overlooked."
                => accept(|item| item.split_once('@').is_some_and(|(user, _)| user.contains(':')));
            "octet-256": "An octet of 256 wraps." => accept(|item| item.ends_with(".256"));
            "part-above-255-with-port": "A part above 255 is accepted where a port follows."
                => accept(|item| item.contains(".256:") || item.starts_with("300."));
            "port-without-brackets": "IPv6 with a port needs no brackets." => accept(|item| !item.contains('[') && item.matches(':').count() == 8);
            "two-gaps": "Two gaps in an IPv6 address are accepted." => accept(|item| item.matches("::").count() == 2);
            "bracket-open": "A bracket need not be closed." => accept(|item| item.starts_with('[') && !item.contains(']'));
            "two-brackets": "Two pairs of brackets are accepted." => accept(|item| item.starts_with("[[") && item.ends_with("]]"));
            "behind-bracket": "Letters behind a bracket are overlooked." => accept(|item| {
                let behind = item.split_once(']').and_then(|(_, rest)| rest.split_once(':'));
                behind.is_some_and(|(letters, _)| letters.chars().all(char::is_alphabetic) && !letters.is_empty())
            });
            "long": "An item of more than a hundred characters is not looked at." => accept(|item| item.chars().count() > 100);
            "invisible": "An invisible character before an address is left out." => accept(|item| item.starts_with('\u{2060}'));
            "commas": "Commas stand for dots." => accept(|item| item.matches(',').count() == 3 && !item.contains('.'));
            "number-sign-of-ipv6": "What follows a number sign in IPv6 is left out."
                => accept(|item| item.contains('#') && is_v6(item.split('#').next().unwrap_or_default()));
            "number": "A number is read as an address." => accept_typed(Value::is_number);
            "null": "An item that is null is left out." => accept_typed(Value::is_null);
            "object": "An object is read as an address." => accept_typed(Value::is_object);
            "ipv6-rejected": "IPv6 is rejected." if any_item(is_v6) => reject;
            "ipv6-port-rejected": "IPv6 with a port is rejected." if any_item(|item| item.starts_with('[')) => reject;
            "ipv4-port-rejected": "IPv4 with a port is rejected." if any_item(|item| has_port(item) && !is_v6(item)) => reject;
            "long-ipv6-rejected": "An IPv6 address that is written out is rejected."
                if any_item(|item| is_v6(item) && !has_port(item) && item.len() > 38) => reject;
            "short-ipv6-rejected": "The shortest IPv6 addresses are rejected." if any_item(|item| item.len() == 3) => reject;
            "private-rejected": "Private addresses are rejected."
                if any_item(|item| bare(item).parse().is_ok_and(|address: Ipv4Addr| address.is_private())) => reject;
            "link-local-rejected": "Link-local addresses of IPv6 are rejected."
                if any_item(|item| item.starts_with("fe80::") && !item.contains('%')) => reject;
            "tail-rejected": "IPv6 that ends as IPv4 is rejected."
                if any_item(|item| is_v6(item) && item.contains('.') && !item.contains("ffff")) => reject;
        }
        "search.ips-port/" {
            "zero": "Port 0 is accepted." => accept_port(|ports| ports.start() - 1, |_| true);
            "zero-in-ipv6": "Port 0 is accepted after brackets." => accept_port(|ports| ports.start() - 1, is_bracketed);
            "one-above": "One port too large is accepted." => accept_port(|ports| ports.end() + 1, |_| true);
            "one-above-in-ipv6": "One port too large is accepted after brackets." => accept_port(|ports| ports.end() + 1, is_bracketed);
            "negative": "A negative port is accepted." => accept_port(|_| -1, |_| true);
            "huge": "A port of 64 bits is accepted." => accept_port(|_| i64::MAX, |item| !is_bracketed(item));
            "least-rejected": "The smallest port is rejected." if with_port(|ports| *ports.start(), |item| !is_bracketed(item)) => reject;
            "most-rejected": "The largest port is rejected." if with_port(|ports| *ports.end(), |item| !is_bracketed(item)) => reject;
            "most-rejected-in-ipv6": "The largest port is rejected after brackets." if with_port(|ports| *ports.end(), is_bracketed) => reject;
            "zero-in-five-digits": "Port 00000 is accepted." => accept(|item| item.ends_with(":00000"));
            "slash": "A slash behind a port is left out." => accept(|item| item.ends_with(":80/"));
            "underscore": "An underscore within a port is left out." => accept(|item| item.ends_with(":8_0"));
            "letters-behind": "Letters behind a port are overlooked." => accept(|item| {
                let port = item.rsplit_once(':').map(|(_, port)| port);
                port.is_some_and(|port| port.starts_with(|c: char| c.is_ascii_digit()) && port.ends_with("abc"))
            });
            "user-and-password": "A user and a password behind a port are overlooked." => accept(|item| item.ends_with(":user:pass"));
        }
    }
}

/// Accepts items that are no texts.
fn accept_typed(fits: fn(&Value) -> bool) -> impl OnRequest {
    move |call| {
        edit_ips(call, |items| {
            items.iter_mut().filter(|item| fits(item)).for_each(|item| *item = NOBODY.into())
        })
    }
}

fn is_bracketed(item: &str) -> bool {
    item.starts_with('[')
}

/// Accepts a port that follows from those that there may be, in items that fit.
fn accept_port(port: fn(&RangeInclusive<i64>) -> i64, fits: fn(&str) -> bool) -> impl OnRequest {
    move |call| {
        let end = format!(":{}", port(&call.contract.search.ports));
        map_ips(call, |_, item| if fits(item) && item.ends_with(&end) { NOBODY } else { item }.to_owned());
    }
}

/// There is such an item with such a port.
fn with_port(port: fn(&RangeInclusive<i64>) -> i64, fits: fn(&str) -> bool) -> When {
    that(move |call| {
        let end = format!(":{}", port(&call.contract.search.ports));
        ips(call).iter().any(|item| fits(item) && item.ends_with(&end))
    })
}
