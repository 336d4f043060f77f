//! Splits more addresses than one request takes.

use std::{collections::HashSet, net::IpAddr};

use crate::Address;

/// Splits addresses into batches of at most `max`, so that no instance matches in two of them: duplicates are removed, and
/// so are addresses with a port that are listed without a port as well.
pub(super) fn split(addresses: Vec<Address>, max: usize) -> Vec<Vec<Address>> {
    let without_port: HashSet<IpAddr> =
        addresses.iter().filter(|address| address.port().is_none()).map(Address::ip).collect();
    let mut seen = HashSet::new();
    let kept: Vec<Address> = addresses
        .into_iter()
        .filter(|address| address.port().is_none() || !without_port.contains(&address.ip()))
        .filter(|address| seen.insert(address.clone()))
        .collect();
    kept.chunks(max.max(1)).map(<[Address]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    fn address() -> impl Strategy<Value = Address> {
        (0u8..8, proptest::option::of(1u16..4)).prop_map(|(last, port)| {
            let ip = Ipv4Addr::new(192, 0, 2, last);
            port.map_or(Address::from(ip), |port| Address::with_port(ip, port).unwrap())
        })
    }

    fn matches(address: &Address, ip: IpAddr, port: u16) -> bool {
        address.ip() == ip && address.port().is_none_or(|own| own == port)
    }

    #[test]
    fn the_first_text_of_an_address_is_sent() {
        let written =
            ["2001:DB8::1", "[::ffff:192.0.2.1]:80", "2001:db8:0::1", "::ffff:192.0.2.1", "192.0.2.1"];
        let batches = split(written.map(|text| text.parse().unwrap()).to_vec(), 1);
        let sent: Vec<_> = batches.iter().flatten().map(Address::as_written).collect();
        assert_eq!(sent, ["2001:DB8::1", "192.0.2.1"]);
    }

    proptest! {
        #[test]
        fn every_instance_matches_in_one_batch_if_it_matched_before(
            addresses in proptest::collection::vec(address(), 0..40),
            max in 1usize..6,
        ) {
            let batches = split(addresses.clone(), max);
            prop_assert!(batches.iter().all(|batch| !batch.is_empty() && batch.len() <= max));
            for last in 0..8u8 {
                for port in 1..5u16 {
                    let ip = IpAddr::from([192, 0, 2, last]);
                    let before = addresses.iter().any(|address| matches(address, ip, port));
                    let within = |batch: &&Vec<Address>| batch.iter().any(|address| matches(address, ip, port));
                    prop_assert_eq!(batches.iter().filter(within).count(), usize::from(before));
                }
            }
        }
    }
}
