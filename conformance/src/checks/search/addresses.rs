//! Addresses that checks invent, in ranges that are reserved for documentation (RFC 3849, RFC 5737).

use minijinja::context;
use minijinja::value::ValueKind;

use super::words::FUNCTIONS;
use super::*;
use crate::checks::template::value;
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

/// Distinct IPv6 addresses for documentation that no account has, not even in the sample data.
pub(crate) fn unused(count: usize) -> impl Iterator<Item = String> {
    (1..=count).map(|index| format!("2001:db8:ffff:1::{index:x}"))
}

/// Whether the items of a row can be made: all words are known, and there is an item.
pub(crate) fn are_items(search: &Search, expression: &str) -> bool {
    const WORDS: &str =
        "addresses cycle items limit longest of_three_kinds own ports_of_two raw respelled with_port";
    let is_known = |word: &String| WORDS.split(' ').any(|known| known == word);
    let valid: Vec<Json> = unused(2).map(Json::from).collect();
    let made = items(search, &Facts::default(), &valid, expression);
    words::used(expression).iter().all(is_known) && made.is_some_and(|made| !made.is_empty())
}

/// The items of an expression, such as `addresses(limit + 1)`, with the functions of `words.rs`: `items` are those of the valid request,
/// `limit` is the largest number of distinct ones, `raw` that of all, and `own` are some addresses of the account, or unused ones. None
/// when it makes no list of texts.
pub(crate) fn items(search: &Search, facts: &Facts, items: &[Json], expression: &str) -> Option<Vec<Json>> {
    const MOST: usize = 8;
    let own: Vec<String> = facts.own_addresses.iter().cloned().chain(unused(MOST)).take(MOST).collect();
    let (limit, raw) = (search.distinct_items, *search.raw_items.end());
    let known = context! { items => value(items), limit, raw, own };
    let items = FUNCTIONS.compile_expression(expression).ok()?.eval(known).ok()?;
    // A text has elements as well, its characters.
    let list = Some(items).filter(|items| matches!(items.kind(), ValueKind::Seq | ValueKind::Iterable))?;
    list.try_iter().ok()?.map(|item| item.as_str().map(Json::from)).collect()
}

/// Spellings of an IPv6 address that are as long as an item can be.
pub(super) fn longest(search: &Search, count: usize) -> Vec<String> {
    let ports = (0..count).filter_map(|index| Some(search.ports.end() - i64::try_from(index).ok()?));
    ports.map(|port| format!("[2001:0db8:ffff:ffff:ffff:ffff:ffff:ffff]:{port}")).collect()
}

/// Addresses alone, and ports of one IPv4 and of one IPv6 address.
pub(super) fn of_three_kinds(search: &Search, count: usize) -> Vec<String> {
    let of_three = |index| {
        let port = port(search, index);
        [format!("198.18.0.{index}"), format!("198.18.0.1:{port}"), format!("[2001:db8::1]:{port}")]
    };
    (0..count / 3).flat_map(of_three).collect()
}

/// One IPv4 and one IPv6 address with distinct ports, alternating.
pub(super) fn ports(search: &Search, count: usize) -> Vec<String> {
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
