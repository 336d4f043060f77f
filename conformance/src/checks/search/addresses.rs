//! Addresses that checks make up, all of ranges that are kept for documentation (RFC 3849, RFC 5737).

use std::net::{Ipv4Addr, Ipv6Addr};

/// Distinct IPv4 and IPv6 addresses, taking turns.
pub(super) fn distinct(count: usize) -> Vec<String> {
    let address = |index: usize| {
        let number = u32::try_from(index / 2).unwrap_or(u32::MAX);
        if index.is_multiple_of(2) {
            // 198.18.0.0/15 is kept for benchmarks (RFC 2544) and has room for more than a documentation range.
            Ipv4Addr::from_bits(Ipv4Addr::new(198, 18, 0, 0).to_bits() + number).to_string()
        } else {
            Ipv6Addr::from_bits(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0).to_bits() + u128::from(number))
                .to_string()
        }
    };
    (0..count).map(address).collect()
}

/// One address with as many distinct ports, IPv4 and IPv6 taking turns.
pub(super) fn ports(count: usize) -> Vec<String> {
    let item = |index: usize| {
        let port = 1 + index / 2;
        if index.is_multiple_of(2) {
            format!("203.0.113.250:{port}")
        } else {
            format!("[2001:db8::250]:{port}")
        }
    };
    (0..count).map(item).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn made_up_items_are_distinct() {
        for items in [distinct(1_001), ports(1_001)] {
            assert_eq!(items.iter().collect::<BTreeSet<_>>().len(), 1_001);
        }
    }
}
