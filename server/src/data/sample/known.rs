//! What a tester knows of the sample data.

use std::net::IpAddr;

use serde::Serialize;

use crate::{
    domain::{address::Address, instance::Id, token::Token},
    store::record::RecordCounts,
};

/// Facts about the sample data. Tokens and canaries are generated anew for each database; everything else is fixed.
#[derive(Clone, Debug)]
pub struct Sample {
    /// How many records of each kind there are.
    pub loaded: RecordCounts,
    /// The tokens.
    pub tokens: SampleTokens,
    /// Every distinct address of the main account, without ports.
    pub addresses: Vec<Address>,
    /// Orders of the main account.
    pub orders: Vec<Order>,
    /// Every group of the main account.
    pub groups: Vec<Id>,
    /// A sample of the main account's instances, as JSON: the fields of a response, and the order number.
    pub instances: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Addresses that only the second account holds.
    pub foreign_addresses: Vec<Address>,
    /// An order of the second account.
    pub foreign_order: String,
    /// A group of the second account.
    pub foreign_group: Id,
    /// Addresses that both accounts hold.
    pub shared_addresses: Vec<Address>,
    /// A region with more gateways than one extraction may ask for.
    pub plentiful_region: String,
    /// A region with few gateways.
    pub scarce_region: String,
    /// How many gateways of each protocol the scarce region has.
    pub scarce_count: u32,
    /// A region without gateways.
    pub empty_region: String,
    /// Every gateway, by region and protocol.
    pub gateways: Vec<Pool>,
    /// Texts that are part of every stored proxy user name and password, and must not appear in a response.
    pub canaries: Vec<String>,
    /// An IPv4 address of the main account with several ports.
    pub several_ports: AddressPorts,
    /// An IPv6 address of the main account with its ports.
    pub ipv6: AddressPorts,
}

/// The tokens of the sample data. Unless stated otherwise they may extract from loopback addresses.
#[derive(Clone, Debug)]
pub struct SampleTokens {
    /// The main account, which has everything.
    pub main: Token,
    /// A link credential of the main account.
    pub link: Token,
    /// A revoked token of the main account.
    pub revoked: Token,
    /// An expired token of the main account.
    pub expired: Token,
    /// The second account, with instances and groups of its own.
    pub second: Token,
    /// An account without groups and instances.
    pub empty: Token,
    /// An account whose whitelist entries are disabled, expired or elsewhere.
    pub not_whitelisted: Token,
    /// An account that is not real-name verified.
    pub not_verified: Token,
    /// An account without any entitlement that is still valid.
    pub not_entitled: Token,
    /// An account entitled to `http` only.
    pub http_only: Token,
}

impl SampleTokens {
    /// Every token with a description, in the order of the fields.
    #[must_use]
    pub fn list(&self) -> [(&'static str, &Token); 10] {
        [
            ("main account", &self.main),
            ("main account, link credential", &self.link),
            ("main account, revoked", &self.revoked),
            ("main account, expired", &self.expired),
            ("second account", &self.second),
            ("empty account", &self.empty),
            ("not whitelisted", &self.not_whitelisted),
            ("not real-name verified", &self.not_verified),
            ("not entitled", &self.not_entitled),
            ("entitled to http alone", &self.http_only),
        ]
    }
}

/// The gateways of one region and protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// The region.
    pub region: String,
    /// The protocol.
    pub protocol: String,
    /// Host and port of each.
    pub gateways: Vec<(String, u16)>,
}

/// An order with what was bought by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// Its number.
    pub number: String,
    /// The addresses of its instances, each once, without ports.
    pub addresses: Vec<Address>,
}

/// An address of the main account with its ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressPorts {
    /// The address.
    pub ip: IpAddr,
    /// The ports of its instances, ascending.
    pub ports: Vec<u16>,
}
