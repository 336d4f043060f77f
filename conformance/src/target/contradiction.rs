//! Finds facts that contradict each other before anything is sent, because a check that relies on a wrong fact reports findings
//! on a conforming service.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::{Fact, Facts, Secret};
use crate::contract::Contract;

/// Pairs of facts that nothing can belong to at once. One account may lack several things, so that its token may stand for each.
const EXCLUSIVE: [(Fact, Fact); 20] = [
    (Fact::OwnAddresses, Fact::ForeignAddresses),
    (Fact::Orders, Fact::ForeignAddresses),
    (Fact::SharedAddress, Fact::ForeignAddresses),
    (Fact::KnownInstances, Fact::ForeignAddresses),
    (Fact::ForeignOrder, Fact::Orders),
    (Fact::ForeignOrder, Fact::KnownInstances),
    (Fact::ForeignGroup, Fact::OwnGroups),
    (Fact::RevokedToken, Fact::SecondToken),
    (Fact::RevokedToken, Fact::EmptyToken),
    (Fact::RevokedToken, Fact::TokenNotWhitelisted),
    (Fact::RevokedToken, Fact::TokenNotVerified),
    (Fact::RevokedToken, Fact::TokenNotEntitled),
    (Fact::RevokedToken, Fact::TokenPartlyEntitled),
    (Fact::RevokedToken, Fact::LinkCredential),
    (Fact::RejectedTokens, Fact::SecondToken),
    (Fact::RejectedTokens, Fact::LinkCredential),
    (Fact::TokenNotEntitled, Fact::TokenPartlyEntitled),
    (Fact::PlentifulRegion, Fact::ScarceRegion),
    (Fact::PlentifulRegion, Fact::EmptyRegion),
    (Fact::ScarceRegion, Fact::EmptyRegion),
];

/// The contradictions, one sentence each.
pub(super) fn contradictions(token: &Secret, facts: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    addresses(facts, &mut wrong);
    protocols(facts, &mut wrong);
    regions(facts, &mut wrong);
    let has_own_token = |fact: &Fact| {
        *fact != Fact::Canaries && facts.secrets_of(*fact).any(|other| other.expose() == token.expose())
    };
    for fact in Fact::ALL.into_iter().filter(has_own_token) {
        let (variable, description) = (fact.variable(), fact.description());
        wrong.push(format!("{variable} has the account's own token: expected {description}"));
    }
    for (one, other) in EXCLUSIVE {
        let is_secret = facts.secrets_of(one).next().is_some();
        for subject in subjects(facts, one).intersection(&subjects(facts, other)) {
            wrong.push(format!(
                "{} and {} can't both hold for {}: the first is {}, the second {}",
                one.variable(),
                other.variable(),
                if is_secret { "one token" } else { subject.as_str() },
                one.description(),
                other.description()
            ));
        }
    }
    wrong
}

/// What a fact is about: addresses, numbers of orders or groups, regions or tokens.
fn subjects(facts: &Facts, fact: Fact) -> BTreeSet<String> {
    let addresses = |texts: &[String]| {
        texts.iter().filter_map(|text| host(text)).map(|host| host.to_string()).collect::<BTreeSet<_>>()
    };
    match fact {
        Fact::OwnAddresses => addresses(&facts.own_addresses),
        Fact::ForeignAddresses => addresses(&facts.foreign_addresses),
        Fact::SharedAddress => addresses(facts.shared_address.as_slice()),
        Fact::Orders => {
            let numbers = facts.orders.iter().map(|order| order.number.clone());
            numbers.chain(facts.orders.iter().flat_map(|order| addresses(&order.addresses))).collect()
        }
        Fact::KnownInstances => {
            let known = || facts.known_instances.iter();
            let orders = known().filter_map(|instance| instance.order.clone());
            orders.chain(known().map(|instance| instance.ip.to_canonical().to_string())).collect()
        }
        Fact::ForeignOrder => facts.foreign_order.iter().cloned().collect(),
        Fact::ForeignGroup => facts.foreign_group.iter().map(i64::to_string).collect(),
        Fact::OwnGroups => facts.own_groups.iter().map(i64::to_string).collect(),
        Fact::PlentifulRegion => facts.plentiful_region.iter().cloned().collect(),
        Fact::ScarceRegion => facts.scarce_region.iter().cloned().collect(),
        Fact::EmptyRegion => facts.empty_region.iter().cloned().collect(),
        tokens => facts.secrets_of(tokens).map(|token| token.expose().to_owned()).collect(),
    }
}

/// A protocol that no extraction takes is a typing error.
fn protocols(facts: &Facts, wrong: &mut Vec<String>) {
    // Without a contract nothing runs.
    let Ok(contract) = Contract::embedded() else { return };
    let known = &contract.extract.protocols;
    for protocol in facts.entitled_protocols.iter().filter(|protocol| !known.contains(protocol)) {
        let variable = Fact::EntitledProtocols.variable();
        wrong.push(format!("{variable}: expected one of {}, found `{protocol}`", known.join(", ")));
    }
}

fn addresses(facts: &Facts, wrong: &mut Vec<String>) {
    let of_orders = facts.orders.iter().flat_map(|order| &order.addresses);
    let all = facts.own_addresses.iter().map(|text| (Fact::OwnAddresses, text));
    let all = all.chain(of_orders.map(|text| (Fact::Orders, text)));
    let all = all.chain(facts.foreign_addresses.iter().map(|text| (Fact::ForeignAddresses, text)));
    let all = all.chain(facts.shared_address.iter().map(|text| (Fact::SharedAddress, text)));
    for (fact, text) in all.filter(|(_, text)| host(text).is_none()) {
        wrong.push(format!(
            "{}: expected IPv4, IPv4:port, IPv6 or [IPv6]:port, with a port other than 0, found `{text}`",
            fact.variable()
        ));
    }
}

/// The address of an item of `ips`. This only finds typing errors, and the port 0 that instances may have and items must not; the
/// checks parse items by the contract.
fn host(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().filter(|address| address.port() > 0);
    let host = bare.parse().ok().or_else(|| with_port().map(|address| address.ip()));
    host.map(|host: IpAddr| host.to_canonical())
}

fn regions(facts: &Facts, wrong: &mut Vec<String>) {
    let regions = [
        (Fact::PlentifulRegion, &facts.plentiful_region),
        (Fact::ScarceRegion, &facts.scarce_region),
        (Fact::EmptyRegion, &facts.empty_region),
    ];
    let named = regions.iter().filter_map(|(fact, region)| Some((*fact, region.as_deref()?)));
    let pools = facts.known_gateways.iter().map(|pool| (Fact::KnownGateways, pool.region.as_str()));
    let default = default_region();
    for (fact, region) in named.chain(pools).filter(|(_, region)| !is_region(region, default)) {
        // A longer text may be a token in the wrong variable, which must not be shown.
        let found = match region.chars().count() {
            length if length < Secret::SHORTEST => format!("`{region}`"),
            length => format!("a text of {length} characters"),
        };
        let default = default.map(|default| format!(" or `{default}`")).unwrap_or_default();
        wrong.push(format!(
            "{}: expected a three-letter country code such as `USA`{default}, found {found}",
            fact.variable()
        ));
    }
}

/// The default of `regions`.
fn default_region() -> Option<&'static str> {
    Contract::embedded().ok()?.extract.regions.schema.default.as_ref()?.as_str()
}

/// The schema of `regions` allows any text, but the document describes its values as codes of the country directory, which have
/// three letters. Their letter case is unspecified.
fn is_region(text: &str, default: Option<&str>) -> bool {
    const LETTERS: usize = 3;
    default == Some(text) || text.len() == LETTERS && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}
