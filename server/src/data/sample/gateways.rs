//! The pool of gateways.

use crate::{
    domain::protocol::Protocol,
    store::record::{GatewayRecord, ProxyPassword},
};

/// Region with more gateways of each protocol than one extraction may ask for, and how many.
pub(super) const PLENTIFUL: (&str, u32) = ("USA", 240);

/// Region with few gateways of each protocol, and how many.
pub(super) const SCARCE: (&str, u32) = ("ISL", 3);

/// Region without gateways.
pub(super) const EMPTY: &str = "ATA";

/// Regions with a few dozen gateways.
const OTHERS: [(&str, u32); 3] = [("DEU", 60), ("JPN", 40), ("BRA", 20)];

/// The gateways; every second one has an address instead of a host name.
pub(super) fn make(canary: &str) -> impl Iterator<Item = GatewayRecord> {
    [PLENTIFUL, SCARCE].into_iter().chain(OTHERS).flat_map(move |(region, count)| {
        (0..count).flat_map(move |number| {
            Protocol::ALL.into_iter().map(move |protocol| GatewayRecord {
                host: host(region, number),
                port: match protocol {
                    Protocol::Http => 20_000,
                    Protocol::Socks5 => 30_000,
                } + (number % 1_000) as u16,
                region: region.to_owned(),
                protocol,
                username: Some(format!("user-{number}-{canary}")),
                password: Some(ProxyPassword::new(format!("{canary}-{region}-{number}"))),
            })
        })
    })
}

fn host(region: &str, number: u32) -> String {
    if number.is_multiple_of(2) {
        format!("gw{number}.{}.proxy.invalid", region.to_ascii_lowercase())
    } else {
        format!("203.0.113.{}", number % 256)
    }
}
