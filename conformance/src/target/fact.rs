use std::fmt;
use std::net::Ipv4Addr;

use super::Secret;

/// What a tester knows about the environment. Everything is optional: a check that needs more is skipped.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Addresses of instances that the account holds, in the form of `ips`.
    pub own_addresses: Vec<String>,
    /// Order numbers of the account, with addresses of instances that they hold.
    pub orders: Vec<HeldOrder>,
    /// Addresses that only other accounts hold.
    pub foreign_addresses: Vec<String>,
    /// An order number of another account.
    pub foreign_order: Option<String>,
    /// A group of another account.
    pub foreign_group: Option<i64>,
    /// An address that the account and the second account both hold.
    pub shared_address: Option<String>,
    /// Token of a second account.
    pub second_token: Option<Secret>,
    /// Token of an account with no groups and no instances.
    pub empty_token: Option<Secret>,
    /// A legacy API Link credential.
    pub link_credential: Option<Secret>,
    /// A token that was revoked.
    pub revoked_token: Option<Secret>,
    /// Token of an account whose whitelist lacks this machine.
    pub token_not_whitelisted: Option<Secret>,
    /// Token of an account that was not real-name verified.
    pub token_not_verified: Option<Secret>,
    /// Token of an account that is entitled to no protocol.
    pub token_not_entitled: Option<Secret>,
    /// Token of an account that is entitled to some protocols and not to all.
    pub token_partly_entitled: Option<Secret>,
    /// A region with many gateways.
    pub plentiful_region: Option<String>,
    /// A region with fewer gateways than one call may ask for, and at least one.
    pub scarce_region: Option<String>,
    /// A region without gateways.
    pub empty_region: Option<String>,
    /// The IPv4 address that calls from this machine come from.
    pub egress_ip: Option<Ipv4Addr>,
    /// Texts that must never appear in an answer, for instance proxy passwords.
    pub canaries: Vec<Secret>,
}

/// An order of the account and addresses of its instances; an answer does not show the order of an instance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldOrder {
    /// The order number.
    pub number: String,
    /// Addresses of instances that it holds, in the form of `ips`.
    pub addresses: Vec<String>,
}

/// The name of a fact, for checks to ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact {
    /// [`Facts::own_addresses`].
    OwnAddresses,
    /// [`Facts::orders`].
    Orders,
    /// [`Facts::foreign_addresses`].
    ForeignAddresses,
    /// [`Facts::foreign_order`].
    ForeignOrder,
    /// [`Facts::foreign_group`].
    ForeignGroup,
    /// [`Facts::shared_address`].
    SharedAddress,
    /// [`Facts::second_token`].
    SecondToken,
    /// [`Facts::empty_token`].
    EmptyToken,
    /// [`Facts::link_credential`].
    LinkCredential,
    /// [`Facts::revoked_token`].
    RevokedToken,
    /// [`Facts::token_not_whitelisted`].
    TokenNotWhitelisted,
    /// [`Facts::token_not_verified`].
    TokenNotVerified,
    /// [`Facts::token_not_entitled`].
    TokenNotEntitled,
    /// [`Facts::token_partly_entitled`].
    TokenPartlyEntitled,
    /// [`Facts::plentiful_region`].
    PlentifulRegion,
    /// [`Facts::scarce_region`].
    ScarceRegion,
    /// [`Facts::empty_region`].
    EmptyRegion,
    /// [`Facts::egress_ip`].
    EgressIp,
    /// [`Facts::canaries`].
    Canaries,
}

impl Fact {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::OwnAddresses,
        Self::Orders,
        Self::ForeignAddresses,
        Self::ForeignOrder,
        Self::ForeignGroup,
        Self::SharedAddress,
        Self::SecondToken,
        Self::EmptyToken,
        Self::LinkCredential,
        Self::RevokedToken,
        Self::TokenNotWhitelisted,
        Self::TokenNotVerified,
        Self::TokenNotEntitled,
        Self::TokenPartlyEntitled,
        Self::PlentifulRegion,
        Self::ScarceRegion,
        Self::EmptyRegion,
        Self::EgressIp,
        Self::Canaries,
    ];

    /// The environment variable that supplies it.
    #[must_use]
    pub fn variable(self) -> &'static str {
        match self {
            Self::OwnAddresses => "SALLYPORT_OWN_ADDRESSES",
            Self::Orders => "SALLYPORT_ORDERS",
            Self::ForeignAddresses => "SALLYPORT_FOREIGN_ADDRESSES",
            Self::ForeignOrder => "SALLYPORT_FOREIGN_ORDER",
            Self::ForeignGroup => "SALLYPORT_FOREIGN_GROUP",
            Self::SharedAddress => "SALLYPORT_SHARED_ADDRESS",
            Self::SecondToken => "SALLYPORT_SECOND_API_KEY",
            Self::EmptyToken => "SALLYPORT_EMPTY_API_KEY",
            Self::LinkCredential => "SALLYPORT_LINK_CREDENTIAL",
            Self::RevokedToken => "SALLYPORT_REVOKED_API_KEY",
            Self::TokenNotWhitelisted => "SALLYPORT_NOT_WHITELISTED_API_KEY",
            Self::TokenNotVerified => "SALLYPORT_NOT_VERIFIED_API_KEY",
            Self::TokenNotEntitled => "SALLYPORT_NOT_ENTITLED_API_KEY",
            Self::TokenPartlyEntitled => "SALLYPORT_PARTLY_ENTITLED_API_KEY",
            Self::PlentifulRegion => "SALLYPORT_PLENTIFUL_REGION",
            Self::ScarceRegion => "SALLYPORT_SCARCE_REGION",
            Self::EmptyRegion => "SALLYPORT_EMPTY_REGION",
            Self::EgressIp => "SALLYPORT_EGRESS_IP",
            Self::Canaries => "SALLYPORT_CANARIES",
        }
    }

    /// What it is, for "supply … to run this".
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::OwnAddresses => "addresses of the account's instances",
            Self::Orders => "order numbers of the account with the addresses they hold",
            Self::ForeignAddresses => "addresses that only other accounts hold",
            Self::ForeignOrder => "an order number of another account",
            Self::ForeignGroup => "a group id of another account",
            Self::SharedAddress => "an address that this account and a second one both hold",
            Self::SecondToken => "the token of a second account",
            Self::EmptyToken => "the token of an account with no groups and no instances",
            Self::LinkCredential => "a legacy API Link credential",
            Self::RevokedToken => "a revoked token",
            Self::TokenNotWhitelisted => "the token of an account whose whitelist lacks this machine",
            Self::TokenNotVerified => "the token of an account that is not real-name verified",
            Self::TokenNotEntitled => "the token of an account without an entitlement",
            Self::TokenPartlyEntitled => {
                "the token of an account that is entitled to some protocols, not to all"
            }
            Self::PlentifulRegion => "a region with many gateways",
            Self::ScarceRegion => "a region with a few gateways only",
            Self::EmptyRegion => "a region without gateways",
            Self::EgressIp => "the IPv4 address that calls from this machine come from",
            Self::Canaries => "texts that must never appear in an answer, such as proxy passwords",
        }
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.description(), self.variable())
    }
}

impl Facts {
    /// Whether a fact was supplied.
    #[must_use]
    pub fn has(&self, fact: Fact) -> bool {
        match fact {
            Fact::OwnAddresses => !self.own_addresses.is_empty(),
            Fact::Orders => !self.orders.is_empty(),
            Fact::ForeignAddresses => !self.foreign_addresses.is_empty(),
            Fact::ForeignOrder => self.foreign_order.is_some(),
            Fact::ForeignGroup => self.foreign_group.is_some(),
            Fact::SharedAddress => self.shared_address.is_some(),
            Fact::SecondToken => self.second_token.is_some(),
            Fact::EmptyToken => self.empty_token.is_some(),
            Fact::LinkCredential => self.link_credential.is_some(),
            Fact::RevokedToken => self.revoked_token.is_some(),
            Fact::TokenNotWhitelisted => self.token_not_whitelisted.is_some(),
            Fact::TokenNotVerified => self.token_not_verified.is_some(),
            Fact::TokenNotEntitled => self.token_not_entitled.is_some(),
            Fact::TokenPartlyEntitled => self.token_partly_entitled.is_some(),
            Fact::PlentifulRegion => self.plentiful_region.is_some(),
            Fact::ScarceRegion => self.scarce_region.is_some(),
            Fact::EmptyRegion => self.empty_region.is_some(),
            Fact::EgressIp => self.egress_ip.is_some(),
            Fact::Canaries => !self.canaries.is_empty(),
        }
    }

    /// Every secret among the facts.
    pub fn secrets(&self) -> impl Iterator<Item = &Secret> {
        let Self {
            second_token,
            empty_token,
            link_credential,
            revoked_token,
            token_not_whitelisted,
            token_not_verified,
            token_not_entitled,
            token_partly_entitled,
            canaries,
            // Not secret.
            own_addresses: _,
            orders: _,
            foreign_addresses: _,
            foreign_order: _,
            foreign_group: _,
            shared_address: _,
            plentiful_region: _,
            scarce_region: _,
            empty_region: _,
            egress_ip: _,
        } = self;
        let tokens = [
            second_token,
            empty_token,
            link_credential,
            revoked_token,
            token_not_whitelisted,
            token_not_verified,
            token_not_entitled,
            token_partly_entitled,
        ];
        tokens.into_iter().flatten().chain(canaries)
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
