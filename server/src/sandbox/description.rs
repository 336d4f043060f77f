//! Describes a sandbox: its tokens, an example of everything to search, and commands to paste.

use std::{collections::BTreeMap, net::SocketAddr};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    data::seed::{AddressPorts, Sample},
    domain::{address::Address, token::TokenKind},
    edge::operation::Operation as _,
};

/// Path of the contract as a page.
pub(super) const DOCS: &str = "/docs";

/// Path of the clock.
pub(super) const CLOCK: &str = "/sandbox/clock";

/// The description of a sandbox, for programs. It holds tokens, so it has no `Debug`.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    /// The base URL for callers.
    pub base_url: String,
    /// URL of the contract as a page.
    pub docs: String,
    /// URL of the clock.
    pub clock: String,
    /// The operator's address, if there is one.
    pub admin: Option<String>,
    /// The tokens by name; `main` is that of the account that has everything.
    pub tokens: BTreeMap<&'static str, TokenDescription>,
    /// Examples of what can be searched and extracted.
    pub examples: Examples,
    /// Commands to paste into a shell.
    pub curl: Vec<String>,
}

/// A token of a sandbox.
#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenDescription {
    /// The token itself.
    pub token: String,
    /// `api`, or `link` for extraction only.
    pub kind: TokenKind,
    /// What the token is for.
    pub description: &'static str,
}

/// Examples of what can be searched and extracted by the main account.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Examples {
    /// An IPv4 address with several ports.
    pub several_ports: AddressPorts,
    /// An IPv6 address with one of its ports.
    pub ipv6: AddressPorts,
    /// An order number.
    pub order_no: String,
    /// An address that was bought by this order.
    pub order_address: String,
    /// A group that has instances.
    pub group_id: i64,
    /// An address that only another account holds, so that a search finds nothing.
    pub foreign_address: String,
    /// An address that both this account and another one hold.
    pub shared_address: String,
    /// An order of another account.
    pub foreign_order_no: String,
    /// A group of another account.
    pub foreign_group_id: i64,
    /// Regions of gateways.
    pub regions: Regions,
}

/// Regions by how many gateways they have.
#[derive(Clone, Debug, Serialize)]
pub struct Regions {
    /// More than the maximum of one extraction.
    pub plentiful: String,
    /// Few: a partial result.
    pub scarce: String,
    /// None: a shortage.
    pub empty: String,
}

impl Description {
    pub(super) fn new(base_url: String, admin: Option<SocketAddr>, sample: &Sample) -> Self {
        let examples = Examples::new(sample);
        Self {
            docs: format!("{base_url}{}", DOCS),
            clock: format!("{base_url}{}", CLOCK),
            admin: admin.map(|address| format!("http://{address}")),
            tokens: tokens(sample),
            curl: examples
                .commands(&base_url, sample.tokens.main.expose())
                .map(|(_, command)| command)
                .to_vec(),
            examples,
            base_url,
        }
    }
}

/// A name for each token, in the order of [`SampleTokens::list`](crate::data::seed::SampleTokens::list).
const NAMES: [&str; 10] = [
    "main",
    "link",
    "revoked",
    "expired",
    "second",
    "empty",
    "notWhitelisted",
    "notVerified",
    "notEntitled",
    "httpOnly",
];

fn tokens(sample: &Sample) -> BTreeMap<&'static str, TokenDescription> {
    let named = NAMES.into_iter().zip(sample.tokens.list());
    let described = named.map(|(name, (description, token))| {
        let kind = if name == "link" { TokenKind::Link } else { TokenKind::Api };
        (name, TokenDescription { token: token.expose().to_owned(), kind, description })
    });
    described.collect()
}

impl Examples {
    pub(super) fn new(sample: &Sample) -> Self {
        let order = sample.orders.first();
        Self {
            several_ports: sample.several_ports.clone(),
            ipv6: sample.ipv6.clone(),
            order_no: order.map(|order| order.number.clone()).unwrap_or_default(),
            order_address: order.and_then(|order| text(order.addresses.first())).unwrap_or_default(),
            group_id: sample.groups.first().map_or(0, |group| group.get()),
            foreign_address: text(sample.foreign_addresses.first()).unwrap_or_default(),
            shared_address: text(sample.shared_addresses.first()).unwrap_or_default(),
            foreign_order_no: sample.foreign_order.clone(),
            foreign_group_id: sample.foreign_group.get(),
            regions: Regions {
                plentiful: sample.plentiful_region.clone(),
                scarce: sample.scarce_region.clone(),
                empty: sample.empty_region.clone(),
            },
        }
    }

    /// Commands, each with a title. `token` is the token itself or a shell variable, and is placed between double quotes. The tests
    /// execute all of them, so that they notice names that change in the document.
    pub(super) fn commands(&self, base_url: &str, token: &str) -> [(&'static str, String); 8] {
        let extract = |query: &str| {
            let path = ExtractProxies::PATH;
            format!("curl -sS -H \"X-API-Key: {token}\" '{base_url}{path}?{query}'")
        };
        let search = |body: Value| {
            let path = SearchStaticInstances::PATH;
            format!(
                "curl -sS -H 'Content-Type: application/json' -d '{body}' \"{base_url}{path}?api_key={token}\""
            )
        };
        let AddressPorts { ip, ports } = &self.ipv6;
        let with_port = Address { ip: *ip, port: ports.first().copied() }.to_string();
        [
            ("Extract three gateways", extract("num=3")),
            (
                "Extract more gateways than a region has: a partial result",
                extract(&format!("num=10&regions={}", self.regions.scarce)),
            ),
            (
                "Extract from a region without gateways: a shortage",
                extract(&format!("num=1&regions={}", self.regions.empty)),
            ),
            ("List the groups", format!("curl -sS \"{base_url}{}?api_key={token}\"", ListStaticGroups::PATH)),
            (
                "Search an address: an instance for each of its ports",
                search(json!({"ips": [self.several_ports.ip]})),
            ),
            ("Search an IPv6 address with a port", search(json!({"ips": [with_port]}))),
            (
                "Search among the addresses of an order",
                search(json!({"ips": [self.order_address], "orderNo": self.order_no})),
            ),
            (
                "Search an address of another account: nothing is found",
                search(json!({"ips": [self.foreign_address]})),
            ),
        ]
    }
}

fn text(address: Option<&Address>) -> Option<String> {
    address.map(ToString::to_string)
}
