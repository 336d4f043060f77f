//! Describes a sandbox: its tokens, an example of everything to search, and commands to paste.

use std::{collections::BTreeMap, net::SocketAddr};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    api::generated::{ExtractProxies, ListStaticGroups, SearchStaticInstances},
    data::seed::{AddressPorts, Sample, SampleToken},
    domain::{address::Address, token::TokenKind},
    edge::operation::Operation as _,
};

/// Path of the contract as a page.
pub(super) const DOCS: &str = "/docs";

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
    /// Examples of what the main account can search and extract, by name.
    pub examples: Value,
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

impl Description {
    pub(super) fn new(base_url: String, admin: Option<SocketAddr>, sample: &Sample) -> Self {
        Self {
            docs: format!("{base_url}{}", DOCS),
            clock: format!("{base_url}{}", CLOCK),
            admin: admin.map(|address| format!("http://{address}")),
            tokens: tokens(sample),
            curl: commands(sample, &base_url),
            examples: examples(sample),
            base_url,
        }
    }
}

fn tokens(sample: &Sample) -> BTreeMap<&'static str, TokenDescription> {
    let described = sample.tokens.list().map(|SampleToken { name, description, kind, token, .. }| {
        (name, TokenDescription { token: token.expose().to_owned(), kind, description })
    });
    described.into()
}

/// Addresses, orders and groups of the main account, the same of another one, and regions with more gateways than one extraction may
/// ask for, with few and with none.
fn examples(sample: &Sample) -> Value {
    let order = sample.orders.first_key_value();
    json!({
        "severalPorts": sample.several_ports,
        "ipv6": sample.ipv6,
        "orderNo": order.map(|(number, _)| number),
        "orderAddress": text(order.and_then(|(_, addresses)| addresses.first())),
        "groupId": sample.groups.first().map(|group| group.get()),
        "foreignAddress": text(sample.foreign_addresses.first()),
        "sharedAddress": text(sample.shared_addresses.first()),
        "foreignOrderNo": sample.foreign_order,
        "foreignGroupId": sample.foreign_group.get(),
        "regions": {
            "plentiful": sample.plentiful_region,
            "scarce": sample.scarce_region,
            "empty": sample.empty_region,
        },
    })
}

/// Commands to paste into a shell. The tests execute all of them, so that they notice names that change in the document.
fn commands(sample: &Sample, base_url: &str) -> Vec<String> {
    let token = sample.tokens.main.expose();
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
    let AddressPorts { ip, ports } = &sample.ipv6;
    let with_port = Address { ip: *ip, port: ports.first().copied() }.to_string();
    let examples = examples(sample);
    let (scarce, empty) = (&sample.scarce_region, &sample.empty_region);
    let of_order = json!({"ips": [examples["orderAddress"]], "orderNo": examples["orderNo"]});
    vec![
        extract("num=3"),
        // More than the region has: a partial result.
        extract(&format!("num=10&regions={scarce}")),
        // A shortage.
        extract(&format!("num=1&regions={empty}")),
        format!("curl -sS \"{base_url}{}?api_key={token}\"", ListStaticGroups::PATH),
        // An instance for each of its ports.
        search(json!({"ips": [sample.several_ports.ip]})),
        search(json!({"ips": [with_port]})),
        search(of_order),
        // Of another account: nothing is found.
        search(json!({"ips": [examples["foreignAddress"]]})),
    ]
}

fn text(address: Option<&Address>) -> Option<String> {
    address.map(ToString::to_string)
}
