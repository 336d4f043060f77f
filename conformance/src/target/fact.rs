use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::net::Ipv4Addr;

use super::fact_form::{Form, Source};
use super::{KnownInstance, RejectedToken, Secret};

/// The table of facts: everything that the suite does with a fact follows from its one entry. The type of the field says
/// in which form it is supplied ([`Form`]).
macro_rules! facts {
    ($($(#[$doc:meta])+ $fact:ident, $field:ident: $form:ty, $variable:literal, $description:literal, $example:expr;)+) => {
        /// What a tester knows about the environment. Everything is optional: a check that needs more is skipped.
        #[derive(Debug, Clone, Default)]
        pub struct Facts {
            $($(#[$doc])+ pub $field: $form,)+
        }

        /// The name of a fact, for checks to ask for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fact {
            $(#[doc = concat!("[`Facts::", stringify!($field), "`].")] $fact,)+
        }

        impl Fact {
            /// All of them.
            pub const ALL: [Self; [$(Self::$fact),+].len()] = [$(Self::$fact),+];

            /// The environment variable that supplies it.
            #[must_use]
            pub const fn variable(self) -> &'static str {
                match self { $(Self::$fact => $variable,)+ }
            }

            /// What it is, for "supply … to run this".
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$fact => $description,)+ }
            }

            /// A value as the configuration writes it.
            pub(crate) const fn example(self) -> &'static str {
                match self { $(Self::$fact => $example,)+ }
            }
        }

        impl Facts {
            /// Whether a fact was supplied.
            #[must_use]
            pub fn has(&self, fact: Fact) -> bool {
                match fact { $(Fact::$fact => self.$field.is_supplied(),)+ }
            }

            /// Every secret among the facts.
            pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
                [$(self.$field.secrets()),+].into_iter().flatten()
            }

            /// These facts, and from `under` those that are missing here.
            #[must_use]
            pub fn over(self, under: Self) -> Self {
                Self { $($field: if self.$field.is_supplied() { self.$field } else { under.$field },)+ }
            }

            /// A fact as the configuration writes it; none for one that was not supplied, is secret or stands in a file.
            #[must_use]
            pub fn toml(&self, fact: Fact) -> Option<String> {
                match fact { $(Fact::$fact => Form::toml(&self.$field),)+ }
            }

            /// Reads a fact.
            pub(crate) fn supply<S: Source>(&mut self, fact: Fact, source: &S) -> Result<(), S::Error> {
                match fact { $(Fact::$fact => self.$field = Form::read(source, fact.variable())?,)+ }
                Ok(())
            }
        }
    };
}

impl Facts {
    /// With the addresses and orders of known instances, where none were supplied.
    #[must_use]
    pub(super) fn with_derived(mut self) -> Self {
        if self.own_addresses.is_empty() {
            self.own_addresses = distinct(self.known_instances.iter());
        }
        if self.orders.is_empty() {
            let mut orders: BTreeMap<&str, Vec<&KnownInstance>> = BTreeMap::new();
            for instance in &self.known_instances {
                if let Some(order) = &instance.order {
                    orders.entry(order).or_default().push(instance);
                }
            }
            let held = |(number, instances): (&str, Vec<&KnownInstance>)| KnownOrder {
                number: number.to_owned(),
                addresses: distinct(instances.into_iter()),
            };
            self.orders = orders.into_iter().map(held).collect();
        }
        self
    }
}

/// Each address once, without its port.
fn distinct<'a>(instances: impl Iterator<Item = &'a KnownInstance>) -> Vec<String> {
    let mut seen = HashSet::new();
    let fresh = instances.filter(|instance| seen.insert(instance.ip));
    fresh.map(|instance| instance.spelling.clone()).collect()
}

/// How the configuration says where a token is.
const TOKEN: &str = r#"{ env = "NAME" }  # or { file = "PATH" }"#;

facts! {
    /// Addresses of instances that the account holds, in the form of `ips`.
    OwnAddresses, own_addresses: Vec<String>, "SALLYPORT_OWN_ADDRESSES",
        "addresses of the account's instances",
        r#"["203.0.113.7", "[2001:db8::1]:1080"]  # or { file = "addresses.txt" }"#;
    /// Order numbers of the account, with addresses of instances that they hold.
    Orders, orders: Vec<KnownOrder>, "SALLYPORT_ORDERS",
        "order numbers of the account with the addresses they hold",
        r#"[{ number = "SO-1", addresses = ["203.0.113.7"] }]"#;
    /// Addresses that only other accounts hold.
    ForeignAddresses, foreign_addresses: Vec<String>, "SALLYPORT_FOREIGN_ADDRESSES",
        "addresses that only other accounts hold",
        r#"["203.0.113.9"]"#;
    /// An order number of another account.
    ForeignOrder, foreign_order: Option<String>, "SALLYPORT_FOREIGN_ORDER",
        "an order number of another account",
        r#""SO-2""#;
    /// A group of another account.
    ForeignGroup, foreign_group: Option<i64>, "SALLYPORT_FOREIGN_GROUP",
        "a group id of another account",
        "7";
    /// An address that the account and the second account both hold.
    SharedAddress, shared_address: Option<String>, "SALLYPORT_SHARED_ADDRESS",
        "an address that this account and a second one both hold",
        r#""203.0.113.8""#;
    /// Token of a second account.
    SecondToken, second_token: Option<Secret>, "SALLYPORT_SECOND_API_KEY",
        "the token of a second account",
        TOKEN;
    /// Token of an account with no groups and no instances.
    EmptyToken, empty_token: Option<Secret>, "SALLYPORT_EMPTY_API_KEY",
        "the token of an account with no groups and no instances",
        TOKEN;
    /// A legacy API Link credential.
    LinkCredential, link_credential: Option<Secret>, "SALLYPORT_LINK_CREDENTIAL",
        "a legacy API Link credential",
        TOKEN;
    /// A token that was revoked.
    RevokedToken, revoked_token: Option<Secret>, "SALLYPORT_REVOKED_API_KEY",
        "a revoked token",
        TOKEN;
    /// Token of an account whose whitelist lacks this machine.
    TokenNotWhitelisted, token_not_whitelisted: Option<Secret>, "SALLYPORT_NOT_WHITELISTED_API_KEY",
        "the token of an account whose whitelist lacks this machine",
        TOKEN;
    /// Token of an account that was not real-name verified.
    TokenNotVerified, token_not_verified: Option<Secret>, "SALLYPORT_NOT_VERIFIED_API_KEY",
        "the token of an account that is not real-name verified",
        TOKEN;
    /// Token of an account that is entitled to no protocol.
    TokenNotEntitled, token_not_entitled: Option<Secret>, "SALLYPORT_NOT_ENTITLED_API_KEY",
        "the token of an account without an entitlement",
        TOKEN;
    /// Token of an account that may extract with some protocols and not with all: only an entitlement is missing.
    TokenPartlyEntitled, token_partly_entitled: Option<Secret>, "SALLYPORT_PARTLY_ENTITLED_API_KEY",
        "the token of an account that may extract with some protocols, not with all",
        TOKEN;
    /// A region with many gateways.
    PlentifulRegion, plentiful_region: Option<String>, "SALLYPORT_PLENTIFUL_REGION",
        "a region with many gateways",
        r#""USA""#;
    /// A region with fewer gateways than one call may ask for, and at least one.
    ScarceRegion, scarce_region: Option<String>, "SALLYPORT_SCARCE_REGION",
        "a region with a few gateways only",
        r#""USA""#;
    /// A region without gateways.
    EmptyRegion, empty_region: Option<String>, "SALLYPORT_EMPTY_REGION",
        "a region without gateways",
        r#""USA""#;
    /// Gateways with the region and the protocol that they belong to; a gateway of several is listed under each.
    KnownGateways, known_gateways: Vec<GatewayPool>, "SALLYPORT_KNOWN_GATEWAYS",
        "known gateways, grouped by region and protocol; a gateway is listed under each of its regions and protocols",
        r#"[{ region = "USA", protocol = "http", gateways = ["gw1.example.com:8000"] }]"#;
    /// Protocols that the account is entitled to.
    EntitledProtocols, entitled_protocols: Vec<String>, "SALLYPORT_ENTITLED_PROTOCOLS",
        "the protocols that the account is entitled to",
        r#"["http", "socks5"]"#;
    /// Every group of the account, by id: a listing must hold these and no others.
    OwnGroups, own_groups: Vec<i64>, "SALLYPORT_OWN_GROUPS",
        "the ids of all groups of the account",
        "[1, 2, 3]";
    /// Instances of the account with the values that its console shows.
    KnownInstances, known_instances: Vec<KnownInstance>, "SALLYPORT_KNOWN_INSTANCES",
        "a CSV or JSON file with instances of the account and their fields, as its console exports them",
        r#"{ file = "instances.csv" }  # a header line with ip, port, orderNo, countryCode, …"#;
    /// Other credentials that extraction must reject, such as other ways to be outside the whitelist.
    RejectedTokens, rejected_tokens: Vec<RejectedToken>, "SALLYPORT_REJECTED_TOKENS",
        "other credentials that extraction must reject, each with the reason",
        r#"[{ reason = "not-whitelisted", token = { env = "NAME" }, note = "its entry is disabled" }]"#;
    /// The IPv4 address that calls from this machine come from.
    EgressIp, egress_ip: Option<Ipv4Addr>, "SALLYPORT_EGRESS_IP",
        "the IPv4 address that calls from this machine come from",
        r#""198.51.100.4""#;
    /// Texts that must never appear in a response, for instance proxy passwords.
    Canaries, canaries: Vec<Secret>, "SALLYPORT_CANARIES",
        "texts that must never appear in a response, such as proxy passwords",
        r#"{ file = "never-in-a-response.txt" }  # one on each line"#;
}

/// An order of the account and addresses of its instances; a response does not show the order of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownOrder {
    /// The order number.
    pub number: String,
    /// Addresses of instances that it holds, in the form of `ips`.
    pub addresses: Vec<String>,
}

/// Some gateways of one region and protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPool {
    /// The region, as `regions` names it.
    pub region: String,
    /// The protocol, as `protocol` names it.
    pub protocol: String,
    /// Its gateways.
    pub gateways: Vec<KnownGateway>,
}

/// A gateway: IP address or host name, and port.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownGateway {
    /// IP address or host name.
    pub host: String,
    /// Port.
    pub port: u16,
}

impl KnownGateway {
    /// Reads `HOST:PORT`; an IPv6 address stands in brackets.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_host = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c == '/' || c == '@');
        let port = port.parse().ok().filter(|port| *port > 0)?;
        is_host.then(|| Self { host: host.to_owned(), port })
    }
}

impl fmt::Display for KnownGateway {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.description(), self.variable())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_unique_and_nothing_is_known_at_first() {
        let mut variables: Vec<_> = Fact::ALL.iter().map(|fact| fact.variable()).collect();
        variables.sort_unstable();
        variables.dedup();
        assert_eq!(variables.len(), Fact::ALL.len());
        assert!(Fact::ALL.iter().all(|fact| !Facts::default().has(*fact)));
    }
}
