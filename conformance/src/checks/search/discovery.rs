//! Addresses of the account that the suite finds by itself, where they are reserved ones, as in sandboxes and staging environments.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::*;
use crate::check::{ResponseClass, Run};
use crate::checks::rule::apart;

/// The first three numbers of blocks that belong to nobody on the Internet: for documentation (RFC 5737), for benchmarks (RFC 2544)
/// and for private networks (RFC 1918). Of each the addresses from `.1` are asked for.
const RESERVED_BLOCKS: [[u8; 3]; 5] = [[203, 0, 113], [198, 51, 100], [192, 0, 2], [198, 18, 0], [10, 0, 0]];

/// Addresses of each block, and of IPv6 (`2001:db8::/32`, RFC 3849): in all, three searches of as many as the contract allows.
const OF_EACH_BLOCK: u8 = 250;

/// Stands for the searches below, whose responses passive checks judge as all others.
pub(crate) static DISCOVERY: LazyLock<Check> =
    LazyLock::new(|| apart(OperationId::Search, "search.discovery", Run::Cases(|_| Vec::new())));

/// Addresses of the account, as far as they are among the reserved ones. Ends early when a search is not accepted.
pub(crate) async fn own_addresses(probe: &Probe<'_>) -> Vec<String> {
    let candidates: Vec<String> = candidates().map(|address| address.to_string()).collect();
    let mut own = Vec::new();
    for asked in candidates.chunks(probe.contract().search.distinct_items) {
        match held(probe, asked).await {
            Some(held) => own.extend(held),
            None => break,
        }
    }
    own
}

fn candidates() -> impl Iterator<Item = IpAddr> {
    let of_block =
        |[a, b, c]: [u8; 3]| (1..=OF_EACH_BLOCK).map(move |d| IpAddr::from(Ipv4Addr::new(a, b, c, d)));
    let of_ipv6 = (1..=u16::from(OF_EACH_BLOCK))
        .map(|last| IpAddr::from(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last)));
    RESERVED_BLOCKS.into_iter().flat_map(of_block).chain(of_ipv6)
}

/// Those of the addresses that have an instance. None when the search is not accepted.
async fn held(probe: &Probe<'_>, asked: &[String]) -> Option<Vec<String>> {
    let largest = *probe.contract().search.page_sizes.end();
    let request = probe.search(asked.iter().cloned()).field(PAGE_SIZE, largest);
    let (exchange, class) = probe.send_once(&request).await.ok()?;
    let response = exchange.result.as_ref().ok().filter(|_| class == ResponseClass::Accepted)?;
    let items = response.at("/data/items").and_then(Json::as_array)?;
    // Other checks judge the other fields.
    let ip = |item: &Json| Some(item["ip"].as_str()?.parse::<IpAddr>().ok()?.to_canonical());
    let shown: HashSet<IpAddr> = items.iter().filter_map(ip).collect();
    Some(asked.iter().filter(|ip| ip.parse().is_ok_and(|ip| shown.contains(&ip))).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_candidate_belongs_to_anybody() {
        let all: HashSet<_> = candidates().collect();
        assert_eq!(all.len(), 6 * usize::from(OF_EACH_BLOCK));
        for address in all {
            let reserved = match address {
                IpAddr::V4(ip) => ip.is_documentation() || ip.is_private() || ip.octets()[..2] == [198, 18],
                IpAddr::V6(ip) => ip.segments()[..2] == [0x2001, 0xdb8],
            };
            assert!(reserved, "{address}");
        }
    }
}
