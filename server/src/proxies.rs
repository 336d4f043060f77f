//! The declared proxies, and which addresses count as one caller.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use ipnet::IpNet;

/// The proxies whose forwarding headers are trusted. The headers of all others are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustedProxies(Vec<ProxyNet>);

/// A network of declared proxies, or one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProxyNet(IpNet);

const EXPECTED: &str =
    "expected an address or a network such as 10.0.0.0/8 or 2001:db8::/32; write IPv4 networks in IPv4 form";

impl FromStr for ProxyNet {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let net = text.parse().or_else(|_| text.parse().map(|ip: IpAddr| IpNet::from(ip.to_canonical())));
        match net {
            // Callers are compared in their canonical form, so a network of mapped addresses would never match.
            Ok(IpNet::V6(net)) if net.addr().to_ipv4_mapped().is_some() => Err(EXPECTED),
            Ok(net) => Ok(Self(net)),
            Err(_) => Err(EXPECTED),
        }
    }
}

impl FromIterator<ProxyNet> for TrustedProxies {
    fn from_iter<I: IntoIterator<Item = ProxyNet>>(nets: I) -> Self {
        Self(nets.into_iter().collect())
    }
}

impl TrustedProxies {
    /// Whether `ip` is one of them.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        self.0.iter().any(|ProxyNet(net)| net.contains(&ip))
    }
}

/// The address, or for IPv6 the /64 network, that counts as one caller: who has one IPv6 address has all of its network.
pub(crate) fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64)).into(),
    }
}

/// The IPv4 address, mapped or not, for a comparison with whitelists; `None` for IPv6.
pub fn ipv4(ip: IpAddr) -> Option<Ipv4Addr> {
    match ip.to_canonical() {
        IpAddr::V4(ip) => Some(ip),
        IpAddr::V6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_that_never_match_are_rejected() {
        for text in ["", "10.0.0.0/33", "10.0.0.256", "::ffff:10.0.0.0/104", "a.example"] {
            assert_eq!(text.parse::<ProxyNet>(), Err(EXPECTED), "{text}");
        }
    }

    #[test]
    fn a_mapped_proxy_is_its_ipv4_address() {
        assert_eq!("::ffff:10.0.0.1".parse::<ProxyNet>(), "10.0.0.1".parse());
    }

    #[test]
    fn only_ipv4_can_be_whitelisted() {
        assert_eq!(ipv4("::ffff:198.51.100.4".parse().unwrap()), Some(Ipv4Addr::new(198, 51, 100, 4)));
        assert_eq!(ipv4("::1".parse().unwrap()), None);
    }
}
