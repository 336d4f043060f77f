//! What a fault needs to know of the service, so that nobody waits for one that cannot act.

use super::Fault;
use crate::target::{Fact, Facts};

/// The variable of the main account's token, which is no fact.
const TOKEN: &str = "SALLYPORT_API_KEY";

/// Ids of faults, or beginnings of ids before `*`, with the facts without which they change nothing. One that several entries
/// match needs the facts of all of them.
const FACTS: &[(&str, &[Fact])] = &[
    ("all.own-account/groups-of-second-added", &[Fact::SecondToken]),
    ("all.own-account/one-foreign-group", &[Fact::SecondToken]),
    ("all.own-account/search-sees-all", &[Fact::SecondToken]),
    ("all.own-account/search-of-shared-address", &[Fact::SecondToken, Fact::SharedAddress]),
    ("all.own-account/empty-account-sees-main", &[Fact::EmptyToken]),
    ("all.own-account/foreign-group-lifts-the-account", &[Fact::SecondToken, Fact::ForeignGroup]),
    ("all.own-account/foreign-order-lifts-the-account", &[Fact::SecondToken, Fact::ForeignOrder]),
    ("all.own-account/last-account-sticks", &[Fact::SecondToken]),
    ("all.token-required/extract-expired", &[Fact::RejectedTokens]),
    ("all.token-required/groups-expired", &[Fact::RejectedTokens]),
    ("all.token-required/search-expired", &[Fact::RejectedTokens]),
    ("all.token-required/extract-revoked", &[Fact::RevokedToken]),
    ("all.token-required/groups-revoked", &[Fact::RevokedToken]),
    ("all.token-required/search-revoked", &[Fact::RevokedToken]),
    ("extract.country-alias/ignored-when-empty", &[Fact::EmptyRegion]),
    ("extract.country-alias/ignored-when-scarce", &[Fact::ScarceRegion]),
    ("extract.endpoint/supplier-when-partial", &[Fact::ScarceRegion]),
    ("extract.entitlement/any-protocol*", &[Fact::TokenPartlyEntitled]),
    ("extract.entitlement/not-*", &[Fact::TokenNotEntitled]),
    ("extract.entitlement/once", &[Fact::TokenNotEntitled]),
    ("extract.entitlement/several", &[Fact::TokenNotEntitled]),
    ("extract.envelope/partial-content", &[Fact::ScarceRegion]),
    ("extract.envelope/when-partial", &[Fact::ScarceRegion]),
    ("extract.error-envelope/shortage-without-message", &[Fact::EmptyRegion]),
    ("extract.idempotent/link-credential", &[Fact::LinkCredential]),
    ("extract.idempotent/shared-by-accounts", &[Fact::SecondToken]),
    ("extract.link-credential/*", &[Fact::LinkCredential]),
    ("extract.num-range/link-credential", &[Fact::LinkCredential]),
    ("extract.num-required/link-credential", &[Fact::LinkCredential]),
    ("extract.partial/flag-*", &[Fact::ScarceRegion]),
    ("extract.partial/no-*", &[Fact::ScarceRegion]),
    ("extract.partial/requested-*", &[Fact::ScarceRegion]),
    ("extract.partial/returned-*", &[Fact::ScarceRegion]),
    ("extract.partial/unsaid*", &[Fact::ScarceRegion]),
    ("extract.protocol/link-credential", &[Fact::LinkCredential]),
    ("extract.real-name/*", &[Fact::TokenNotVerified]),
    ("extract.region/empty-filled*", &[Fact::EmptyRegion]),
    ("extract.region/ignored*", &[Fact::PlentifulRegion]),
    ("extract.region/other", &[Fact::PlentifulRegion, Fact::KnownGateways]),
    ("extract.region/scarce-filled*", &[Fact::ScarceRegion]),
    ("extract.regions-default/empty-region", &[Fact::EmptyRegion]),
    ("extract.regions-default/scarce-*", &[Fact::ScarceRegion]),
    ("extract.request-ip/forwarded-in-partial", &[Fact::ScarceRegion]),
    ("extract.request-ip/own-when-partial", &[Fact::ScarceRegion]),
    ("extract.return-type/text-is-json-when-scarce", &[Fact::ScarceRegion]),
    ("extract.separator-range/link-credential", &[Fact::LinkCredential]),
    ("extract.separator/not-when-scarce", &[Fact::ScarceRegion]),
    ("extract.shortage-retry-after/*", &[Fact::EmptyRegion]),
    ("extract.token-equal/two-accounts-*", &[Fact::SecondToken]),
    ("extract.whitelist/not-*", &[Fact::TokenNotWhitelisted]),
    ("extract.whitelist/once", &[Fact::TokenNotWhitelisted]),
    ("groups.headers/storable-when-empty", &[Fact::EmptyToken]),
    ("groups.headers/untraced-when-empty", &[Fact::EmptyToken]),
    ("groups.token/two-accounts", &[Fact::SecondToken]),
    ("search.group/foreign-shown", &[Fact::SecondToken, Fact::ForeignGroup]),
    ("search.group/foreign-told", &[Fact::ForeignGroup]),
    ("search.match-any-port/lower-half", &[Fact::OwnAddresses]),
    ("search.match-any-port/second-part", &[Fact::OwnAddresses]),
    ("search.no-reveal/code-field", &[Fact::ForeignAddresses]),
    ("search.no-reveal/counted*", &[Fact::ForeignAddresses]),
    ("search.no-reveal/forbidden", &[Fact::ForeignAddresses]),
    ("search.no-reveal/header*", &[Fact::ForeignAddresses]),
    ("search.no-reveal/instances*", &[Fact::ForeignAddresses, Fact::SecondToken]),
    ("search.no-reveal/ipv6-message", &[Fact::ForeignAddresses]),
    ("search.no-reveal/message*", &[Fact::ForeignAddresses]),
    ("search.no-reveal/message-beside-own", &[Fact::OwnAddresses]),
    ("search.no-reveal/of-a-time", &[Fact::ForeignAddresses, Fact::SecondToken]),
    ("search.no-reveal/rejection*", &[Fact::ForeignAddresses]),
    ("search.no-reveal/shared*", &[Fact::SharedAddress]),
    ("search.no-reveal/shared", &[Fact::SecondToken]),
    ("search.order-number/any-case", &[Fact::Orders]),
    ("search.order-number/contained", &[Fact::Orders]),
    ("search.order-number/foreign-*", &[Fact::ForeignOrder]),
    ("search.order-number/foreign-shown", &[Fact::SecondToken]),
    ("search.order-number/longer", &[Fact::Orders]),
    ("search.order-number/pattern", &[Fact::Orders]),
    ("search.order-number/prefix", &[Fact::Orders]),
    ("search.order-number/suffix", &[Fact::Orders]),
];

/// In the same form, the faults that serve requests of others as the main account, or compare tokens with its own.
const AS_MAIN: &[&str] = &[
    "all.own-account/empty-account-sees-main",
    "all.own-account/last-account-sticks",
    "all.token-required/*",
    "extract.entitlement/*",
    "extract.idempotent/shared-by-accounts",
    "extract.real-name/*",
    "extract.whitelist/not-*",
    "extract.whitelist/once",
    "groups.order/every-sixth",
    "groups.order/first-two-swapped",
    "groups.order/ids-as-text",
    "groups.order/of-second-account",
    "groups.token/absent",
    "groups.token/any-of-two",
    "groups.token/empty",
    "search.token/absent",
    "search.token/any-of-two",
    "search.token/empty",
    "search.token/unknown",
];

impl Fault {
    /// The environment variables of what it needs and does not have: without it, the fault changes nothing. `has_token` says
    /// whether the token of the main account is known.
    #[must_use]
    pub fn lacks(&self, has_token: bool, facts: &Facts) -> Vec<&'static str> {
        let token = AS_MAIN.iter().any(|pattern| matches(pattern, self.id)) && !has_token;
        let needed = FACTS.iter().filter(|(pattern, _)| matches(pattern, self.id));
        let missing = needed.flat_map(|(_, needed)| *needed).filter(|fact| !facts.has(**fact));
        token.then_some(TOKEN).into_iter().chain(missing.map(|fact| fact.variable())).collect()
    }
}

fn matches(pattern: &str, id: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => id.starts_with(beginning),
        None => id == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::faults;

    #[test]
    fn every_entry_is_of_a_fault() {
        let faults = faults();
        for pattern in FACTS.iter().map(|(pattern, _)| pattern).chain(AS_MAIN) {
            assert!(faults.iter().any(|fault| matches(pattern, fault.id)), "{pattern}");
        }
    }

    #[test]
    fn a_fault_lacks_what_it_needs_and_nothing_else() {
        let faults = faults();
        let lacks = |id: &str, has_token: bool, facts: &Facts| {
            let fault = faults.iter().find(|fault| fault.id == id).expect("a fault");
            fault.lacks(has_token, facts).join(" ")
        };
        let none = Facts::default();
        let foreign = Facts { foreign_addresses: vec!["203.0.113.9".to_owned()], ..Facts::default() };
        for (id, has_token, facts, missing) in [
            ("search.paging/overlap", false, &none, ""),
            ("search.no-reveal/not-found", true, &none, ""),
            ("groups.token/two-accounts", true, &none, "SALLYPORT_SECOND_API_KEY"),
            (
                "search.no-reveal/instances",
                true,
                &none,
                "SALLYPORT_FOREIGN_ADDRESSES SALLYPORT_SECOND_API_KEY",
            ),
            ("search.no-reveal/instances", true, &foreign, "SALLYPORT_SECOND_API_KEY"),
            (
                "extract.whitelist/not-asked",
                false,
                &none,
                "SALLYPORT_API_KEY SALLYPORT_NOT_WHITELISTED_API_KEY",
            ),
        ] {
            assert_eq!(lacks(id, has_token, facts), missing, "{id}");
        }
    }

    /// Each place of a fault that reads a fact has its entry, or this number is another one.
    #[test]
    fn a_further_use_of_a_fact_is_looked_at() {
        const USES: usize = 45;
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lab/faults");
        let mut uses = 0;
        for entry in std::fs::read_dir(folder).expect("the faults") {
            let text = std::fs::read_to_string(entry.expect("a file").path()).expect("text");
            uses += text.matches("facts.").count();
        }
        assert_eq!(uses, USES, "a fault uses a further fact: add it to FACTS, then change USES");
    }
}
