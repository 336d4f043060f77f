//! Finds facts that contradict each other before anything is sent, because a check that relies on a wrong fact reports findings
//! on a conforming service.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};

use super::{Fact, Facts, Secret};
use crate::contract::Contract;

/// The contradictions, one sentence each.
pub(super) fn contradictions(token: &Secret, facts: &Facts) -> Vec<String> {
    let mut wrong = Vec::new();
    addresses(facts, &mut wrong);
    protocols(facts, &mut wrong);
    tokens(token, facts, &mut wrong);
    regions(facts, &mut wrong);
    if let Some(order) = &facts.foreign_order {
        if facts.orders.iter().any(|own| own.number == *order) {
            wrong.push(both(Fact::ForeignOrder, Fact::Orders, order));
        }
        if facts.known_instances.iter().any(|instance| instance.order.as_ref() == Some(order)) {
            wrong.push(both(Fact::ForeignOrder, Fact::KnownInstances, order));
        }
    }
    if let Some(group) = facts.foreign_group.filter(|group| facts.own_groups.contains(group)) {
        wrong.push(both(Fact::ForeignGroup, Fact::OwnGroups, &group.to_string()));
    }
    wrong
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
    let orders = facts.orders.iter().flat_map(|order| &order.addresses);
    let all = [
        (Fact::OwnAddresses, facts.own_addresses.iter().collect::<Vec<_>>()),
        (Fact::Orders, orders.collect()),
        (Fact::ForeignAddresses, facts.foreign_addresses.iter().collect()),
        (Fact::SharedAddress, facts.shared_address.iter().collect()),
    ];
    for (fact, texts) in &all {
        for text in texts.iter().filter(|text| host(text).is_none()) {
            wrong.push(format!(
                "{}: expected IPv4, IPv4:port, IPv6 or [IPv6]:port, with a port other than 0, found `{text}`",
                fact.variable()
            ));
        }
    }
    let hosts =
        |texts: &[&String]| -> BTreeSet<IpAddr> { texts.iter().filter_map(|text| host(text)).collect() };
    let [(_, own), (_, orders), (_, foreign), (_, shared)] = &all;
    let foreign = hosts(foreign);
    let known = facts.known_instances.iter().map(|instance| instance.ip.to_canonical());
    for address in known.collect::<BTreeSet<_>>().intersection(&foreign) {
        wrong.push(both(Fact::KnownInstances, Fact::ForeignAddresses, &address.to_string()));
    }
    for (fact, texts) in [(Fact::OwnAddresses, own), (Fact::Orders, orders), (Fact::SharedAddress, shared)] {
        for address in hosts(texts).intersection(&foreign) {
            wrong.push(both(fact, Fact::ForeignAddresses, &address.to_string()));
        }
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

fn tokens(token: &Secret, facts: &Facts, wrong: &mut Vec<String>) {
    let others = [
        (Fact::SecondToken, &facts.second_token),
        (Fact::EmptyToken, &facts.empty_token),
        (Fact::RevokedToken, &facts.revoked_token),
        (Fact::TokenNotWhitelisted, &facts.token_not_whitelisted),
        (Fact::TokenNotVerified, &facts.token_not_verified),
        (Fact::TokenNotEntitled, &facts.token_not_entitled),
        (Fact::TokenPartlyEntitled, &facts.token_partly_entitled),
        (Fact::LinkCredential, &facts.link_credential),
    ];
    let same = |one: &Secret, other: &Option<Secret>| {
        other.as_ref().is_some_and(|other| one.expose() == other.expose())
    };
    for (fact, _) in others.iter().filter(|(_, other)| same(token, other)) {
        wrong.push(format!(
            "{} is the account's own token: expected {}",
            fact.variable(),
            fact.description()
        ));
    }
    if let Some(revoked) = &facts.revoked_token {
        let not_revoked = others.iter().filter(|(fact, _)| *fact != Fact::RevokedToken);
        for (fact, _) in not_revoked.filter(|(_, other)| same(revoked, other)) {
            wrong.push(both(Fact::RevokedToken, *fact, "one token"));
        }
    }
    let accepted = [(Fact::SecondToken, &facts.second_token), (Fact::LinkCredential, &facts.link_credential)];
    for rejected in &facts.rejected_tokens {
        if rejected.token.expose() == token.expose() {
            wrong.push(format!(
                "{} has the account's own token: expected {}",
                Fact::RejectedTokens.variable(),
                Fact::RejectedTokens.description()
            ));
        }
        for (fact, _) in accepted.iter().filter(|(_, other)| same(&rejected.token, other)) {
            wrong.push(both(Fact::RejectedTokens, *fact, "one token"));
        }
    }
    if let Some(none) = &facts.token_not_entitled
        && same(none, &facts.token_partly_entitled)
    {
        wrong.push(both(Fact::TokenNotEntitled, Fact::TokenPartlyEntitled, "one token"));
    }
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
    for (number, (fact, region)) in regions.iter().enumerate() {
        let Some(region) = region else { continue };
        for (other, _) in regions[number + 1..].iter().filter(|(_, other)| other.as_ref() == Some(region)) {
            wrong.push(both(*fact, *other, region));
        }
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

/// The message for two facts that exclude each other.
fn both(one: Fact, other: Fact, what: &str) -> String {
    format!(
        "{} and {} can't both hold for {what}: the first is {}, the second {}",
        one.variable(),
        other.variable(),
        one.description(),
        other.description()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{KnownInstance, KnownOrder, RejectedToken, RejectionReason};

    fn secret(text: &str) -> Option<Secret> {
        Some(Secret::new("A_TOKEN", text))
    }

    fn wrong(change: fn(&mut Facts)) -> Vec<String> {
        let mut facts = Facts {
            own_addresses: vec!["203.0.113.7".into(), "[2001:db8::1]:1080".into(), "203.0.113.8:80".into()],
            orders: vec![KnownOrder { number: "SO-1".into(), addresses: vec!["203.0.113.7".into()] }],
            foreign_addresses: vec!["203.0.113.9".into()],
            foreign_order: Some("SO-2".into()),
            shared_address: Some("203.0.113.8".into()),
            second_token: secret("token-of-second"),
            revoked_token: secret("token-revoked"),
            // No contradiction: one account may lack both.
            token_not_verified: secret("token-of-fourth"),
            token_not_entitled: secret("token-of-fourth"),
            plentiful_region: Some("USA".into()),
            empty_region: Some("FRA".into()),
            ..Facts::default()
        };
        change(&mut facts);
        contradictions(&Secret::new("API_KEY", "token-of-main"), &facts)
    }

    #[test]
    fn consistent_facts_are_accepted() {
        assert_eq!(wrong(|_| {}), Vec::<String>::new());
        assert_eq!(contradictions(&Secret::new("API_KEY", "token"), &Facts::default()), Vec::<String>::new());
    }

    #[test]
    fn a_contradiction_names_the_variables_and_no_token() {
        type Change = fn(&mut Facts);
        let changes: [(Change, &[&str]); 12] = [
            (
                |facts| facts.entitled_protocols.push("htp".into()),
                &["ENTITLED_PROTOCOLS", "http, socks5", "`htp`"],
            ),
            (|facts| facts.own_addresses.push("198.51.100.300".into()), &["OWN_ADDRESSES", "198.51.100.300"]),
            (|facts| facts.own_addresses.push("198.51.100.3:0".into()), &["OWN_ADDRESSES", "198.51.100.3:0"]),
            (
                |facts| facts.foreign_addresses.push("203.0.113.8:99".into()),
                &["FOREIGN_ADDRESSES", "203.0.113.8"],
            ),
            (|facts| facts.foreign_order = Some("SO-1".into()), &["FOREIGN_ORDER", "SO-1"]),
            (|facts| facts.second_token = secret("token-of-main"), &["SECOND_API_KEY", "second account"]),
            (|facts| facts.revoked_token = secret("token-of-second"), &["REVOKED_API_KEY", "SECOND_API_KEY"]),
            (
                |facts| facts.token_partly_entitled = secret("token-of-fourth"),
                &["PARTLY_ENTITLED", "NOT_ENTITLED"],
            ),
            (|facts| facts.empty_region = Some("USA".into()), &["EMPTY_REGION", "USA"]),
            (
                |facts| (facts.own_groups, facts.foreign_group) = (vec![7], Some(7)),
                &["FOREIGN_GROUP", "OWN_GROUPS", "7"],
            ),
            (
                |facts| {
                    facts.known_instances = vec![KnownInstance {
                        ip: [203, 0, 113, 9].into(),
                        spelling: "203.0.113.9".into(),
                        port: 80,
                        order: Some("SO-2".into()),
                        fields: serde_json::Map::new(),
                    }];
                },
                &["KNOWN_INSTANCES", "FOREIGN_ADDRESSES", "203.0.113.9", "FOREIGN_ORDER", "SO-2"],
            ),
            (
                |facts| {
                    let token = Secret::new("A_TOKEN", "token-of-second");
                    let reason = RejectionReason::Revoked;
                    facts.rejected_tokens.push(RejectedToken { token, reason, note: String::new() });
                },
                &["REJECTED_TOKENS", "SECOND_API_KEY"],
            ),
        ];
        for (change, words) in changes {
            let message = wrong(change).join("\n");
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
            assert!(!message.contains("token-of"), "{message}");
        }
    }
}
