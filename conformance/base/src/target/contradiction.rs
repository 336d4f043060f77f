//! Finds facts that contradict each other, because checks that rely on a wrong one report findings on a conforming service.

use std::collections::{BTreeMap, BTreeSet};
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

/// Facts that name addresses, as items of `ips`, and those that name regions.
const ADDRESSES: [Fact; 4] = [Fact::OwnAddresses, Fact::Orders, Fact::ForeignAddresses, Fact::SharedAddress];
const REGIONS: [Fact; 4] =
    [Fact::PlentifulRegion, Fact::ScarceRegion, Fact::EmptyRegion, Fact::KnownGateways];

/// The contradictions, one sentence each.
pub(super) fn contradictions(token: &Secret, facts: &Facts) -> Vec<String> {
    let mut wrong = typing_errors(facts);
    let has_own_token = |fact: &Fact| {
        *fact != Fact::Canaries && facts.secrets_of(*fact).any(|other| other.expose() == token.expose())
    };
    for fact in Fact::ALL.into_iter().filter(has_own_token) {
        let (variable, description) = (fact.variable(), fact.description());
        wrong.push(format!("{variable} has the account's own token: expected {description}"));
    }
    let exclusive: BTreeSet<Fact> = EXCLUSIVE.iter().flat_map(|(one, other)| [*one, *other]).collect();
    let subjects: BTreeMap<Fact, BTreeSet<String>> =
        exclusive.into_iter().map(|fact| (fact, subjects(facts, fact))).collect();
    for (one, other) in EXCLUSIVE {
        let is_secret = facts.secrets_of(one).next().is_some();
        for subject in subjects[&one].intersection(&subjects[&other]) {
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

impl Facts {
    /// The values of a fact that is no secret: addresses, protocols, regions, numbers of orders or groups.
    pub fn values(&self, fact: Fact) -> Vec<String> {
        match fact {
            Fact::OwnAddresses => self.own_addresses.clone(),
            Fact::ForeignAddresses => self.foreign_addresses.clone(),
            Fact::SharedAddress => self.shared_address.iter().cloned().collect(),
            Fact::Orders => self.orders.iter().flat_map(|order| order.addresses.clone()).collect(),
            Fact::KnownInstances => {
                self.known_instances.iter().map(|instance| instance.ip.to_canonical().to_string()).collect()
            }
            Fact::KnownGateways => self.known_gateways.iter().map(|pool| pool.region.clone()).collect(),
            Fact::EntitledProtocols => self.entitled_protocols.clone(),
            Fact::ForeignOrder => self.foreign_order.iter().cloned().collect(),
            Fact::ForeignGroup => self.foreign_group.iter().map(i64::to_string).collect(),
            Fact::OwnGroups => self.own_groups.iter().map(i64::to_string).collect(),
            Fact::PlentifulRegion => self.plentiful_region.iter().cloned().collect(),
            Fact::ScarceRegion => self.scarce_region.iter().cloned().collect(),
            Fact::EmptyRegion => self.empty_region.iter().cloned().collect(),
            _ => Vec::new(),
        }
    }
}

/// What a fact is about: its values, with each address in one spelling, and the numbers of orders that hold them.
fn subjects(facts: &Facts, fact: Fact) -> BTreeSet<String> {
    let is_address = ADDRESSES.contains(&fact);
    let subject = |text: String| if is_address { Some(host(&text)?.to_string()) } else { Some(text) };
    let subjects = facts.values(fact).into_iter().filter_map(subject);
    match fact {
        Fact::Orders => subjects.chain(facts.orders.iter().map(|order| order.number.clone())).collect(),
        Fact::KnownInstances => {
            let orders = facts.known_instances.iter().filter_map(|instance| instance.order.clone());
            subjects.chain(orders).collect()
        }
        _ => subjects.chain(facts.secrets_of(fact).map(|token| token.expose().to_owned())).collect(),
    }
}

/// Facts, whether a value has their form, and that form in words.
type Form<'a> = (&'a [Fact], &'a dyn Fn(&String) -> bool, &'a str);

/// Values that no environment has, one sentence each.
fn typing_errors(facts: &Facts) -> Vec<String> {
    // Without a contract nothing runs.
    let Ok(contract) = Contract::embedded() else { return Vec::new() };
    let protocols = &contract.extract.protocols;
    let default = contract.extract.regions.schema.default.as_ref().and_then(|default| default.as_str());
    let or_default = default.map(|default| format!(" or `{default}`")).unwrap_or_default();
    let protocol = format!("one of {}", protocols.join(", "));
    let region = format!("a three-letter country code such as `USA`{or_default}");
    let forms: [Form<'_>; 3] = [
        (
            &ADDRESSES,
            &|text| host(text).is_some(),
            "IPv4, IPv4:port, IPv6 or [IPv6]:port, with a port other than 0",
        ),
        (&[Fact::EntitledProtocols], &|text| protocols.contains(text), &protocol),
        (&REGIONS, &|text| is_region(text, default), &region),
    ];
    let mut wrong = Vec::new();
    for (of_form, is_valid, expected) in forms {
        let named =
            of_form.iter().flat_map(|fact| facts.values(*fact).into_iter().map(move |text| (fact, text)));
        for (fact, text) in named.filter(|(_, text)| !is_valid(text)) {
            // A text that is too long for a region may be a token in the wrong variable, which must not be shown.
            let found = match text.chars().count() {
                length if REGIONS.contains(fact) && length >= Secret::SHORTEST => {
                    format!("a text of {length} characters")
                }
                _ => format!("`{text}`"),
            };
            wrong.push(format!("{}: expected {expected}, found {found}", fact.variable()));
        }
    }
    wrong
}

/// The address of an item of `ips`, for typing errors and the port 0 of instances alone; checks parse items by the contract.
fn host(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().ok().filter(|address| address.port() > 0);
    let host = bare.parse().ok().or_else(|| with_port().map(|address| address.ip()));
    host.map(|host: IpAddr| host.to_canonical())
}

/// The schema of `regions` allows any text; the document says codes of the country directory, of three letters in any case.
fn is_region(text: &str, default: Option<&str>) -> bool {
    const LETTERS: usize = 3;
    default == Some(text) || text.len() == LETTERS && text.bytes().all(|byte| byte.is_ascii_alphabetic())
}
