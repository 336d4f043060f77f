//! What a tester knows of the sample data.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::IpAddr,
};

use serde::Serialize;

use super::{MAIN, SECOND};
use crate::{
    domain::{
        address::Address,
        instance::Id,
        token::{Token, TokenKind},
    },
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
    pub addresses: BTreeSet<Address>,
    /// Orders of the main account by number, with the addresses of their instances, without ports.
    pub orders: BTreeMap<String, BTreeSet<Address>>,
    /// Every group of the main account.
    pub groups: Vec<Id>,
    /// A sample of the main account's instances, as JSON: the fields of a response, and the order number.
    pub instances: Vec<serde_json::Map<String, serde_json::Value>>,
    /// Addresses that only the second account holds.
    pub foreign_addresses: BTreeSet<Address>,
    /// An order of the second account.
    pub foreign_order: String,
    /// A group of the second account.
    pub foreign_group: Id,
    /// Addresses that both accounts hold.
    pub shared_addresses: BTreeSet<Address>,
    /// A region with more gateways than one extraction may ask for.
    pub plentiful_region: String,
    /// A region with few gateways.
    pub scarce_region: String,
    /// How many gateways of each protocol the scarce region has.
    pub scarce_count: u32,
    /// A region without gateways.
    pub empty_region: String,
    /// Every gateway.
    pub gateways: Pools,
    /// Texts that are part of every stored proxy user name and password, and must not appear in a response.
    pub canaries: Vec<String>,
    /// An IPv4 address of the main account with several ports.
    pub several_ports: AddressPorts,
    /// An IPv6 address of the main account with its ports.
    pub ipv6: AddressPorts,
}

/// Times at which a token expires and at which it was revoked.
pub(super) type Ends = [Option<&'static str>; 2];

const NEVER: Ends = [None, None];
const REVOKED: Ends = [Some("2400-02-29T12:00:00.000000001Z"), Some("2020-01-01T00:00:00Z")];
const EXPIRED: Ends = [Some("2020-01-01T00:00:00Z"), None];

/// A token of the sample data, for those who list them.
#[derive(Clone, Copy, Debug)]
pub struct SampleToken<'a> {
    /// Its name in the description of a sandbox.
    pub name: &'static str,
    /// Its key in the suite's configuration.
    pub key: &'static str,
    /// What it is.
    pub description: &'static str,
    /// Name of its account.
    pub account: &'static str,
    /// Which operations accept it.
    pub kind: TokenKind,
    /// The token.
    pub token: &'a Token,
}

/// Declares each token: its field, name, key and description, and the account, kind and ends with which it is made.
macro_rules! sample_tokens {
    ($($field:ident $name:literal $key:literal $description:literal: $account:expr, $kind:ident, $ends:ident;)+) => {
        /// The tokens of the sample data. Unless stated otherwise they may extract from loopback addresses.
        #[derive(Clone, Debug)]
        pub struct SampleTokens {
            $(#[doc = $description] pub $field: Token),+
        }

        impl SampleTokens {
            /// Makes each for its account.
            pub(super) fn new(mut token: impl FnMut(&'static str, TokenKind, Ends) -> Token) -> Self {
                Self { $($field: token($account, TokenKind::$kind, $ends)),+ }
            }

            /// Every token, in the order of the fields.
            pub fn list(&self) -> [SampleToken<'_>; [$($key),+].len()] {
                [$(SampleToken {
                    name: $name,
                    key: $key,
                    description: $description,
                    account: $account,
                    kind: TokenKind::$kind,
                    token: &self.$field,
                }),+]
            }
        }
    };
}

sample_tokens! {
    main "main" "api-key" "main account": MAIN, Api, NEVER;
    link "link" "link-credential" "main account, link credential": MAIN, Link, NEVER;
    revoked "revoked" "revoked-api-key" "main account, revoked": MAIN, Api, REVOKED;
    expired "expired" "expired-api-key" "main account, expired": MAIN, Api, EXPIRED;
    second "second" "second-api-key" "second account": SECOND, Api, NEVER;
    empty "empty" "empty-api-key" "empty account": "calm", Api, NEVER;
    not_whitelisted "notWhitelisted" "not-whitelisted-api-key" "not whitelisted": "not-whitelisted", Api, NEVER;
    not_verified "notVerified" "not-verified-api-key" "not real-name verified": "not-verified", Api, NEVER;
    not_entitled "notEntitled" "not-entitled-api-key" "not entitled": "not-entitled", Api, NEVER;
    http_only "httpOnly" "partly-entitled-api-key" "entitled to http alone": "http-only", Api, NEVER;
}

/// Gateways as `HOST:PORT`, by region and protocol.
pub type Pools = BTreeMap<(String, String), Vec<String>>;

/// An address of the main account with its ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AddressPorts {
    /// The address.
    pub ip: IpAddr,
    /// The ports of its instances, ascending.
    pub ports: Vec<u16>,
}
