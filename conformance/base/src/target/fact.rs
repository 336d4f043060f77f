use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::Serialize;

use super::fact_form::{Entry, FactItem};
use super::{KnownInstance, Secret, quoted};
use crate::contract::Clause;
use crate::document::{ConfigError, Section};
use crate::names;

/// The type of a fact.
trait Field {
    const IS_LIST: bool;
}

impl<T> Field for Option<T> {
    const IS_LIST: bool = false;
}

impl<T> Field for Vec<T> {
    const IS_LIST: bool = true;
}

/// The table of facts. Each entry has the name, the field with its type and the method of [`Entry`] that reads it, the
/// environment variable, a description and an example in TOML. Everything that the suite does with a fact follows from it.
macro_rules! facts {
    ($($(#[$doc:meta])* $fact:ident, $field:ident: $type:ty = $read:ident, $variable:literal, $description:literal, $example:expr;)+) => {
        /// What a tester knows about the environment. Everything is optional: a check that needs more is skipped.
        #[derive(Debug, Clone, Default)]
        pub struct Facts {
            $(
                #[doc = concat!("`", $variable, "`: ", $description, ".")]
                $(#[$doc])*
                pub $field: $type,
            )+
        }

        /// The name of a fact.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fact {
            $(#[doc = concat!("[`Facts::", stringify!($field), "`].")] $fact,)+
        }

        impl Fact {
            /// All of them.
            pub const ALL: [Self; [$(Self::$fact),+].len()] = [$(Self::$fact),+];

            /// The environment variable that supplies it.
            pub const fn variable(self) -> &'static str {
                match self { $(Self::$fact => $variable,)+ }
            }

            /// The noun phrase for "supply … to run this".
            pub const fn description(self) -> &'static str {
                match self { $(Self::$fact => $description,)+ }
            }

            /// The name of its field in [`Facts`].
            pub const fn field(self) -> &'static str {
                match self { $(Self::$fact => stringify!($field),)+ }
            }

            /// Whether it may have several values.
            pub fn is_list(self) -> bool {
                match self { $(Self::$fact => <$type as Field>::IS_LIST,)+ }
            }

            /// A value in the configuration.
            pub const fn example(self) -> &'static str {
                match self { $(Self::$fact => $example,)+ }
            }
        }

        impl Facts {
            /// Whether a fact was supplied.
            pub fn has(&self, fact: Fact) -> bool {
                match fact { $(Fact::$fact => self.$field.iter().any(|_| true),)+ }
            }

            /// Every secret among the facts.
            pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
                Fact::ALL.into_iter().flat_map(move |fact| self.secrets_of(fact))
            }

            /// The secrets of a fact.
            pub fn secrets_of(&self, fact: Fact) -> impl Iterator<Item = &Secret> {
                let secrets: Vec<&Secret> = match fact {
                    $(Fact::$fact => self.$field.iter().filter_map(FactItem::secret).collect(),)+
                };
                secrets.into_iter()
            }

            /// These facts, and those of `under` that are missing here.
            pub fn over(self, under: Self) -> Self {
                let has = Fact::ALL.map(|fact| self.has(fact));
                Self { $($field: if has[Fact::$fact as usize] { self.$field } else { under.$field },)+ }
            }

            fn supply(&mut self, fact: Fact, entry: &Entry<'_>) -> Result<(), ConfigError> {
                match fact { $(Fact::$fact => self.$field = entry.$read()?.into(),)+ }
                Ok(())
            }
        }
    };
}

impl Fact {
    /// Its key in `[facts]`: its variable in kebab case, without the prefix.
    pub fn key(self) -> String {
        self.variable().trim_start_matches("SALLYPORT_").to_ascii_lowercase().replace('_', "-")
    }
}

impl Facts {
    /// Reads `[facts]`.
    ///
    /// # Errors
    /// Names the value that is not as expected, with file and line.
    pub fn read(section: &Section<'_>) -> Result<Self, ConfigError> {
        let mut facts = Self::default();
        for fact in Fact::ALL {
            if let Some(item) = section.get(&fact.key()) {
                facts.supply(fact, &Entry { item: &item, name: fact.variable() })?;
            }
        }
        Ok(facts)
    }

    /// Takes addresses and orders from the known instances if none were supplied.
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
            let order = |(number, instances): (&str, Vec<&KnownInstance>)| KnownOrder {
                number: number.to_owned(),
                addresses: distinct(instances.into_iter()),
            };
            self.orders = orders.into_iter().map(order).collect();
        }
        self
    }
}

/// The distinct addresses, without ports.
fn distinct<'a>(instances: impl Iterator<Item = &'a KnownInstance>) -> Vec<String> {
    let mut seen = HashSet::new();
    let fresh = instances.filter(|instance| seen.insert(instance.ip));
    fresh.map(|instance| instance.spelling.clone()).collect()
}

/// A token in the configuration.
pub(super) const TOKEN: &str = r#"{ env = "NAME" }  # or { file = "PATH" }"#;

facts! {
    /// Each is an item of `ips`.
    OwnAddresses, own_addresses: Vec<String> = texts, "SALLYPORT_OWN_ADDRESSES",
        "addresses of the account's instances",
        r#"["203.0.113.7", "[2001:db8::1]:1080"]  # or { file = "addresses.txt" }"#;
    Orders, orders: Vec<KnownOrder> = orders, "SALLYPORT_ORDERS",
        "order numbers of the account with the addresses they hold",
        r#"[{ number = "SO-1", addresses = ["203.0.113.7"] }]"#;
    ForeignAddresses, foreign_addresses: Vec<String> = texts, "SALLYPORT_FOREIGN_ADDRESSES",
        "addresses that only other accounts hold", r#"["203.0.113.9"]"#;
    ForeignOrder, foreign_order: Option<String> = text, "SALLYPORT_FOREIGN_ORDER",
        "an order number of another account", r#""SO-2""#;
    ForeignGroup, foreign_group: Option<i64> = integer, "SALLYPORT_FOREIGN_GROUP",
        "a group id of another account", "7";
    SharedAddress, shared_address: Option<String> = text, "SALLYPORT_SHARED_ADDRESS",
        "an address that this account and a second one both hold", r#""203.0.113.8""#;
    SecondToken, second_token: Option<Secret> = secret, "SALLYPORT_SECOND_API_KEY",
        "the token of a second account", TOKEN;
    EmptyToken, empty_token: Option<Secret> = secret, "SALLYPORT_EMPTY_API_KEY",
        "the token of an account with no groups and no instances", TOKEN;
    LinkCredential, link_credential: Option<Secret> = secret, "SALLYPORT_LINK_CREDENTIAL",
        "a legacy API Link credential", TOKEN;
    RevokedToken, revoked_token: Option<Secret> = secret, "SALLYPORT_REVOKED_API_KEY",
        "a revoked token", TOKEN;
    TokenNotWhitelisted, token_not_whitelisted: Option<Secret> = secret, "SALLYPORT_NOT_WHITELISTED_API_KEY",
        "the token of an account whose whitelist lacks this machine", TOKEN;
    TokenNotVerified, token_not_verified: Option<Secret> = secret, "SALLYPORT_NOT_VERIFIED_API_KEY",
        "the token of an account that is not real-name verified", TOKEN;
    TokenNotEntitled, token_not_entitled: Option<Secret> = secret, "SALLYPORT_NOT_ENTITLED_API_KEY",
        "the token of an account without an entitlement", TOKEN;
    TokenPartlyEntitled, token_partly_entitled: Option<Secret> = secret, "SALLYPORT_PARTLY_ENTITLED_API_KEY",
        "the token of an account that may extract with some protocols, not with all", TOKEN;
    PlentifulRegion, plentiful_region: Option<String> = text, "SALLYPORT_PLENTIFUL_REGION",
        "a region with many gateways", r#""USA""#;
    /// Fewer than one call may request, and at least one.
    ScarceRegion, scarce_region: Option<String> = text, "SALLYPORT_SCARCE_REGION",
        "a region with a few gateways only", r#""USA""#;
    EmptyRegion, empty_region: Option<String> = text, "SALLYPORT_EMPTY_REGION",
        "a region without gateways", r#""USA""#;
    KnownGateways, known_gateways: Vec<GatewayPool> = gateway_pools, "SALLYPORT_KNOWN_GATEWAYS",
        "known gateways, grouped by region and protocol; a gateway is listed under each of its regions and protocols",
        r#"[{ region = "USA", protocol = "http", gateways = ["gw1.example.com:8000"] }]"#;
    EntitledProtocols, entitled_protocols: Vec<String> = texts, "SALLYPORT_ENTITLED_PROTOCOLS",
        "the protocols that the account is entitled to", r#"["http", "socks5"]"#;
    /// A listing must contain these and no others.
    OwnGroups, own_groups: Vec<i64> = integers, "SALLYPORT_OWN_GROUPS",
        "the ids of all groups of the account", "[1, 2, 3]";
    KnownInstances, known_instances: Vec<KnownInstance> = instances, "SALLYPORT_KNOWN_INSTANCES",
        "a CSV or JSON file with instances of the account and their fields, as its console exports them",
        r#"{ file = "instances.csv" }  # a header line with ip, port, orderNo, countryCode, …"#;
    RejectedTokens, rejected_tokens: Vec<RejectedToken> = rejected_tokens, "SALLYPORT_REJECTED_TOKENS",
        "other credentials that extraction must reject, each with the reason",
        r#"[{ reason = "not-whitelisted", token = { env = "NAME" }, note = "its entry is disabled" }]"#;
    EgressIp, egress_ip: Option<Ipv4Addr> = ip, "SALLYPORT_EGRESS_IP",
        "the IPv4 address that calls from this machine come from", r#""198.51.100.4""#;
    Canaries, canaries: Vec<Secret> = secrets, "SALLYPORT_CANARIES",
        "texts that must never appear in a response, such as proxy passwords",
        r#"{ file = "never-in-a-response.txt" }  # one on each line"#;
}

/// An order of the account and addresses of its instances. A response does not show the order of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownOrder {
    /// The order number.
    pub number: String,
    /// Addresses of its instances, as items of `ips`.
    pub addresses: Vec<String>,
}

/// Some gateways of one region and protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayPool {
    /// A value of `regions`.
    pub region: String,
    /// A value of `protocol`.
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

/// A credential that extraction must reject.
#[derive(Debug, Clone)]
pub struct RejectedToken {
    /// The token, or the API Link credential.
    pub token: Secret,
    /// Why it is rejected.
    pub reason: RejectionReason,
    /// For reports; may be empty.
    pub note: String,
}

names! {
    /// Why extraction rejects a credential.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RejectionReason {
        /// It was revoked or has expired.
        Revoked => "revoked",
        /// No enabled whitelist entry of its account covers this machine.
        NotWhitelisted => "not-whitelisted",
        /// Its account is not real-name verified.
        NotVerified => "not-verified",
        /// Its account has no entitlement.
        NotEntitled => "not-entitled",
    }
}

impl RejectionReason {
    /// The clause that is violated if such a credential is accepted.
    pub const fn clause(self) -> Clause {
        match self {
            Self::Revoked => Clause::AllTokenRequired,
            Self::NotWhitelisted => Clause::ExtractWhitelist,
            Self::NotVerified => Clause::ExtractRealName,
            Self::NotEntitled => Clause::ExtractEntitlement,
        }
    }
}

/// A fact that the tester did not supply and a run found out by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiscoveredFact {
    /// The environment variable that supplies it.
    pub variable: &'static str,
    /// What it is, in words.
    pub description: &'static str,
    /// Its value, as the configuration writes it.
    pub value: String,
}

impl DiscoveredFact {
    /// Every fact among these that a run can discover.
    pub fn all(facts: &Facts) -> Vec<Self> {
        let discovered = |fact: Fact| {
            let values = facts.values(fact).iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ");
            facts.has(fact).then(|| Self {
                variable: fact.variable(),
                description: fact.description(),
                value: if fact.is_list() { format!("[{values}]") } else { values },
            })
        };
        let facts = [Fact::OwnAddresses, Fact::ScarceRegion, Fact::EmptyRegion, Fact::EntitledProtocols];
        facts.into_iter().filter_map(discovered).collect()
    }
}

impl KnownGateway {
    /// Parses `HOST:PORT`, with an IPv6 address in brackets.
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
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.description(), self.variable())
    }
}
