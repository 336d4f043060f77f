//! Addresses that checks invent, in ranges that are reserved for documentation (RFC 3849, RFC 5737).

use super::*;
use crate::target::Facts;

/// Distinct IPv4 and IPv6 addresses, alternating.
pub(super) fn distinct(count: usize) -> Vec<String> {
    let address = |index: usize| {
        let number = u32::try_from(index / 2).unwrap_or(u32::MAX);
        if index.is_multiple_of(2) {
            // 198.18.0.0/15 is reserved for benchmarks (RFC 2544) and larger than the ranges for documentation.
            Ipv4Addr::from_bits(Ipv4Addr::new(198, 18, 0, 0).to_bits() + number).to_string()
        } else {
            Ipv6Addr::from_bits(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0).to_bits() + u128::from(number))
                .to_string()
        }
    };
    (0..count).map(address).collect()
}

/// The item that stands for the next one of the account's addresses.
pub(crate) const OWN: &str = "+";

/// Distinct IPv6 addresses for documentation that no account has, not even in the sample data.
pub(crate) fn unused(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(|index| format!("2001:db8:ffff:1::{index:x}"))
}

/// Items in words. `max+1 addresses` are so many of a kind, above the largest number of distinct items; a text in quotes is one more,
/// and so is `+`, an address of the account; the others change the items before them. None for other words.
pub(crate) fn items(search: &Search, words: &str) -> Option<Vec<String>> {
    let around = |text: &str, word: &str, base: usize| {
        let by = text.strip_prefix(word)?;
        base.checked_add_signed(if by.is_empty() { 0 } else { by.parse().ok()? })
    };
    let mut items: Vec<String> = Vec::new();
    for part in words.split(", ") {
        let first = items.first().cloned();
        let more: Vec<String> = match part {
            OWN => vec![OWN.to_owned()],
            "each twice" => items.clone(),
            "respelled" => items.iter().filter_map(|item| respell(item)).collect(),
            "the first in capitals" => vec![first?.to_uppercase()],
            "the first with a port" => vec![format!("{}:{}", first?, search.ports.start())],
            _ => match (part.strip_prefix('"'), part.strip_prefix("up to ")) {
                (Some(item), _) => vec![item.strip_suffix('"')?.to_owned()],
                // One of them is left when they are counted in 16 bits.
                (_, Some("a number that wraps")) => {
                    let wrapping = (((search.raw_items.end() >> 16) + 1) << 16) + 1;
                    items.iter().cycle().take(wrapping.checked_sub(items.len())?).cloned().collect()
                }
                (_, Some(number)) => {
                    let number = around(number, "raw", *search.raw_items.end())?;
                    items.iter().cycle().take(number.checked_sub(items.len())?).cloned().collect()
                }
                _ => {
                    let (count, kind) = part.split_once(' ')?;
                    let count = around(count, "max", search.distinct_items).or_else(|| count.parse().ok())?;
                    of_kind(search, count, kind)?
                }
            },
        };
        items.extend(more);
    }
    Some(items)
}

fn of_kind(search: &Search, count: usize, kind: &str) -> Option<Vec<String>> {
    let is_v6 = |item: &String| item.contains(':');
    let of_family = |v6: bool| distinct(2 * count).into_iter().filter(move |item| is_v6(item) == v6);
    Some(match kind {
        "addresses" => distinct(count),
        "addresses of IPv4" => of_family(false).collect(),
        "addresses of IPv4 with a port" => {
            of_family(false).map(|address| format!("{address}:8080")).collect()
        }
        "addresses of IPv6" => of_family(true).collect(),
        "ports of two addresses" => ports(search, count),
        "addresses and ports" => [distinct(count / 2), ports(search, count - count / 2)].concat(),
        "of the longest items" => {
            let last = |index| search.ports.end() - i64::try_from(index).unwrap_or(0);
            (0..count)
                .map(|index| format!("[2001:0db8:ffff:ffff:ffff:ffff:ffff:ffff]:{}", last(index)))
                .collect()
        }
        "items of three kinds" => {
            let of_three = |index| {
                let port = port(search, index);
                [format!("198.18.0.{index}"), format!("198.18.0.1:{port}"), format!("[2001:db8::1]:{port}")]
            };
            (0..count / 3).flat_map(of_three).collect()
        }
        _ => return None,
    })
}

/// One IPv4 and one IPv6 address with distinct ports, alternating.
fn ports(search: &Search, count: usize) -> Vec<String> {
    let item = |index: usize| {
        let port = port(search, index / 2);
        if index.is_multiple_of(2) {
            format!("203.0.113.250:{port}")
        } else {
            format!("[2001:db8::250]:{port}")
        }
    };
    (0..count).map(item).collect()
}

/// A port of the document's range, counted from its smallest one.
fn port(search: &Search, index: usize) -> i64 {
    search.ports.start().saturating_add(i64::try_from(index).unwrap_or(i64::MAX))
}

/// An address of the same family that no account is known to have. Sandboxes may use the reserved ranges too.
pub(super) fn unknown(facts: &Facts, like: IpAddr) -> IpAddr {
    let known = facts.own_addresses.iter().chain(&facts.foreign_addresses);
    let known: BTreeSet<IpAddr> = known.filter_map(|item| Some(address_of(item)?.0)).collect();
    let invented = |last: u8| -> IpAddr {
        match like {
            IpAddr::V4(_) => Ipv4Addr::new(203, 0, 113, last).into(),
            IpAddr::V6(_) => Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, last.into()).into(),
        }
    };
    const FIRST: u8 = 249;
    (1..=FIRST).rev().map(invented).find(|ip| !known.contains(ip)).unwrap_or_else(|| invented(FIRST))
}
