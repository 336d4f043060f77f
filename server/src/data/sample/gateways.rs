//! The pool of gateways.

use crate::{
    domain::Protocol,
    store::{RecordKind, record::Record},
};

/// Region with more gateways of each protocol than one extraction may ask for, and how many.
pub(super) const PLENTIFUL: (&str, u16) = ("USA", 120);

/// Region with few gateways of each protocol, and how many.
pub(super) const SCARCE: (&str, u16) = ("ISL", 3);

/// Region without gateways.
pub(super) const EMPTY: &str = "ATA";

/// Regions with a few dozen gateways.
const OTHERS: [(&str, u16); 3] = [("DEU", 60), ("JPN", 40), ("BRA", 20)];

/// The gateways; every second one has an address instead of a host name. Addresses are numbered over all regions, so that each
/// gateway belongs to one region only.
pub(super) fn make(canary: &str) -> impl Iterator<Item = Record> {
    let regions = [PLENTIFUL, SCARCE].into_iter().chain(OTHERS);
    let numbered = regions.flat_map(|(region, count)| (0..count).map(move |number| (region, number)));
    numbered.zip(0_u8..).flat_map(move |((region, number), counted)| {
        let host = if counted % 2 == 0 {
            format!("gw{number}.{}.proxy.invalid", region.to_ascii_lowercase())
        } else {
            format!("203.0.113.{counted}")
        };
        Protocol::ALL.into_iter().map(move |protocol| {
            let first_port = match protocol {
                Protocol::Http => 20_000,
                Protocol::Socks5 => 30_000,
            };
            let fields = [
                ("host", host.clone().into()),
                ("port", (first_port + number).into()),
                ("region", region.into()),
                ("protocol", protocol.into()),
                ("username", format!("user-{number}-{canary}").into()),
                ("password", format!("{canary}-{region}-{number}").into()),
            ];
            Record::new(RecordKind::Gateway, fields)
        })
    })
}
